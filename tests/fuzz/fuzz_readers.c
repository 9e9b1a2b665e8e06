/* fuzz_readers [--seconds S] [--format NAME] [--seed N] [--first I] [--attempts K]
 *
 * Mutates the seeds of every format (corpus/NAME/, and what the format's own
 * writer makes of small graphs) for S seconds of processor time each and reads the result. A
 * failed, crashed or hanging attempt is named with the options that repeat it.
 */
#include "fuzz.h"
#include "deaths.h"
#include "hang.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/size.h"
#include "store/builder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEDS = 64, HANG_SECONDS = 30 };

typedef struct options {
    uint64_t seconds, seed, first, attempts;
    const char *format;
} options;

typedef struct corpus {
    fuzz_seed *seeds;
    int count;
} corpus;

static fuzz_seed *seed_of(corpus *all, const char *stem, size_t length)
{
    for (int i = 0; i < all->count; i++)
        if (strlen(all->seeds[i].stem) == length && memcmp(all->seeds[i].stem, stem, length) == 0)
            return &all->seeds[i];
    if (all->count == SEEDS || length >= sizeof all->seeds->stem) return NULL;
    fuzz_seed *seed = &all->seeds[all->count++];
    seed->count = 0;
    snprintf(seed->stem, sizeof seed->stem, "%.*s", (int)length, stem);
    return seed;
}

/* Adds a file to the seed with its stem. */
static bool add_file(corpus *all, const char *path, const char *stem, size_t stem_length, const char *suffix)
{
    fuzz_seed *seed = seed_of(all, stem, stem_length);
    if (seed == NULL || seed->count == FUZZ_FILES) {
        fprintf(stderr, "fuzz: %s: too many seeds, or files of a seed\n", path);
        return false;
    }
    fuzz_file *file = &seed->files[seed->count++];
    FILE *stream = fopen(path, "rb");
    snprintf(file->suffix, sizeof file->suffix, "%s", suffix);
    file->bytes = stream != NULL ? fread(file->data, 1, FUZZ_BYTES, stream) : 0;
    bool whole = stream != NULL && !ferror(stream) && feof(stream);
    if (stream != NULL) fclose(stream);
    if (!whole) fprintf(stderr, "fuzz: cannot read %s, or it exceeds %d bytes\n", path, FUZZ_BYTES);
    return whole;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

static bool load_folder(corpus *all, const char *format)
{
    char folder[512], path[1024];
    struct dirent **names = NULL;
    bool fine = true;
    snprintf(folder, sizeof folder, "%s/%s", FUZZ_CORPUS, format);
    int count = scandir(folder, &names, NULL, by_name); /* sorted: the seeds' numbers stay */
    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name, *dot = strchr(name, '.');
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (name[0] != '.' && dot != NULL && fine) fine = add_file(all, path, name, (size_t)(dot - name), dot + 1);
        free(names[i]);
    }
    free(names);
    return fine;
}

/* The format's own writer makes seeds from small graphs, the last with weights of 64-bit floats. */
static bool write_seeds(corpus *all, const td_format *format)
{
    static const char *const lists[] = {"1 2\n2 3\n3 1\n1 1\n9 3\n", "0 1 5\n1 0 5\n0 1 300\n2 1 7\n",
                                        "0 1 0.1\n1 0 0.1\n0 1 1e30\n2 1 7\n"};
    static const char *const stems[] = {"written-plain", "written-weighted", "written-doubles"};
    enum { LISTS = sizeof lists / sizeof *lists };
    td_build_options build = {0};
    char suffix[FUZZ_SUFFIX];
    snprintf(suffix, sizeof suffix, "%.*s", (int)strcspn(format->suffixes, " "), format->suffixes);
    for (int i = 0; i < LISTS; i++) {
        td_graph *graph = NULL;
        FILE *list = fopen(fuzz_path("el"), "w");
        if (list == NULL) return false;
        build.weights_as = i + 1 == LISTS ? TD_WEIGHT_F64 : TD_WEIGHT_NONE;
        fputs(lists[i], list);
        fclose(list);
        td_status status = td_graph_read(&graph, fuzz_path("el"), "edgelist", &build, NULL);
        unlink(fuzz_path("el"));
        if (status == TD_OK) status = format->write(graph, fuzz_path(suffix), NULL);
        td_graph_destroy(graph);
        if (status != TD_OK) continue; /* not every format takes every graph */
        bool added = add_file(all, fuzz_path(suffix), stems[i], strlen(stems[i]), suffix);
        unlink(fuzz_path(suffix));
        if (!added) return false;
    }
    return true;
}

/* The reader is given the file whose suffix comes first among the format's own. */
static void choose_main(fuzz_seed *seed, const char *suffixes)
{
    for (const char *word = suffixes; *word != '\0'; word += strcspn(word, " "), word += strspn(word, " ")) {
        size_t length = strcspn(word, " ");
        for (int i = 0; i < seed->count; i++) {
            const char *suffix = seed->files[i].suffix;
            if (strncmp(suffix, word, length) != 0 || (suffix[length] != '\0' && suffix[length] != '.')) continue;
            seed->main = i;
            return;
        }
    }
    seed->main = 0;
}

static bool load(corpus *all, const td_format *format)
{
    all->count = 0;
    if (!load_folder(all, format->name)) return false;
    if (format->write != NULL && !write_seeds(all, format)) return false;
    for (int i = 0; i < all->count; i++) choose_main(&all->seeds[i], format->suffixes);
    if (all->count == 0) fprintf(stderr, "fuzz: no seeds for the format %s in %s\n", format->name, FUZZ_CORPUS);
    return all->count > 0;
}

/* Attempt 0 .. count - 1 are the seeds as they are, which must be graphs. */
static bool try_one(const corpus *all, fuzz_seed *work, const td_format *format, const options *given, uint64_t attempt,
                    td_pool *pool, uint64_t *graphs)
{
    int count = all->count;
    bool original = attempt < (uint64_t)count, made = false;
    snprintf(repeat_line, sizeof repeat_line, "fuzz: repeat with --format %s --seed %llu --first %llu --attempts 1\n",
             format->name, (unsigned long long)given->seed, (unsigned long long)attempt);
    fuzz_limit(HANG_SECONDS);
    fuzz_copy(work, &all->seeds[attempt % (uint64_t)count]);
    if (!original) fuzz_mutate(work, &all->seeds[attempt / 3 % (uint64_t)count], given->seed, attempt);
    bool fine = fuzz_attempt(work, format, !original && attempt % 8 == 7, attempt % 2 == 0 ? pool : NULL, &made);
    *graphs += made;
    if (original && !made && strstr(td_last_message(), "built without") == NULL) {
        fprintf(stderr, "fuzz: the seed '%s' is no graph: %s\n", work->stem, td_last_message());
        fine = false;
    }
    if (!fine) say_where();
    return fine;
}

static bool fuzz_format(corpus *all, fuzz_seed *work, const td_format *format, const options *given, td_pool *pool)
{
    if (!load(all, format)) return false;
    uint64_t tries = 0, graphs = 0;
    double start = fuzz_processor_seconds();
    bool fine = true;
    while (fine && (given->attempts == 0 || tries < given->attempts) &&
           (given->attempts != 0 || fuzz_processor_seconds() - start < (double)given->seconds)) {
        fine = try_one(all, work, format, given, given->first + tries, pool, &graphs);
        tries++;
    }
    printf("%s %s: %llu attempts on %d seeds, %llu of them graphs\n", fine ? "ok  " : "FAIL", format->name,
           (unsigned long long)tries, all->count, (unsigned long long)graphs);
    fflush(stdout);
    return fine;
}

static bool parse(int argc, char **argv, options *given)
{
    *given = (options){.seconds = 1, .seed = 1};
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t *number = strcmp(argv[i], "--seconds") == 0    ? &given->seconds
                           : strcmp(argv[i], "--seed") == 0     ? &given->seed
                           : strcmp(argv[i], "--first") == 0    ? &given->first
                           : strcmp(argv[i], "--attempts") == 0 ? &given->attempts
                                                                : NULL;
        if (strcmp(argv[i], "--format") == 0)
            given->format = argv[i + 1];
        else if (number == NULL || td_parse_u64(argv[i + 1], number) != TD_OK)
            return false;
    }
    return argc % 2 == 1 && (given->format == NULL || td_format_named(given->format) != NULL);
}

int main(int argc, char **argv)
{
    options given;
    if (!parse(argc, argv, &given)) {
        fprintf(stderr, "usage: fuzz_readers [--seconds S] [--format NAME] [--seed N] [--first I] [--attempts K]\n");
        return 2;
    }
    td_pool *pool = NULL;
    corpus all = {.seeds = calloc(SEEDS, sizeof *all.seeds)};
    fuzz_seed *work = malloc(sizeof *work);
    bool fine = all.seeds != NULL && work != NULL && fuzz_open_folder() && td_pool_create(&pool, 2) == TD_OK;
    td_log_set_level(TD_LOG_QUIET);
    watch_for_death();
    for (int i = 0; fine && td_formats[i] != NULL; i++)
        if (given.format == NULL || td_format_named(given.format) == td_formats[i])
            fine = fuzz_format(&all, work, td_formats[i], &given, pool);
    td_pool_destroy(pool);
    fuzz_close_folder();
    free(all.seeds);
    free(work);
    return fine ? 0 : 1;
}
