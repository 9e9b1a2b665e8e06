#include "args.h"

#include "tandem.h"

#include "base/alloc.h"
#include "base/machine.h"
#include "base/size.h"

#include <stdio.h>
#include <string.h>

enum { TABLES = 3, MAX_OPTIONS = 64 };

/* The state of one parse. */
typedef struct parser {
    const td_arg_spec *spec;
    int argc, next;
    char **argv;
    char *settings;
    td_args *args;
    uint64_t seen;               /* bit i: option_at(spec, i) */
    const td_arg_option *target; /* a TD_ARG_TARGET that took the word after it as its value */
    int target_place;            /* positional arguments before that word */
    bool help;
} parser;

/* Option number `index` of all tables; NULL after the last. */
static const td_arg_option *option_at(const td_arg_spec *spec, int index)
{
    for (int t = 0; t < TABLES; t++)
        for (const td_arg_option *o = spec->tables[t]; o != NULL && o->name != NULL; o++)
            if (index-- == 0) return o;
    return NULL;
}

/* The number of an option, or -1. */
static int find(const td_arg_spec *spec, const char *name, size_t length)
{
    const td_arg_option *option;
    for (int i = 0; (option = option_at(spec, i)) != NULL; i++)
        if (strncmp(option->name, name, length) == 0 && option->name[length] == '\0') return i;
    return -1;
}

static int find_letter(const td_arg_spec *spec, char letter)
{
    const td_arg_option *option;
    for (int i = 0; (option = option_at(spec, i)) != NULL; i++)
        if (option->letter == letter) return i;
    return -1;
}

static const char *option_name(const void *context, int index)
{
    const td_arg_option *option = option_at(context, index);
    return option != NULL ? option->name : NULL;
}

/* What other tools call the same. */
static const char *other_word(const char *what, const char *word)
{
    static const struct {
        const char *what, *word, *meant;
    } words[] = {
        {"program", "pr", "pagerank"},      {"program", "page-rank", "pagerank"}, {"program", "cc", "wcc"},
        {"program", "components", "wcc"},   {"program", "connected", "wcc"},      {"program", "sp", "sssp"},
        {"program", "dijkstra", "sssp"},    {"program", "k-core", "kcore"},       {"program", "lp", "labels"},
        {"program", "lpa", "labels"},       {"program", "msf", "mst"},            {"command", "stats", "info"},
        {"command", "stat", "info"},        {"command", "describe", "info"},      {"command", "show", "info"},
        {"command", "check", "info"},       {"command", "generate", "gen"},       {"command", "create", "gen"},
        {"command", "load", "convert"},     {"command", "import", "convert"},     {"command", "benchmark", "bench"},
        {"command", "gpus", "devices"},     {"command", "order", "reorder"},      {"kind of graph", "er", "uniform"},
        {"kind of graph", "random", "uniform"}, {"kind of graph", "kron", "rmat"}, {"kind of graph", "kronecker", "rmat"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].what, what) == 0 && strcmp(words[i].word, word) == 0) return words[i].meant;
    return NULL;
}

td_status td_fail_unknown(const char *what, const char *word, const char *page, td_candidate_fn next,
                          const void *context)
{
    const char *near = other_word(what, word);
    char guess[128] = "";
    if (near == NULL) near = td_nearest(word, next, context);
    if (near != NULL) snprintf(guess, sizeof guess, " (did you mean '%s'?)", near);
    td_fail(TD_USAGE, "unknown %s '%s'%s", what, word, guess);
    return page != NULL ? td_see(page, TD_USAGE) : TD_USAGE;
}

static bool has_setting(const char *owner, const char *name)
{
    td_setting_facts setting = {.size = sizeof setting};
    for (int i = 0; td_setting_describe(owner, i, &setting) == TD_OK; i++)
        if (strcmp(setting.name, name) == 0) return true;
    return false;
}

/* The first program or engine that has a setting of this name; NULL: none. */
static const char *owner_of(const char *name)
{
    for (int i = 0; td_program_name(i) != NULL; i++)
        if (has_setting(td_program_name(i), name)) return td_program_name(i);
    for (int i = 0; td_engine_name(i) != NULL; i++)
        if (has_setting(td_engine_name(i), name)) return td_engine_name(i);
    return NULL;
}

static td_status unknown_option(const td_arg_spec *spec, const char *word)
{
    char name[64] = "";
    strncat(name, word + strspn(word, "-"), sizeof name - 1);
    name[strcspn(name, "=")] = '\0';
    const char *near = td_nearest(name, option_name, spec);
    int length = (int)strcspn(word, "=");
    const char *owner = find(spec, "set", 3) >= 0 ? owner_of(name) : NULL;
    if (owner != NULL)
        return td_fail(TD_USAGE, "unknown option '%.*s': it is a setting, --set %s.%s=VALUE", length, word, owner, name);
    if (near == NULL) return td_fail(TD_USAGE, "unknown option '%.*s'", length, word);
    return td_fail(TD_USAGE, "unknown option '%.*s' (did you mean '--%s'?)", length, word, near);
}

static td_status add_pair(td_arg_pairs *pairs, const td_arg_option *option, const char *text)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) return td_fail(TD_USAGE, "--%s '%s': key=value expected", option->name, text);
    TD_CHECK(TD_RESIZE(&pairs->items, (uint64_t)pairs->count + 1, "arguments"));
    pairs->items[pairs->count++] = text;
    return TD_OK;
}

static td_status check_range(const td_arg_option *option, const char *text, double value)
{
    char least[TD_NUMBER_BYTES], most[TD_NUMBER_BYTES];
    if (option->least == 0 && option->most == 0) return TD_OK;
    if (value >= option->least && value <= option->most) return TD_OK;
    if (option->kind != TD_ARG_SIZE)
        return td_fail(TD_USAGE, "--%s %s: %.15g to %.15g is allowed", option->name, text, option->least, option->most);
    return td_fail(TD_USAGE, "--%s %s: %s to %s is allowed", option->name, text,
                   td_format_size(least, (uint64_t)option->least), td_format_size(most, (uint64_t)option->most));
}

static td_status parse_size(const td_arg_option *option, const char *text, uint64_t *out)
{
    if (text[strlen(text) - 1] == '%')
        return td_fail(TD_USAGE, "--%s %s: a size is expected (examples: 4G, 512M), not a share", option->name, text);
    TD_CHECK(td_parse_size(text, out));
    return check_range(option, text, (double)*out);
}

static td_status parse_memory(const char *text, td_arg_memory *out)
{
    uint64_t whole = UINT64_C(1) << 52, share;
    TD_CHECK(td_parse_size_or_share(text, td_machine_memory(), &out->bytes));
    if (out->bytes == 0)
        return td_fail(TD_USAGE, "--memory %s: more than 0 is expected; leave the option out for no limit", text);
    if (text[strlen(text) - 1] != '%') return TD_OK;
    TD_CHECK(td_parse_size_or_share(text, whole, &share));
    out->share = (double)share / (double)whole;
    return TD_OK;
}

static td_status convert(const td_arg_option *option, const char *text, void *place)
{
    switch (option->kind) {
    case TD_ARG_COUNT:
        TD_CHECK(td_parse_u64(text, place));
        return check_range(option, text, (double)*(uint64_t *)place);
    case TD_ARG_REAL:
        TD_CHECK(td_parse_double(text, place));
        return check_range(option, text, *(double *)place);
    case TD_ARG_SIZE: return parse_size(option, text, place);
    case TD_ARG_MEMORY: return parse_memory(text, place);
    case TD_ARG_PAIRS: return add_pair(place, option, text);
    case TD_ARG_TEXT:
    case TD_ARG_TARGET: *(const char **)place = text; return TD_OK;
    case TD_ARG_FLAG: break;
    }
    return td_fail(TD_INTERNAL, "option --%s has no value", option->name);
}

static td_status store(parser *p, const td_arg_option *option, const char *text)
{
    if (*text == '\0')
        return td_fail(TD_USAGE, "option --%s has an empty value (%s expected)", option->name, option->value);
    td_status status = convert(option, text, p->settings + option->at);
    if (status == TD_INVALID || status == TD_LIMIT)
        return td_fail_context(TD_USAGE, "option --%s", option->name);
    return status;
}

static bool looks_like_option(const parser *p, const char *word)
{
    return word[0] == '-' && (word[1] == '-' || (word[1] != '\0' && find_letter(p->spec, word[1]) >= 0));
}

/* The word after the option if it can be its value, or NULL. */
static const char *following(parser *p)
{
    if (p->next >= p->argc || looks_like_option(p, p->argv[p->next])) return NULL;
    return p->argv[p->next++];
}

static td_status take_value(parser *p, const td_arg_option *option, const char *attached)
{
    if (attached != NULL) return store(p, option, attached);
    const char *text = following(p);
    if (option->kind == TD_ARG_TARGET) {
        if (text != NULL && strcmp(text, "-") != 0) {
            p->target = option;
            p->target_place = p->args->count;
        }
        return store(p, option, text != NULL ? text : "-");
    }
    if (text == NULL) return td_fail(TD_USAGE, "option --%s needs a value (%s)", option->name, option->value);
    return store(p, option, text);
}

static td_status take_option(parser *p, int index, const char *attached)
{
    const td_arg_option *option = option_at(p->spec, index);
    uint64_t bit = UINT64_C(1) << index;
    if ((p->seen & bit) && option->kind != TD_ARG_PAIRS)
        return td_fail(TD_USAGE, "option --%s is given twice", option->name);
    p->seen |= bit;
    if (option->kind != TD_ARG_FLAG) return take_value(p, option, attached);
    if (attached != NULL) return td_fail(TD_USAGE, "option --%s takes no value, '%s' given", option->name, attached);
    *(bool *)(p->settings + option->at) = true;
    if (strcmp(option->name, "help") == 0) p->help = true;
    return TD_OK;
}

static td_status take_word(parser *p, const char *word)
{
    bool is_long = word[1] == '-';
    const char *equals = is_long ? strchr(word, '=') : NULL;
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    int index = is_long ? find(p->spec, word + 2, length - 2) : find_letter(p->spec, word[1]);
    if (index < 0) return unknown_option(p->spec, word);
    if (is_long) return take_option(p, index, equals != NULL ? equals + 1 : NULL);
    return take_option(p, index, word[2] != '\0' ? word + 2 : NULL);
}

static td_status take_all(parser *p)
{
    bool options = true;
    while (p->next < p->argc) {
        const char *word = p->argv[p->next++];
        if (options && strcmp(word, "--") == 0) options = false;
        else if (options && word[0] == '-' && word[1] != '\0') TD_CHECK(take_word(p, word));
        else p->args->words[p->args->count++] = word;
    }
    return TD_OK;
}

/* Turns a target's word into a positional argument if one is missing. */
static void return_target(parser *p)
{
    td_args *args = p->args;
    if (p->target == NULL || args->count >= p->spec->least) return;
    const char **value = (const char **)(p->settings + p->target->at);
    memmove(args->words + p->target_place + 1, args->words + p->target_place,
            (size_t)(args->count - p->target_place) * sizeof *args->words);
    args->words[p->target_place] = *value;
    args->count++;
    *value = "-";
}

/* The names of the positional arguments from `index` on. */
static const char *names_from(const char *positional, int index)
{
    for (; index > 0 && strchr(positional, ' ') != NULL; index--) positional = strchr(positional, ' ') + 1;
    return positional;
}

static td_status check_count(const parser *p)
{
    const td_args *args = p->args;
    if (args->count > p->spec->most) return td_fail(TD_USAGE, "unexpected argument '%s'", args->words[p->spec->most]);
    if (args->count == p->spec->least - 1 && args->count > 0)
        return td_fail(TD_USAGE, "an argument is missing after '%s': %s", args->words[args->count - 1],
                       names_from(p->spec->positional, args->count));
    if (args->count < p->spec->least) return td_fail(TD_USAGE, "an argument is missing: %s", p->spec->positional);
    return TD_OK;
}

static bool was_seen(const parser *p, const char *name, size_t length)
{
    int index = find(p->spec, name, length);
    return index >= 0 && (p->seen >> index & 1);
}

/* Finds the first option of a list of names that was given; returns the length of its name, or 0. */
static size_t first_seen(const parser *p, const char *names, const char **out)
{
    for (const char *name = names; *name != '\0';) {
        size_t length = strcspn(name, " ");
        *out = name;
        if (was_seen(p, name, length)) return length;
        name += length + strspn(name + length, " ");
    }
    return 0;
}

/* "--seed has no effect without --weights or --order" */
static td_status alone(const td_arg_option *option)
{
    char names[128] = "";
    size_t used = 0;
    for (const char *name = option->needs; *name != '\0' && used < sizeof names;) {
        size_t length = strcspn(name, " ");
        const char *joint = used > 0 ? " or " : "";
        used += (size_t)snprintf(names + used, sizeof names - used, "%s--%.*s", joint, (int)length, name);
        name += length + strspn(name + length, " ");
    }
    return td_fail(TD_USAGE, "--%s has no effect without %s", option->name, names);
}

static td_status check_company(const parser *p)
{
    const char *other = "";
    const td_arg_option *option;
    for (int i = 0; (option = option_at(p->spec, i)) != NULL; i++) {
        if (!(p->seen >> i & 1)) continue;
        size_t length = option->excludes != NULL ? first_seen(p, option->excludes, &other) : 0;
        if (length > 0)
            return td_fail(TD_USAGE, "--%s and --%.*s exclude each other", option->name, (int)length, other);
        if (option->needs != NULL && first_seen(p, option->needs, &other) == 0) return alone(option);
    }
    return TD_OK;
}

td_status td_args_parse(const td_arg_spec *spec, int argc, char **argv, void *settings, td_args *out)
{
    parser p = {.spec = spec, .argc = argc, .argv = argv, .settings = settings, .args = out};
    *out = (td_args){NULL, 0};
    if (option_at(spec, MAX_OPTIONS) != NULL)
        return td_fail(TD_INTERNAL, "a command has more than %d options", MAX_OPTIONS);
    TD_CHECK(TD_NEW(&out->words, (uint64_t)argc + 1, "arguments"));
    TD_CHECK(take_all(&p));
    if (p.help) return TD_OK;
    return_target(&p);
    TD_CHECK(check_count(&p));
    return check_company(&p);
}

void td_args_free(const td_arg_spec *spec, void *settings, td_args *args)
{
    td_free(args->words);
    *args = (td_args){NULL, 0};
    const td_arg_option *option;
    for (int i = 0; (option = option_at(spec, i)) != NULL; i++) {
        if (option->kind != TD_ARG_PAIRS) continue;
        td_arg_pairs *pairs = (td_arg_pairs *)((char *)settings + option->at);
        td_free(pairs->items);
        *pairs = (td_arg_pairs){NULL, 0};
    }
}
