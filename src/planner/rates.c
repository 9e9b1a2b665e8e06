#include "planner/rates.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/outfile.h"
#include "base/size.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 256, MOST_RATES = 96, NAME = 64 };
static const char title[] = "tandem-rates 1";

/* Work that is bound by memory gains less than the cores that are added: 8 times the threads, 4 times the rate
 * (docs/lab/answer.md). */
static const double SCALING = 0.67;

typedef void (*each_fn)(void *context, const char *name, double *rate);

static void each_work(const char *device, td_work_rate rates[TD_WORKLOADS], each_fn each, void *context)
{
    char name[NAME];
    for (int work = 0; work < TD_WORKLOADS; work++) {
        double *const of[] = {&rates[work].vertex, &rates[work].edge, &rates[work].round};
        static const char *const parts[] = {"vertex", "edge", "round"};
        for (int i = 0; i < 3; i++) {
            snprintf(name, sizeof name, "%s.%s.%s", device, td_workload_name((td_workload)work), parts[i]);
            each(context, name, of[i]);
        }
    }
}

/* The rates of the CPU, then those of a GPU. */
static void each_cpu(td_rates *rates, each_fn each, void *context)
{
    each(context, "start", &rates->start);
    each(context, "load", &rates->load);
    each(context, "parse", &rates->parse);
    each(context, "settle", &rates->settle);
    each(context, "finish", &rates->finish);
    each(context, "groups", &rates->groups);
    each(context, "forest", &rates->forest);
    each_work("cpu", rates->cpu, each, context);
}

static void each_gpu(td_rates *rates, each_fn each, void *context)
{
    char name[NAME];
    each(context, "context", &rates->context);
    each(context, "kernels", &rates->kernels);
    each(context, "close", &rates->close);
    each(context, "upload", &rates->upload);
    each(context, "link", &rates->link);
    for (int work = 0; work < TD_WORKLOADS; work++) {
        snprintf(name, sizeof name, "tables.%s", td_workload_name((td_workload)work));
        each(context, name, &rates->tables[work]);
    }
    each_work("gpu", rates->gpu, each, context);
}

void td_rates_each(td_rates *rates, each_fn each, void *context)
{
    each_cpu(rates, each, context);
    each_gpu(rates, each, context);
}

void td_rates_scale(td_rates *rates, int threads)
{
    if (threads < 1 || threads == rates->threads) return;
    double slower = pow((double)rates->threads / threads, SCALING);
    double *const times[] = {&rates->settle, &rates->finish, &rates->groups, &rates->forest};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) *times[i] *= slower;
    rates->load /= slower;
    rates->parse /= slower;
    for (int work = 0; work < TD_WORKLOADS; work++) {
        rates->cpu[work].vertex *= slower;
        rates->cpu[work].edge *= slower;
    }
    rates->threads = threads;
}

uint64_t td_rates_machine(int threads)
{
    char text[TD_MACHINE_TEXT + 32] = "", processor[TD_MACHINE_TEXT];
    td_machine_processor(processor);
    snprintf(text, sizeof text, "%s, %d", processor, threads);
    return td_hash64(text, strlen(text));
}

bool td_rates_path(char path[TD_DATA_PATH])
{
    char folder[TD_DATA_PATH];
    if (!td_data_own(folder)) return false;
    return snprintf(path, TD_DATA_PATH, "%s/machine-%016" PRIx64 ".rates", folder,
                    td_rates_machine(td_machine_usable())) < TD_DATA_PATH;
}

/* Writing. */

typedef struct writer {
    td_outfile *file;
    td_status status;
} writer;

static void write_rate(void *context, const char *name, double *rate)
{
    writer *self = context;
    if (self->status == TD_OK) self->status = td_outfile_print(self->file, "%s %.9g\n", name, *rate);
}

td_status td_rates_write(const td_rates *rates, const char *path)
{
    char processor[TD_MACHINE_TEXT];
    td_rates copy = *rates;
    writer self = {0};
    td_machine_processor(processor);
    TD_CHECK(td_outfile_create(&self.file, path, TD_OUT_TEXT));
    self.status = td_outfile_print(self.file, "%s\nprocessor %s\nthreads %d\n", title, processor, rates->threads);
    each_cpu(&copy, write_rate, &self);
    if (rates->gpu_measured) each_gpu(&copy, write_rate, &self);
    if (self.status == TD_OK) self.status = td_outfile_print(self.file, "end\n");
    if (self.status == TD_OK) self.status = td_outfile_commit(self.file);
    td_outfile_close(self.file);
    return self.status;
}

/* Reading. */

typedef struct lookup {
    const char *name;
    double *found;
} lookup;

static void match(void *context, const char *name, double *rate)
{
    lookup *self = context;
    if (strcmp(name, self->name) == 0) self->found = rate;
}

/* Rates are seconds of small things or bytes per second: beyond these a file is damaged. */
static bool is_rate(double value) { return isfinite(value) && value >= 0 && value < 1e15; }

static bool divides(const td_rates *rates, const double *rate)
{
    return rate == &rates->load || rate == &rates->parse || rate == &rates->upload || rate == &rates->link;
}

/* "name number"; *seen counts the CPU's and the GPU's. */
static td_status take_line(td_rates *rates, char *line, const char *path, int number, int seen[2])
{
    char *blank = strchr(line, ' ');
    double value;
    uint64_t threads;
    if (strncmp(line, "processor ", 10) == 0) return TD_OK;
    if (blank == NULL) return td_fail(TD_FORMAT, "%s:%d: '%.40s' is no rate", path, number, line);
    *blank = '\0';
    if (strcmp(line, "threads") == 0) {
        if (td_parse_u64(blank + 1, &threads) != TD_OK || threads < 1 || threads > 65536)
            return td_fail(TD_FORMAT, "%s:%d: '%.40s' is no number of threads", path, number, blank + 1);
        rates->threads = (int)threads;
        return TD_OK;
    }
    lookup self = {.name = line};
    each_cpu(rates, match, &self);
    bool gpu = self.found == NULL;
    if (gpu) each_gpu(rates, match, &self);
    if (self.found == NULL) return td_fail(TD_FORMAT, "%s:%d: there is no rate '%.40s'", path, number, line);
    if (td_parse_double(blank + 1, &value) != TD_OK || !is_rate(value) || (value <= 0 && divides(rates, self.found)))
        return td_fail(TD_FORMAT, "%s:%d: '%.40s' is no value of %s", path, number, blank + 1, line);
    *self.found = value;
    seen[gpu]++;
    return TD_OK;
}

static void count(void *context, const char *name, double *rate)
{
    (void)name, (void)rate;
    ++*(int *)context;
}

static td_status read_lines(td_rates *out, FILE *file, const char *path)
{
    char line[LINE];
    int number = 0, seen[2] = {0}, wanted[2] = {0};
    bool ended = false;
    while (!ended && number < 2 * MOST_RATES && fgets(line, sizeof line, file) != NULL) {
        number++;
        line[strcspn(line, "\n")] = '\0';
        ended = strcmp(line, "end") == 0;
        if (ended) break;
        if (number == 1 && strcmp(line, title) != 0)
            return td_fail(TD_FORMAT, "%s:1: '%.40s' is not '%s'", path, line, title);
        if (number > 1) TD_CHECK(take_line(out, line, path, number, seen));
    }
    each_cpu(out, count, &wanted[0]);
    each_gpu(out, count, &wanted[1]);
    if (!ended || seen[0] != wanted[0] || (seen[1] != 0 && seen[1] != wanted[1]))
        return td_fail(TD_FORMAT, "%s:%d: ends before all rates are given", path, number);
    out->cpu_measured = true;
    out->gpu_measured = seen[1] > 0;
    return TD_OK;
}

td_status td_rates_read(td_rates *out, const char *path)
{
    td_rates found = td_rates_default;
    FILE *file = fopen(path, "re");
    if (file == NULL) return td_fail_errno(errno == ENOENT ? TD_NOT_FOUND : TD_IO, errno, "cannot read %s", path);
    td_status status = read_lines(&found, file, path);
    fclose(file);
    if (status == TD_OK) *out = found;
    return status;
}

void td_rates_find(td_rates *out, int threads)
{
    char path[TD_DATA_PATH];
    td_failure before;
    *out = td_rates_default;
    td_failure_keep(&before);
    if (td_rates_path(path)) {
        td_status status = td_rates_read(out, path);
        if (status != TD_OK && status != TD_NOT_FOUND)
            td_warn("%s; 'tandem calibrate' measures the rates again", td_last_message());
    }
    td_failure_set(&before);
    td_rates_scale(out, threads);
}
