/* `tandem help`: the overview, a command's page made from its table, and topics. */
#include "command.h"

#include "run_text.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

enum { OPTION_COLUMN = 24, NAME_COLUMN = 12 };

/* An option's help with its names in place. */
static const char *help_of(const td_arg_option *option, char text[512])
{
    const char *place = strstr(option->help, "{}");
    size_t used = 0;
    if (option->names == NULL || place == NULL) return option->help;
    used += (size_t)snprintf(text, 512, "%.*s", (int)(place - option->help), option->help);
    for (int i = 0; option->names(i) != NULL && used < 512; i++)
        used += (size_t)snprintf(text + used, 512 - used, "%s%s", i > 0 ? ", " : "", option->names(i));
    if (used < 512) snprintf(text + used, 512 - used, "%s", place + 2);
    return text;
}

static void print_option(const td_arg_option *option)
{
    char head[64], help[512];
    int length = option->letter != 0 ? snprintf(head, sizeof head, "  -%c, --%s", option->letter, option->name)
                                     : snprintf(head, sizeof head, "      --%s", option->name);
    if (option->value != NULL) snprintf(head + length, sizeof head - (size_t)length, " %s", option->value);
    td_print_entry(head, OPTION_COLUMN, help_of(option, help));
}

static void print_options(const char *title, const td_arg_option *options)
{
    if (options == NULL || options->name == NULL) return;
    printf("\n%s\n", title);
    for (; options->name != NULL; options++) print_option(options);
}

void td_help_command(const td_command *command)
{
    printf("tandem %s: %s\n\nUsage\n  tandem %s", command->name, command->summary, command->name);
    printf("%s%s%s\n", command->positional != NULL ? " " : "", command->positional != NULL ? command->positional : "",
           command->options != NULL && command->options->name != NULL ? " [options]" : "");
    print_options("Options", command->options);
    print_options("Options for the edges", command->shared);
    print_options("Common options", td_common_options);
    if (command->details != NULL) {
        printf("\n");
        td_print_paragraphs(command->details);
    }
    if (command->examples != NULL) {
        printf("\nExamples\n");
        td_print_lines("  ", command->examples);
    }
}

void td_help_overview(void)
{
    printf("tandem %s: graph algorithms on all of one machine\n\nUsage\n  tandem COMMAND [arguments]\n\nCommands\n",
           td_version());
    for (int i = 0; td_commands[i] != NULL; i++) {
        char head[64];
        snprintf(head, sizeof head, "  %s", td_commands[i]->name);
        td_print_entry(head, NAME_COLUMN, td_commands[i]->summary);
    }
    printf("\nTopics\n");
    printf("  programs   the algorithms of `tandem run`; each program is a topic\n");
    printf("  engines    the ways to run them on CPU, GPU and disk; each engine is a topic\n");
    printf("  formats    graph files that can be read and written\n");
    printf("  generators graphs that `tandem gen` can generate\n");
    printf("\nFirst steps\n");
    printf("  tandem gen rmat --scale 16 --weights 1:100 -o g.tg   a graph to try things on\n");
    printf("  tandem info g.tg                                     what is in it\n");
    printf("  tandem run sssp g.tg --source 0 --verify --top 5     distances from vertex 0\n");
    printf("\n'tandem help COMMAND' and 'tandem help TOPIC' have details.\n");
}

static const char *abilities(const td_format_facts *format)
{
    return format->reads && format->writes ? "read, write" : format->reads ? "read" : "write";
}

static void help_formats(void)
{
    printf("Graph files. The format is recognised by contents first, by name second;\n"
           "--format NAME (and --to NAME for the output of convert) overrides that.\n"
           "Text may be compressed: .gz, .zst, .xz.\n\n");
    printf("  %-14s %-12s %-16s\n", "name", "", "suffixes");
    const char *name;
    td_format_facts format = {.size = sizeof format};
    for (int i = 0; (name = td_format_name(i)) != NULL && td_format_describe(name, &format) == TD_OK; i++) {
        printf("  %-14s %-12s %s\n", name, abilities(&format), format.suffixes);
        td_print_wrapped(format.description, 17, 80);
    }
}

static void help_generators(void)
{
    printf("Generators. The graph depends on the seed, but not on the number of threads.\n"
           "Parameters are options of `tandem gen` (see 'tandem help gen').\n\n");
    const char *kind;
    td_generator_facts generator = {.size = sizeof generator};
    for (int i = 0; (kind = td_generator_kind(i)) != NULL && td_generator_describe(kind, &generator) == TD_OK; i++) {
        char head[64];
        snprintf(head, sizeof head, "  %s", kind);
        td_print_entry(head, 16, generator.description);
        printf("%16s%s\n", "", generator.parameters);
    }
    printf("\n"
           "Named graphs: kN (rmat of 2^N vertices, degree 16), uN (uniform), gridN (N x N),\n"
           "symmetrised, deduplicated, loop-free, with symmetric weights 1..100 and shuffled\n"
           "ids. The benchmarks of docs/performance.md use k23, k25, u23 and grid3000.\n");
}

typedef struct topic {
    const char *name;
    void (*print)(void);
} topic;

static const topic topics[] = {
    {"formats", help_formats}, {"generators", help_generators}, {"programs", td_help_programs},
    {"engines", td_help_engines},
    {NULL, NULL},
};

/* Topics, commands, programs and engines as one list of candidates. */
static const char *subject_name(const void *context, int index)
{
    int count = (int)(sizeof topics / sizeof *topics) - 1, commands = 0;
    if (index < count) return topics[index].name;
    while (td_command_name(context, commands) != NULL) commands++;
    index -= count;
    return index < commands ? td_command_name(context, index) : td_run_topic_name(context, index - commands);
}

static td_status run_help(const td_args *args, void *settings)
{
    (void)settings;
    if (args->count == 0) {
        td_help_overview();
        return TD_OK;
    }
    const char *word = args->words[0];
    for (const topic *t = topics; t->name != NULL; t++)
        if (strcmp(t->name, word) == 0) {
            t->print();
            return TD_OK;
        }
    if (td_help_run_topic(word)) return TD_OK;
    const td_command *command = td_command_named(word);
    if (command == NULL) return td_fail_unknown("help topic", word, NULL, subject_name, NULL);
    td_help_command(command);
    return TD_OK;
}

const td_command td_cmd_help = {
    .name = "help",
    .summary = "explain commands, programs, engines and formats",
    .positional = "[COMMAND|PROGRAM|ENGINE|TOPIC]",
    .most = 1,
    .settings_bytes = sizeof(td_common),
    .run = run_help,
};
