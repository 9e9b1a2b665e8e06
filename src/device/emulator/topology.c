/* Topology files, as docs/guide/topologies.md describes them: a line is a word and its
 * values; lines about GPUs are about those selected last, at first about all. */
#include "device/emulator/model.h"

#include "base/data_files.h"
#include "base/size.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 512, MOST_WORDS = 16 };

static const td_gpu_model plain_gpu = {
    .model = "emulated GPU", .memory = UINT64_C(16) << 30, .cache = UINT64_C(4) << 20, .shared_bytes = 48 << 10,
    .multiprocessors = 4, .block_threads = 1024, .resident_threads = 512, .memory_rate = 500, .operation_rate = 32,
    .atomic_rate = 4, .launch_ns = 4000, .synchronize_ns = 5000, .grid_barrier_ns = 1000,
    .set_barrier_ns = 2000};

void td_topology_default(td_topology *out)
{
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "plain");
    out->devices = TD_EMULATED_DEVICES;
    out->races = true;
    out->patience = UINT64_C(1) << 32;
    out->pageable_share = 0.25;
    out->gather_rate = 8;
    for (int i = 0; i < TD_EMULATED_DEVICES; i++) {
        out->gpu[i] = plain_gpu;
        out->slices[i] = 1;
        out->first_slice[i] = out->host_link[i] = i;
        out->to_device[i] = out->to_host[i] = (td_link_model){.rate = 12, .latency_ns = 6000};
    }
}

typedef struct reading {
    const char *path;
    int line;
    td_topology *topology;
    int first, last; /* the selected GPUs */
    int slices_line[TD_EMULATED_DEVICES]; /* by the first slice of a GPU: the line that divides it */
    int words;
    char *word[MOST_WORDS];
} reading;

static td_status wrong(const reading *r, const char *what, const char *seen, const char *wanted)
{
    return td_fail(TD_FORMAT, "%s:%d: %s is '%s'; %s", r->path, r->line, what, seen, wanted);
}

/* Values. */

typedef struct unit {
    const char *suffix;
    double factor;
} unit;

static const unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {NULL, 0}};
static const unit byte_rates[] = {{"MB/s", 1e-3}, {"GB/s", 1}, {"TB/s", 1e3}, {NULL, 0}};
static const unit rates[] = {{"M/s", 1e-3}, {"G/s", 1}, {"T/s", 1e3}, {NULL, 0}};

static td_status read_quantity(const reading *r, const char *text, const unit *units, const char *example, double *out)
{
    char digits[64];
    double value = 0;
    size_t length = strspn(text, "0123456789.");
    for (; units->suffix != NULL && strcmp(text + length, units->suffix) != 0; units++) {}
    snprintf(digits, sizeof digits, "%.*s", (int)(length < 60 ? length : 60), text);
    if (units->suffix == NULL || td_parse_double(digits, &value) != TD_OK || value <= 0 || value > 1e9)
        return wrong(r, r->word[0], text, example);
    *out = value * units->factor;
    return TD_OK;
}

static td_status read_time(const reading *r, const char *text, double *out)
{
    return read_quantity(r, text, times, "a time is written 3.9us", out);
}

static td_status read_byte_rate(const reading *r, const char *text, double *out)
{
    return read_quantity(r, text, byte_rates, "a rate is written 54.7GB/s", out);
}

static td_status read_whole(const reading *r, const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
    char allowed[64];
    snprintf(allowed, sizeof allowed, "%llu to %llu are allowed", (unsigned long long)least, (unsigned long long)most);
    if (td_parse_size(text, out) != TD_OK || *out < least || *out > most) return wrong(r, r->word[0], text, allowed);
    return TD_OK;
}

static td_status read_gpu(const reading *r, const char *text, int *out)
{
    uint64_t value = 0;
    if (td_parse_u64(text, &value) != TD_OK || value >= (uint64_t)r->topology->devices)
        return wrong(r, "a GPU's number", text, "GPUs are counted from 0 to one less than the line 'gpus' says");
    *out = (int)value;
    return TD_OK;
}

/* "3", "0-3" or "all". */
static td_status read_gpus(const reading *r, char *text, int *first, int *last)
{
    *first = 0;
    *last = r->topology->devices - 1;
    if (strcmp(text, "all") == 0) return TD_OK;
    char *dash = strchr(text, '-');
    if (dash != NULL) *dash = '\0';
    TD_CHECK(read_gpu(r, text, first));
    TD_CHECK(read_gpu(r, dash != NULL ? dash + 1 : text, last));
    if (*first > *last) return wrong(r, "the last GPU", dash + 1, "it comes before the first");
    return TD_OK;
}

/* Lines about GPUs: the field of a value, and its range. */

typedef enum value_kind { SIZE, COUNT, BYTE_RATE, RATE, TIME } value_kind;

static const struct gpu_field {
    const char *word;
    value_kind kind;
    size_t offset;
    uint64_t least, most; /* of sizes and counts */
} gpu_fields[] = {
    {"memory", SIZE, offsetof(td_gpu_model, memory), 1 << 20, UINT64_C(1) << 46},
    {"cache", SIZE, offsetof(td_gpu_model, cache), 1, UINT64_C(1) << 40},
    {"shared", SIZE, offsetof(td_gpu_model, shared_bytes), 1 << 10, 1 << 24},
    {"multiprocessors", COUNT, offsetof(td_gpu_model, multiprocessors), 1, 4096},
    {"block-threads", COUNT, offsetof(td_gpu_model, block_threads), 32, 1024},
    {"cluster", COUNT, offsetof(td_gpu_model, cluster), 1, 16},
    {"resident-threads", COUNT, offsetof(td_gpu_model, resident_threads), 32, 65536},
    {"memory-rate", BYTE_RATE, offsetof(td_gpu_model, memory_rate), 0, 0},
    {"operation-rate", RATE, offsetof(td_gpu_model, operation_rate), 0, 0},
    {"atomic-rate", RATE, offsetof(td_gpu_model, atomic_rate), 0, 0},
    {"launch", TIME, offsetof(td_gpu_model, launch_ns), 0, 0},
    {"finish", TIME, offsetof(td_gpu_model, synchronize_ns), 0, 0},
    {"grid-barrier", TIME, offsetof(td_gpu_model, grid_barrier_ns), 0, 0},
    {"set-barrier", TIME, offsetof(td_gpu_model, set_barrier_ns), 0, 0},
};

static td_status read_field(const reading *r, const struct gpu_field *field, td_gpu_model *gpu)
{
    void *to = (char *)gpu + field->offset;
    uint64_t whole = 0;
    switch (field->kind) {
    case BYTE_RATE: return read_byte_rate(r, r->word[1], to);
    case RATE: return read_quantity(r, r->word[1], rates, "a rate is written 2G/s", to);
    case TIME: return read_time(r, r->word[1], to);
    case SIZE: return read_whole(r, r->word[1], field->least, field->most, to);
    case COUNT: break;
    }
    TD_CHECK(read_whole(r, r->word[1], field->least, field->most, &whole));
    *(uint32_t *)to = (uint32_t)whole;
    return TD_OK;
}

/* Other lines. */

static td_status line_model(reading *r)
{
    for (int gpu = r->first; gpu <= r->last; gpu++) {
        char *to = r->topology->gpu[gpu].model;
        size_t used = 0, room = sizeof r->topology->gpu[gpu].model;
        for (int i = 1; i < r->words && used < room; i++)
            used += (size_t)snprintf(to + used, room - used, "%s%s", i > 1 ? " " : "", r->word[i]);
    }
    return TD_OK;
}

static td_status line_gpus(reading *r)
{
    uint64_t count = 0;
    TD_CHECK(read_whole(r, r->word[1], 1, TD_EMULATED_DEVICES, &count));
    for (int i = 0; i < TD_EMULATED_DEVICES; i++)
        if (r->slices_line[i] > 0)
            return td_fail(TD_FORMAT, "%s:%d: 'gpus' comes behind 'slices' of line %d; it must come first", r->path, r->line,
                           r->slices_line[i]);
    r->topology->devices = (int)count;
    r->last = r->topology->devices - 1;
    return TD_OK;
}

static td_status line_select(reading *r) { return read_gpus(r, r->word[1], &r->first, &r->last); }

/* host-link GPUS TO-DEVICE TO-HOST LATENCY: one link, which those GPUs share; of "each": one for every GPU */
static td_status line_host_link(reading *r)
{
    int first = 0, last = r->topology->devices - 1;
    bool each = strcmp(r->word[1], "each") == 0;
    td_link_model to = {0}, back = {0};
    if (!each) TD_CHECK(read_gpus(r, r->word[1], &first, &last));
    TD_CHECK(read_byte_rate(r, r->word[2], &to.rate));
    TD_CHECK(read_byte_rate(r, r->word[3], &back.rate));
    TD_CHECK(read_time(r, r->word[4], &to.latency_ns));
    back.latency_ns = to.latency_ns;
    for (int i = first; i <= last; i++) {
        r->topology->host_link[i] = each ? i : first;
        r->topology->to_device[i] = to;
        r->topology->to_host[i] = back;
    }
    return TD_OK;
}

/* `line` is that of the link, or of the slices. */
static td_status link_inside(const reading *r, int line, int a, int b)
{
    return td_fail(TD_FORMAT, "%s:%d: a link joins %d and %d, which are slices of one GPU: they have the same memory; omit "
                   "the link", r->path, line, a, b);
}

/* link GPU GPU RATE LATENCY: the same both ways */
static td_status line_link(reading *r)
{
    int a = 0, b = 0;
    td_link_model link = {0};
    TD_CHECK(read_gpu(r, r->word[1], &a));
    TD_CHECK(read_gpu(r, r->word[2], &b));
    TD_CHECK(read_byte_rate(r, r->word[3], &link.rate));
    TD_CHECK(read_time(r, r->word[4], &link.latency_ns));
    if (a == b) return wrong(r, "the other end of a link", r->word[2], "it is another GPU");
    if (td_topology_same_memory(r->topology, a, b)) return link_inside(r, r->line, a, b);
    r->topology->between[a][b] = r->topology->between[b][a] = link;
    return TD_OK;
}

/* slices GPUS: these are slices of one GPU */
static td_status line_slices(reading *r)
{
    td_topology *topology = r->topology;
    int first = 0, last = 0;
    char name[32];
    snprintf(name, sizeof name, "%s", r->word[1]); /* read_gpus divides the word */
    TD_CHECK(read_gpus(r, r->word[1], &first, &last));
    if (first == last) return wrong(r, r->word[0], name, "a GPU is divided into two slices at least, written 0-7 or all");
    for (int i = first; i <= last; i++)
        if (topology->slices[i] > 1)
            return td_fail(TD_FORMAT, "%s:%d: %d is a slice of two GPUs; line %d made it one of the first", r->path, r->line,
                           i, r->slices_line[topology->first_slice[i]]);
    for (int i = first; i <= last; i++) {
        topology->first_slice[i] = first;
        topology->slices[i] = last - first + 1;
    }
    r->slices_line[first] = r->line;
    return TD_OK;
}

static td_status line_pageable(reading *r)
{
    double share = 0;
    if (td_parse_double(r->word[1], &share) != TD_OK || !(share > 0 && share <= 1))
        return wrong(r, r->word[0], r->word[1], "a share of the host link's rate above 0, up to 1, is needed");
    r->topology->pageable_share = share;
    return TD_OK;
}

static td_status line_gather(reading *r) { return read_byte_rate(r, r->word[1], &r->topology->gather_rate); }

static td_status line_check(reading *r)
{
    bool on = strcmp(r->word[1], "on") == 0;
    if (!on && strcmp(r->word[1], "off") != 0) return wrong(r, r->word[0], r->word[1], "there are on and off");
    r->topology->races = on;
    return TD_OK;
}

static td_status line_rates(reading *r)
{
    bool hidden = strcmp(r->word[1], "hidden") == 0;
    if (!hidden && strcmp(r->word[1], "known") != 0) return wrong(r, r->word[0], r->word[1], "there are known and hidden");
    r->topology->hides_rates = hidden;
    return TD_OK;
}

static td_status line_patience(reading *r)
{
    return read_whole(r, r->word[1], 1 << 20, UINT64_C(1) << 48, &r->topology->patience);
}

static td_status line_remote_delay(reading *r)
{
    uint64_t loads = 0;
    TD_CHECK(read_whole(r, r->word[1], 0, 1 << 20, &loads));
    r->topology->remote_delay = (uint32_t)loads;
    return TD_OK;
}

static const struct {
    const char *word;
    int least, most; /* values */
    td_status (*read)(reading *r);
} lines[] = {
    {"gpus", 1, 1, line_gpus}, {"gpu", 1, 1, line_select}, {"model", 1, MOST_WORDS - 1, line_model},
    {"host-link", 4, 4, line_host_link}, {"link", 4, 4, line_link}, {"slices", 1, 1, line_slices}, {"pageable", 1, 1, line_pageable},
    {"host-gather", 1, 1, line_gather},
    {"check", 1, 1, line_check}, {"link-rates", 1, 1, line_rates}, {"patience", 1, 1, line_patience},
    {"remote-delay", 1, 1, line_remote_delay},
};

static td_status check_values(const reading *r, int least, int most)
{
    int values = r->words - 1;
    if (values >= least && values <= most) return TD_OK;
    return td_fail(TD_FORMAT, "%s:%d: '%s' has %d values; %d are needed", r->path, r->line, r->word[0], values, least);
}

static td_status split(reading *r, char *text)
{
    char *rest = NULL;
    text[strcspn(text, "#\r\n")] = '\0';
    r->words = 0;
    for (char *word = strtok_r(text, " \t", &rest); word != NULL; word = strtok_r(NULL, " \t", &rest)) {
        if (r->words == MOST_WORDS)
            return td_fail(TD_FORMAT, "%s:%d: more than %d words", r->path, r->line, MOST_WORDS);
        r->word[r->words++] = word;
    }
    return TD_OK;
}

static td_status read_line(reading *r, char *text)
{
    TD_CHECK(split(r, text));
    if (r->words == 0) return TD_OK;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (strcmp(lines[i].word, r->word[0]) != 0) continue;
        TD_CHECK(check_values(r, lines[i].least, lines[i].most));
        return lines[i].read(r);
    }
    for (size_t i = 0; i < sizeof gpu_fields / sizeof *gpu_fields; i++) {
        if (strcmp(gpu_fields[i].word, r->word[0]) != 0) continue;
        TD_CHECK(check_values(r, 1, 1));
        for (int gpu = r->first; gpu <= r->last; gpu++)
            TD_CHECK(read_field(r, &gpu_fields[i], &r->topology->gpu[gpu]));
        return TD_OK;
    }
    return td_fail(TD_FORMAT, "%s:%d: there is no '%s'; docs/guide/topologies.md lists what there is", r->path, r->line,
                   r->word[0]);
}

static td_status read_lines(reading *r, FILE *file)
{
    char text[LINE_BYTES];
    while (fgets(text, sizeof text, file) != NULL) {
        r->line++;
        if (strchr(text, '\n') == NULL && strlen(text) == sizeof text - 1)
            return td_fail(TD_FORMAT, "%s:%d: the line is longer than %d characters", r->path, r->line, LINE_BYTES - 2);
        TD_CHECK(read_line(r, text));
    }
    return ferror(file) ? td_fail_errno(TD_IO, errno, "%s", r->path) : TD_OK;
}

/* Slices. Properties of their GPU are the same in all of them. */

static td_status differ(const reading *r, int first, int slice, const char *what)
{
    return td_fail(TD_FORMAT, "%s:%d: %d and %d are slices of one GPU and have different values of '%s', which is the "
                   "GPU's: give it once for all of its slices", r->path, r->slices_line[first], first, slice, what);
}

static td_status check_slice(const reading *r, int first, int slice)
{
    const td_topology *topology = r->topology;
    const td_gpu_model *one = &topology->gpu[first], *other = &topology->gpu[slice];
    if (one->memory != other->memory) return differ(r, first, slice, "memory");
    if (one->cache != other->cache) return differ(r, first, slice, "cache");
    if (one->memory_rate != other->memory_rate) return differ(r, first, slice, "memory-rate");
    if (one->atomic_rate != other->atomic_rate) return differ(r, first, slice, "atomic-rate");
    if (topology->host_link[first] != topology->host_link[slice]) return differ(r, first, slice, "host-link");
    for (int i = first; i < slice; i++)
        if (topology->between[i][slice].rate > 0) return link_inside(r, r->slices_line[first], i, slice);
    return TD_OK;
}

/* The links of all slices of a GPU are one link. */
static void join_host_links(td_topology *topology, int first, int end)
{
    for (int i = first; i < end; i++)
        if (topology->host_link[i] != i) return;
    for (int i = first; i < end; i++) topology->host_link[i] = first;
}

/* A slice has an equal share of every rate that the slices have in common, whether the others use theirs or not. */
static td_status share_gpus(reading *r)
{
    td_topology *topology = r->topology;
    for (int first = 0; first < topology->devices; first += topology->slices[first]) {
        int slices = topology->slices[first];
        if (slices == 1) continue;
        join_host_links(topology, first, first + slices);
        for (int i = first + 1; i < first + slices; i++) TD_CHECK(check_slice(r, first, i));
        for (int i = first; i < first + slices; i++) {
            topology->gpu[i].memory_rate /= slices;
            topology->gpu[i].atomic_rate /= slices;
        }
    }
    return TD_OK;
}

static td_status read_file(td_topology *out, const char *path)
{
    reading r = {.path = path, .topology = out, .first = 0, .last = TD_EMULATED_DEVICES - 1};
    FILE *file = fopen(path, "r");
    if (file == NULL) return td_fail_errno(TD_IO, errno, "%s", path);
    td_status status = read_lines(&r, file);
    fclose(file);
    return status == TD_OK ? share_gpus(&r) : status;
}

td_status td_topology_open(td_topology *out, const char *name)
{
    char path[TD_DATA_PATH], file[128];
    td_topology_default(out);
    snprintf(out->name, sizeof out->name, "%s", name);
    if (strchr(name, '/') != NULL) return read_file(out, name);
    snprintf(file, sizeof file, "%s.topology", name);
    if (td_data_find(path, "topologies", file)) return read_file(out, path);
    return td_fail(TD_USAGE, "there is no topology '%s' in %s; a path to a file has a '/' in it", name,
                   td_data_places(path, "topologies"));
}
