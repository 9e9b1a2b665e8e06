/* The stream engine's settings: the table, the programs that use each, and the variants in which each has an effect. */
#include "engine/stream/stream.h"

#include "base/names.h"

#include <stdio.h>
#include <string.h>

enum {
    SET_VARIANT, SET_SUBGRAPH, SET_RULES, SET_ALPHA, SET_BETA, SET_LOW, SET_LEVELS, SET_REPEATS, SET_PREFIX,
    SET_LIST_ORDER, SET_DIRECTION, SET_HIGH_DEGREE, SET_SMALL, SET_DELTA, SET_SAMPLES, SET_SURVIVORS, SET_COMPRESS,
    SET_PACK, SET_ACTIVITY, SET_PREPARED, SET_KCORE, SET_NODES, SET_DUPLICATE, SETTINGS,
};
enum { KCORE_AUTO, KCORE_LEVELS, KCORE_PEEL };
enum { ACTIVITY_AUTO, ACTIVITY_ON, ACTIVITY_OFF, ACTIVITY_MIXED };

const td_setting td_streaming_settings[] = {
    [SET_VARIANT] = {"variant", TD_SETTING_CHOICE, TD_STREAMING_FULL, 0, 0, "full|hvsp|lvsp|hbase|lbase|scaph",
                     "variant of Scaph. full: a transfer mode for every subgraph; hvsp: all whole, reprocessed by the "
                     "priority queue; lvsp: all extracted; hbase: all whole, reprocessed stream.repeats times; lbase: "
                     "all whole, processed once (Graphie); scaph: the system as published: stream.alpha and "
                     "stream.beta choose between hvsp and lvsp for every subgraph"},
    [SET_SUBGRAPH] = {"subgraph", TD_SETTING_WHOLE, 32 << 20, 128, 1e12, NULL,
                      "bytes of a subgraph, rounded down to 2^k edges (minimum 32; 1024 for accumulating programs); "
                      "the default is smaller if few subgraphs fit on the device or beside a resident prefix "
                      "(stream.prefix)"},
    [SET_RULES] = {"rules", TD_SETTING_CHOICE, 0, 0, 0, "cost|paper",
                   "how variant=full chooses the transfer mode. cost: the fastest by measured rates; paper: by "
                   "stream.alpha and stream.beta"},
    [SET_ALPHA] = {"alpha", TD_SETTING_NUMBER, 0.5, 0, 1, NULL,
                   "a subgraph whose share of useful edges is above this has high value and is copied whole "
                   "(rules=paper)"},
    [SET_BETA] = {"beta", TD_SETTING_NUMBER, 0.3, 0, 1, NULL,
                  "the same bound for a subgraph whose share of useful edges has grown since the last iteration "
                  "(rules=paper)"},
    [SET_LOW] = {"low", TD_SETTING_CHOICE, TD_LOW_AUTO, 0, 0, "auto|extract|direct|whole",
                 "transfer mode of subgraphs of low value. extract: CPU workers gather the useful edges into a chunk, "
                 "which is copied; direct: kernels read pinned host memory (zero copy)"},
    [SET_LEVELS] = {"levels", TD_SETTING_WHOLE, 0, 0, 1000, NULL,
                    "levels of the priority queue: how often a subgraph on the device is processed in an iteration "
                    "while others are copied; 0: from the measured rate of the link, maximum 8"},
    [SET_REPEATS] = {"repeats", TD_SETTING_WHOLE, 3, 1, 1000, NULL,
                     "how often variant=hbase processes a subgraph per iteration"},
    [SET_PREFIX] = {"prefix", TD_SETTING_NUMBER, -1, -1, 1, NULL,
                    "share of the device memory for edges that holds the resident prefix (the first edges of every "
                    "adjacency list), 0 to 1; -1: all that slots and chunks leave, for programs that can process part "
                    "of a list"},
    [SET_LIST_ORDER] = {"list_order", TD_SETTING_CHOICE, 0, 0, 0, "auto|stored|hot|light",
                        "order of the edges in every adjacency list, in a copy in host memory. stored: as in the "
                        "graph, no copy; hot: neighbours of the highest degree first; light: lightest edges first"},
    [SET_DIRECTION] = {"direction", TD_SETTING_CHOICE, 0, 0, 0, "auto|pull|push",
                       "bfs: push (top-down) or pull (bottom-up); auto chooses for every iteration"},
    [SET_HIGH_DEGREE] = {"high_degree", TD_SETTING_WHOLE, 256, 32, 1 << 26, NULL,
                         "minimum degree at which a list is divided among all warps"},
    [SET_SMALL] = {"small", TD_SETTING_WHOLE, 1 << 18, 0, 4e9, NULL,
                   "edges of a frontier up to which many rounds share one launch, whose kernel reads edges from host "
                   "memory"},
    [SET_DELTA] = {"delta", TD_SETTING_NUMBER, 0, 0, 1e30, NULL,
                   "sssp: width of a bucket of delta-stepping; 0: from the weights"},
    [SET_SAMPLES] = {"samples", TD_SETTING_WHOLE, 2, 0, 64, NULL,
                     "wcc: edges of every vertex that are sampled to find the largest component, which later sweeps "
                     "skip (Afforest); 0: no sample"},
    [SET_SURVIVORS] = {"survivors", TD_SETTING_CHOICE, 0, 0, 0, "on|off",
                       "mst: light edges are swept first, and the other edges that still join two components stay on "
                       "the device (Filter-Kruskal)"},
    [SET_COMPRESS] = {"compress", TD_SETTING_CHOICE, 0, 0, 0, "auto|on|off",
                      "whole subgraphs cross the link with compressed targets, from a second copy in host memory; "
                      "auto: for accumulating programs (pagerank, heat, ...) and mst with survivors"},
    [SET_PACK] = {"pack", TD_SETTING_CHOICE, 0, 0, 0, "on|off",
                  "programs that push along weights: target and weight packed into one 32-bit word if both fit; needs "
                  "a copy of the lists (stream.list_order) and stream.compress other than on"},
    [SET_ACTIVITY] = {"activity", TD_SETTING_CHOICE, ACTIVITY_AUTO, 0, 0, "auto|on|off|mixed",
                      "accumulating programs (pagerank, heat, ...). on: vertices whose message has changed are active "
                      "and push the difference, so that only their edges cross; off: every vertex gathers along all "
                      "edges; mixed: the faster of both in every iteration by measured rates, where both use the same lists "
                      "(joined ones, or of a symmetric graph); auto: on for nn, and in every variant but full; mixed "
                      "for circuit, and for adsorption of symmetric graphs; otherwise off"},
    [SET_PREPARED] = {"prepared", TD_SETTING_CHOICE, TD_PREPARED_AUTO, 0, 0, TD_PREPARED_CHOICES,
                      "lists beside the graph ('tandem prepare'). read: they are read, if they are those that the run "
                      "wants, instead of the graph's own; make: and written after the run, if there are none; auto: "
                      "written if earlier runs say that it pays; off: the run does not look for them"},
    [SET_KCORE] = {"kcore", TD_SETTING_CHOICE, KCORE_AUTO, 0, 0, "auto|levels|peel",
                   "kcore. levels: a launch for every level, then rounds along whole lists; peel: all levels in one "
                   "launch, along the resident prefix and, read from host memory, the rest of the lists; auto: peel, "
                   "but levels with another variant, a number of iterations or a setting that is for levels"},
    [SET_NODES] = {"nodes", TD_SETTING_CHOICE, TD_PLACE_AUTO, 0, 0, "auto|off|interleave|home",
                   "hosts with several memory nodes. home: every subgraph is on one node, whose workers extract its "
                   "useful edges; interleave: pages of the lists are interleaved over the nodes, and any worker "
                   "extracts; off: lists stay where they are; auto: home with variant=scaph, otherwise off"},
    [SET_DUPLICATE] = {"duplicate", TD_SETTING_NUMBER, 0.25, 0, 1, NULL,
                       "nodes=home: share of every node's subgraphs that is duplicated on the other nodes, whose workers "
                       "then extract them too; halved until the duplicates take at most half of the free host memory"},
    [SETTINGS] = {0},
};

bool td_streaming_uses_in(const td_program *program, td_mode mode, const char *setting)
{
    const td_cpu_kernels *k = program->cpu;
    bool gas = program->info->kind == TD_KIND_GAS, changes = td_streaming_pushes_changes(program, mode);
    bool active = gas && !k->fused && k->proportional && !changes; /* with stream.activity */
    bool pushes = gas && (k->fused || changes || active);
    if (strcmp(setting, "activity") == 0) return active;
    if (strcmp(setting, "prepared") == 0) return k->edge == NULL; /* forests need the graph's own lists */
    if (strcmp(setting, "kcore") == 0) return k->schedule == TD_SCHEDULE_PEEL;
    bool once = active && (k->shares || k->own_value); /* every iteration settles all vertices, once */
    if (active && strcmp(setting, "small") == 0) return false;
    if (once && (strcmp(setting, "levels") == 0 || strcmp(setting, "repeats") == 0)) return false;
    if (changes && (strcmp(setting, "small") == 0 || strcmp(setting, "levels") == 0 || strcmp(setting, "repeats") == 0))
        return false; /* a round of changes processes every subgraph once */
    if (strcmp(setting, "rules") == 0 || strcmp(setting, "alpha") == 0 || strcmp(setting, "beta") == 0 ||
        strcmp(setting, "low") == 0 || strcmp(setting, "nodes") == 0 || strcmp(setting, "duplicate") == 0)
        return !gas || pushes; /* accumulating programs: every edge is useful */
    if (strcmp(setting, "direction") == 0) return k->first_hit;
    if (strcmp(setting, "delta") == 0) return gas && k->schedule == TD_SCHEDULE_PRIORITY;
    if (strcmp(setting, "samples") == 0) return k->samples;
    if (strcmp(setting, "survivors") == 0) return k->light_first;
    if (strcmp(setting, "pack") == 0) return gas && k->fused && program->info->weights != TD_WEIGHTS_UNUSED;
    if (strcmp(setting, "small") == 0 || strcmp(setting, "levels") == 0 || strcmp(setting, "repeats") == 0)
        return pushes || (k->edge != NULL && strcmp(setting, "small") != 0);
    if (strcmp(setting, "high_degree") == 0) return !gas || pushes;
    if (strcmp(setting, "prefix") == 0 || strcmp(setting, "list_order") == 0) return gas ? pushes : k->samples;
    return true;
}

bool td_streaming_uses(const td_program *program, const char *setting)
{
    return td_streaming_uses_in(program, TD_MODE_SYNC, setting) ||
           (program->info->order_free && td_streaming_uses_in(program, TD_MODE_ASYNC, setting));
}

bool td_streaming_pushes_differences(const td_program *program, td_mode mode, const td_settings *settings)
{
    const td_cpu_kernels *k = program->cpu;
    double variant = TD_STREAMING_FULL, activity = 0;
    (void)td_settings_number(settings, "stream", td_streaming_settings, "variant", &variant);
    (void)td_settings_number(settings, "stream", td_streaming_settings, "activity", &activity);
    if (program->info->kind != TD_KIND_GAS || k->fused || !k->proportional) return false;
    if (td_streaming_pushes_changes(program, mode)) return false;
    /* a program that runs until no value changes, and whose values depend on sums alone, settles vertex by vertex */
    bool settles = program->info->tolerance == 0 && !k->own_value;
    return variant != TD_STREAMING_FULL || activity == ACTIVITY_ON || (activity == ACTIVITY_AUTO && settles);
}

static bool can_mix(const td_program *program, td_mode mode)
{
    const td_cpu_kernels *k = program->cpu;
    return program->info->kind == TD_KIND_GAS && !k->fused && k->proportional && k->sends_value && !k->shares &&
           mode != TD_MODE_ASYNC;
}

bool td_streaming_asks_to_mix(const td_settings *settings)
{
    double activity = ACTIVITY_AUTO;
    (void)td_settings_number(settings, "stream", td_streaming_settings, "activity", &activity);
    return activity == ACTIVITY_MIXED;
}

bool td_streaming_mixes(const td_program *program, const td_graph *graph, const td_run_options *options, bool both)
{
    double activity = ACTIVITY_AUTO;
    (void)td_settings_number(options->settings, "stream", td_streaming_settings, "activity", &activity);
    if (!can_mix(program, options->mode) || !(both || graph->symmetric)) return false;
    if (td_streaming_pushes_differences(program, options->mode, options->settings)) return false;
    /* a program that runs until values hardly change: the last iterations, too, have few that do */
    bool settles = program->info->tolerance > 0 && !program->cpu->own_value;
    return activity == ACTIVITY_MIXED || (activity == ACTIVITY_AUTO && settles);
}

/* What does not depend on the graph. */
static td_status check_mixing(const td_program *program, const td_run_options *options)
{
    if (!td_streaming_asks_to_mix(options->settings)) return TD_OK;
    if (!can_mix(program, options->mode))
        return td_see("stream", td_fail(TD_USAGE, "stream.activity=mixed is for synchronous programs that send their "
                                        "values (circuit, heat, adsorption, nn); %s is not", program->info->name));
    if (!td_settings_given(options->settings, "stream.prepared")) return TD_OK;
    return td_see("stream", td_fail(TD_USAGE, "stream.prepared has no effect with stream.activity=mixed, which reads "
                                    "the graph's own lists"));
}

const char *td_streaming_why_once(const td_program *program, const td_run_options *options)
{
    const td_cpu_kernels *k = program->cpu;
    if (options->has_iterations) return "with a limit on iterations every subgraph is processed once in each";
    if (program->info->kind == TD_KIND_SWEEP)
        return k->edge != NULL ? NULL : "a sweep visits every edge once; labels finds the same components";
    if (k->first_hit) return options->mode == TD_MODE_ASYNC ? NULL : "bfs by levels processes every level once";
    if (k->fused) return program->info->order_free ? NULL : "its values depend on the order";
    if (!k->proportional) return "its contributions are not proportional to the messages";
    if (k->shares) return "every value depends on a sum over all vertices, which ends the iteration";
    if (k->own_value) return "its values depend on the number of steps";
    return options->mode == TD_MODE_SYNC ? "synchronous iterations read the values of the one before" : NULL;
}

/* Settings that choose among active vertices' edges change nothing where every edge is gathered. */
static td_status check_activity(const td_program *program, const td_run_options *options)
{
    static const char *const active[] = {"rules", "alpha", "beta", "low", "levels", "repeats", "high_degree", "prefix",
                                         "list_order", "nodes", "duplicate"};
    const td_cpu_kernels *k = program->cpu;
    bool gathers = program->info->kind == TD_KIND_GAS && !k->fused &&
                   !td_streaming_pushes_changes(program, options->mode) &&
                   !td_streaming_pushes_differences(program, options->mode, options->settings);
    for (uint64_t i = 0; gathers && i < sizeof active / sizeof *active; i++) {
        char key[32];
        snprintf(key, sizeof key, "stream.%s", active[i]);
        if (td_settings_given(options->settings, key))
            return td_see("stream", td_fail(TD_USAGE, "%s has no effect on %s, which gathers along every edge; "
                                            "it is for stream.activity=on%s", key, program->info->name,
                                            td_streaming_pushes_changes(program, TD_MODE_ASYNC) ? ", or async" : ""));
    }
    return TD_OK;
}

/* With variant=full, levels are for subgraphs that hold whole lists. */
static td_status check_levels(const td_program *program, const td_run_options *options)
{
    const td_cpu_kernels *k = program->cpu;
    double variant, prefix;
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "variant", &variant));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "prefix", &prefix));
    if (!td_settings_given(options->settings, "stream.levels")) return TD_OK;
    const char *reason = td_streaming_why_once(program, options);
    bool whole = prefix == 0 || k->schedule == TD_SCHEDULE_PEEL;
    if (reason == NULL && variant == TD_STREAMING_FULL && program->info->kind == TD_KIND_SWEEP)
        reason = "variant=full sweeps survivors instead";
    if (reason == NULL && variant == TD_STREAMING_FULL && !k->fused && options->mode != TD_MODE_ASYNC)
        reason = "every vertex is settled once in an iteration";
    if (reason == NULL && variant == TD_STREAMING_FULL && !whole)
        reason = "lists are divided by the resident prefix; add stream.prefix=0";
    if (reason == NULL) return TD_OK;
    return td_see("stream", td_fail(TD_USAGE, "stream.levels has no effect on %s: %s", program->info->name,
                                    reason));
}

/* The first given setting that is for levels: in one launch no subgraph is chosen, copied or queued. */
static const char *given_of_levels(const td_settings *settings)
{
    static const char *const names[] = {"stream.rules", "stream.alpha", "stream.beta", "stream.low", "stream.levels",
                                        "stream.compress"};
    for (uint64_t i = 0; i < sizeof names / sizeof *names; i++)
        if (td_settings_given(settings, names[i])) return names[i];
    return NULL;
}

bool td_streaming_peels_at_once(const td_program *program, const td_run_options *options)
{
    double kcore = KCORE_AUTO, variant = TD_STREAMING_FULL;
    (void)td_settings_number(options->settings, "stream", td_streaming_settings, "kcore", &kcore);
    (void)td_settings_number(options->settings, "stream", td_streaming_settings, "variant", &variant);
    if (program->cpu->schedule != TD_SCHEDULE_PEEL || kcore == KCORE_LEVELS) return false;
    return kcore == KCORE_PEEL || (variant == TD_STREAMING_FULL && !options->has_iterations &&
                                   given_of_levels(options->settings) == NULL);
}

static td_status check_kcore(const td_program *program, const td_run_options *options)
{
    const char *of_levels = given_of_levels(options->settings);
    if (!td_streaming_peels_at_once(program, options)) return TD_OK;
    if (options->has_iterations)
        return td_fail(TD_USAGE,
                       "stream.kcore=peel has no rounds that {iterations} could count; stream.kcore=levels has");
    if (of_levels == NULL) return TD_OK;
    return td_see("stream", td_fail(TD_USAGE, "%s has no effect with stream.kcore=peel, which copies no subgraphs; it "
                                    "is for stream.kcore=levels", of_levels));
}

/* A variant that would do what lbase does is refused. */
static td_status check_variant(const td_program *program, const td_run_options *options)
{
    char word[TD_SETTING_BYTES];
    const td_cpu_kernels *k = program->cpu;
    double variant;
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "variant", &variant));
    bool repeats = variant == TD_STREAMING_HVSP || variant == TD_STREAMING_HBASE;
    const char *reason = repeats ? td_streaming_why_once(program, options) : NULL;
    bool picks = variant == TD_STREAMING_LVSP || variant == TD_STREAMING_SCAPH;
    if (picks && program->info->kind == TD_KIND_GAS && !k->fused && !k->proportional)
        reason = "its contributions are not proportional to the messages, so that every edge is gathered";
    if (reason == NULL) return TD_OK;
    td_setting_print(word, &td_streaming_settings[SET_VARIANT], variant, NULL);
    return td_see("stream", td_fail(TD_USAGE, "stream.variant=%s does what lbase does for %s: %s", word,
                                    program->info->name, reason));
}

td_streaming_placement td_streaming_choose_nodes(const td_settings *settings)
{
    double variant = TD_STREAMING_FULL, nodes = TD_PLACE_AUTO;
    (void)td_settings_number(settings, "stream", td_streaming_settings, "variant", &variant);
    (void)td_settings_number(settings, "stream", td_streaming_settings, "nodes", &nodes);
    if (td_numa_here()->nodes == 1) return TD_PLACE_OFF;
    if (nodes != TD_PLACE_AUTO) return (td_streaming_placement)nodes;
    return variant == TD_STREAMING_SCAPH ? TD_PLACE_HOME : TD_PLACE_OFF;
}

static td_status check_nodes(const td_run_options *options)
{
    bool given = td_settings_given(options->settings, "stream.nodes");
    bool share = td_settings_given(options->settings, "stream.duplicate");
    if ((given || share) && td_numa_here()->nodes == 1)
        return td_see("stream", td_fail(TD_USAGE, "stream.%s has no effect on a machine with one memory node; leave it "
                                        "out", given ? "nodes" : "duplicate"));
    if (!share || td_streaming_choose_nodes(options->settings) == TD_PLACE_HOME) return TD_OK;
    return td_see("stream", td_fail(TD_USAGE, "stream.duplicate has no effect without stream.nodes=home"));
}

static td_status check_mode(const td_run_options *options, const td_program *program)
{
    for (uint64_t i = 0; options->settings != NULL && i < options->settings->count; i++) {
        const char *key = options->settings->keys[i];
        if (strncmp(key, "stream.", 7) != 0 || td_streaming_uses_in(program, options->mode, key + 7)) continue;
        if (!td_streaming_uses(program, key + 7)) continue; /* refused elsewhere, for another reason */
        const char *now = options->mode == TD_MODE_ASYNC ? "async" : "sync";
        const char *other = options->mode == TD_MODE_ASYNC ? "sync" : "async";
        return td_see("stream", td_fail(TD_USAGE, "the setting '%s' has no effect on %s with %s; it is for %s", key,
                                        program->info->name, td_named(now), td_named(other)));
    }
    return TD_OK;
}

/* The variants, and the rules, in which a setting has an effect. */
enum {
    IN_FULL = 1 << TD_STREAMING_FULL,
    IN_HVSP = 1 << TD_STREAMING_HVSP,
    IN_LVSP = 1 << TD_STREAMING_LVSP,
    IN_HBASE = 1 << TD_STREAMING_HBASE,
    IN_LBASE = 1 << TD_STREAMING_LBASE,
    IN_SCAPH = 1 << TD_STREAMING_SCAPH,
    IN_OTHERS = IN_FULL | IN_HVSP | IN_LVSP | IN_HBASE | IN_LBASE,
};

typedef struct condition {
    const char *name;
    unsigned variants;
    bool by_paper;
    const char *when;
} condition;

static const condition conditions[] = {
    {"rules", IN_FULL, false, "stream.variant=full"},
    {"alpha", IN_FULL | IN_SCAPH, true, "stream.variant=scaph, and full with stream.rules=paper"},
    {"beta", IN_FULL | IN_SCAPH, true, "stream.variant=scaph, and full with stream.rules=paper"},
    {"low", IN_FULL, false, "stream.variant=full"},
    {"levels", IN_FULL | IN_HVSP | IN_SCAPH, false,
     "stream.variant=hvsp and scaph, and full without a resident prefix (stream.prefix=0)"},
    {"repeats", IN_HBASE, false, "stream.variant=hbase"},
    {"prefix", IN_FULL, false, "stream.variant=full"},
    {"list_order", IN_FULL, false, "stream.variant=full"},
    {"small", IN_FULL, false, "stream.variant=full"},
    {"samples", IN_FULL, false, "stream.variant=full"},
    {"survivors", IN_FULL, false, "stream.variant=full"},
    {"compress", IN_FULL, false, "stream.variant=full"},
    {"pack", IN_FULL, false, "stream.variant=full"},
    {"activity", IN_FULL, false, "stream.variant=full"},
    {"prepared", IN_FULL, false, "stream.variant=full"},
    {"kcore", IN_FULL, false, "stream.variant=full"},
    {"delta", IN_OTHERS, false, "every stream.variant but scaph, which has no buckets"},
    {"direction", IN_OTHERS, false, "every stream.variant but scaph, which pushes"},
    {"nodes", IN_FULL | IN_LVSP | IN_SCAPH, false, "stream.variant=full, lvsp and scaph, which extract edges"},
    {"duplicate", IN_FULL | IN_LVSP | IN_SCAPH, false, "stream.nodes=home"},
};

static const condition *condition_of(const char *name)
{
    for (uint64_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (strcmp(conditions[i].name, name) == 0) return &conditions[i];
    return NULL;
}

static bool in_variant(const condition *it, td_streaming_variant variant) { return (it->variants >> variant & 1u) != 0; }

bool td_streaming_applies(const td_settings *settings, const char *name)
{
    double variant = TD_STREAMING_FULL, rules = 0;
    const condition *it = condition_of(name);
    (void)td_settings_number(settings, "stream", td_streaming_settings, "variant", &variant);
    (void)td_settings_number(settings, "stream", td_streaming_settings, "rules", &rules);
    bool by_paper = rules == 1 || variant == TD_STREAMING_SCAPH;
    return it == NULL || (in_variant(it, (td_streaming_variant)variant) && (by_paper || !it->by_paper));
}

const char *td_streaming_when(const char *name) { return condition_of(name)->when; }

static td_status check_one(const char *name, const char *value, td_streaming_variant variant, bool by_paper)
{
    char word[TD_SETTING_BYTES];
    const condition *it = condition_of(name);
    bool now = it == NULL || in_variant(it, variant);
    if (it == NULL || (now && (by_paper || !it->by_paper))) return TD_OK;
    td_setting_print(word, &td_streaming_settings[now ? SET_RULES : SET_VARIANT], now ? 0 : variant, NULL);
    return td_see("stream", td_fail(TD_USAGE, "stream.%s=%s has no effect with stream.%s=%s; it is for %s", name, value,
                                    now ? "rules" : "variant", word, it->when));
}

td_status td_streaming_check_settings(const td_settings *settings)
{
    double variant, rules, prefix, order, compress;
    TD_CHECK(td_settings_number(settings, "stream", td_streaming_settings, "variant", &variant));
    TD_CHECK(td_settings_number(settings, "stream", td_streaming_settings, "rules", &rules));
    TD_CHECK(td_settings_number(settings, "stream", td_streaming_settings, "prefix", &prefix));
    TD_CHECK(td_settings_number(settings, "stream", td_streaming_settings, "list_order", &order));
    TD_CHECK(td_settings_number(settings, "stream", td_streaming_settings, "compress", &compress));
    for (uint64_t i = 0; settings != NULL && i < settings->count; i++) {
        const char *key = settings->keys[i];
        if (strncmp(key, "stream.", 7) != 0) continue;
        TD_CHECK(check_one(key + 7, settings->values[i], (td_streaming_variant)variant,
                           rules == 1 || variant == TD_STREAMING_SCAPH));
    }
    bool stored = order == 1 || (order == 0 && prefix == 0);
    if (td_settings_given(settings, "stream.pack") && (stored || compress == 1))
        return td_see("stream", td_fail(TD_USAGE, "stream.pack has no effect with stream.%s; it is for lists that are "
                                        "copied to be reordered",
                                        compress == 1 ? "compress=on" : order == 1 ? "list_order=stored" : "prefix=0"));
    if (prefix < 0 && prefix != -1)
        return td_see("stream", td_fail(TD_USAGE, "stream.prefix=%g: allowed is a share from 0 to 1, or -1", prefix));
    return TD_OK;
}

td_status td_streaming_check_request(const td_program *program, const td_run_options *options)
{
    double delta;
    TD_CHECK(td_streaming_check_settings(options->settings));
    TD_CHECK(td_settings_number(options->settings, "stream", td_streaming_settings, "delta", &delta));
    bool steps = program->cpu[TD_WEIGHT_NONE].schedule == TD_SCHEDULE_PRIORITY && !options->has_iterations;
    if (delta > 0 && !steps)
        return td_fail(TD_USAGE, "stream.delta is the width of a bucket of delta-stepping, and a limit on iterations "
                                 "makes sssp run plain rounds; leave one of them out");
    TD_CHECK(check_variant(program, options));
    TD_CHECK(check_levels(program, options));
    TD_CHECK(check_kcore(program, options));
    TD_CHECK(check_activity(program, options));
    TD_CHECK(check_mixing(program, options));
    TD_CHECK(check_nodes(options));
    return check_mode(options, program);
}

td_status td_streaming_read_settings(td_streaming_job *self)
{
    double set[SETTINGS];
    td_gpu_job *gpu = &self->gpu;
    TD_CHECK(td_settings_resolve(gpu->options->settings, "stream", td_streaming_settings, set, NULL));
    self->variant = (td_streaming_variant)set[SET_VARIANT];
    self->rules = (int)set[SET_RULES];
    self->alpha = set[SET_ALPHA];
    self->beta = set[SET_BETA];
    self->low = (td_streaming_low)set[SET_LOW];
    self->levels = (uint32_t)set[SET_LEVELS];
    self->repeats = (uint32_t)set[SET_REPEATS];
    self->small_edges = (uint64_t)set[SET_SMALL];
    static const td_direction directions[] = {TD_DIRECTION_AUTO, TD_DIRECTION_PULL, TD_DIRECTION_PUSH};
    gpu->direction = self->variant == TD_STREAMING_SCAPH ? TD_DIRECTION_PUSH : directions[(int)set[SET_DIRECTION]];
    gpu->balance = TD_BALANCE_WARP;
    gpu->high_degree = (uint32_t)set[SET_HIGH_DEGREE];
    gpu->small = self->small_edges;
    gpu->rounds = TD_GPU_ROUNDS;
    gpu->delta = set[SET_DELTA];
    gpu->samples = (uint32_t)set[SET_SAMPLES];
    bool at_once = td_streaming_peels_at_once(gpu->run->program, gpu->options);
    gpu->cores = at_once ? TD_CORES_PEEL : TD_CORES_ROUNDS;
    gpu->core_window = TD_CORE_WINDOW;
    gpu->core_buffer = TD_CORE_BUFFER;
    gpu->prioritised = gpu->traits->schedule == TD_SCHEDULE_PRIORITY && !gpu->has_limit &&
                       self->variant != TD_STREAMING_SCAPH;
    return TD_OK;
}

const td_renamed_setting td_streaming_renamed[] = {
    {.formerly = "heavy", "high_degree"}, {.formerly = "lists", "list_order"}, {.formerly = "words", "pack"}, {0},
};
