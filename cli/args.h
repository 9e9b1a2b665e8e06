/* The one argument parser.
 *
 * A command lists its options in a table; parsing fills the command's settings
 * struct through the table's offsets. A mistake is TD_USAGE with a message that
 * quotes the user's words.
 *
 *     --name value   --name=value   -o value   -ovalue   --   (no options after it)
 */
#ifndef TD_CLI_ARGS_H
#define TD_CLI_ARGS_H

#include "base/nearest.h"
#include "base/status.h"

#include <stddef.h>

typedef enum td_arg_kind {
    TD_ARG_FLAG,   /* bool */
    TD_ARG_TEXT,   /* const char * */
    TD_ARG_COUNT,  /* uint64_t */
    TD_ARG_REAL,   /* double */
    TD_ARG_SIZE,   /* uint64_t: 4G, 512M */
    TD_ARG_MEMORY, /* td_arg_memory: a size, or a share of the machine's memory (25%) */
    TD_ARG_PAIRS,  /* td_arg_pairs: key=value, may be repeated */
    TD_ARG_TARGET, /* const char *: an optional file name; "-" without one */
} td_arg_kind;

typedef struct td_arg_memory {
    uint64_t bytes;
    double share; /* 0.25 for 25%; 0 if a size was given */
} td_arg_memory;

typedef struct td_arg_option {
    const char *name; /* without the dashes */
    char letter;      /* the short form, or 0 */
    td_arg_kind kind;
    size_t at;             /* offset of the value in the settings */
    const char *value;     /* the value's name in the help: "N"; NULL for a flag */
    const char *help;      /* "{}" stands for `names` */
    const char *(*names)(int index); /* NULL after the last one; or NULL */
    const char *excludes;  /* names of options that cannot be combined with it, or NULL */
    const char *needs;     /* names of options of which it needs one, or NULL */
    double least, most;    /* range of a number; both 0: any */
} td_arg_option;

/* TD_OPTION(settings, "threads", COUNT, threads, "N", "workers", .least = 1, .most = 64) */
#define TD_OPTION(type, name_, kind_, field, value_, help_, ...)                         \
    {                                                                                    \
        .name = name_, .kind = TD_ARG_##kind_, .at = offsetof(type, field),              \
        .value = value_, .help = help_, ##__VA_ARGS__                                    \
    }

typedef struct td_arg_pairs {
    const char **items; /* "key=value", in the order given */
    int count;
} td_arg_pairs;

typedef struct td_args {
    const char **words; /* the positional arguments */
    int count;
} td_args;

/* The options and arguments that a command accepts. Tables end with a NULL name. */
typedef struct td_arg_spec {
    const td_arg_option *tables[3]; /* the command's own options, those of some commands, those of all; or NULL */
    const char *positional;         /* "IN", "PROGRAM FILE": names of the arguments, for messages */
    int least, most;                /* number of positional arguments */
} td_arg_spec;

/* Fills `settings`, which holds the defaults, and `out`. A TD_ARG_TARGET takes
 * the word after it only if enough positional arguments remain without it, so
 * that both `info --json g.tg` and `info g.tg --json stats.json` work as
 * expected. With --help nothing else is required. */
td_status td_args_parse(const td_arg_spec *spec, int argc, char **argv, void *settings, td_args *out);

/* Frees the memory of a parse, also in `settings` and after a failure. */
void td_args_free(const td_arg_spec *spec, void *settings, td_args *args);

/* TD_USAGE: "unknown WHAT 'WORD'", with the nearest candidate, if there is one, and the help page that lists the
 * candidates, unless `page` is NULL. */
td_status td_fail_unknown(const char *what, const char *word, const char *page, td_candidate_fn next,
                          const void *context);

#endif
