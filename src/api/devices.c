/* A survey: the devices of this machine, their measured rates and those of the links between them. */
#include "api/session.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/machine.h"
#include "device/cpu/rates.h"
#include "device/cuda/rates.h"
#include "device/emulator/emulator.h"
#include "device/kinds.h"
#include "device/links.h"

#include <stdio.h>
#include <string.h>

enum { NO_PEER = -1 };

typedef struct rate {
    const char *name;
    double value;
    uint64_t range;
    int peer; /* number of an emulated GPU, or NO_PEER */
} rate;

typedef struct surveyed {
    char name[48];
    int threads; /* 0: a GPU */
    td_device_properties properties;
    uint64_t limit;
    int number; /* among the emulated GPUs, or NO_PEER for others */
    rate *rates;
    int rate_count;
} surveyed;

struct td_survey {
    td_survey_options options;
    surveyed *devices;
    int device_count;
    td_link_matrix links;
    char no_gpu[TD_MESSAGE_BYTES];
};

typedef struct named_rate {
    const char *name;
    size_t at; /* in td_gpu_rates */
} named_rate;

static const named_rate gpu_rates[] = {
    {"read_bytes_per_second", offsetof(td_gpu_rates, read)},
    {"copy_bytes_per_second", offsetof(td_gpu_rates, copy)},
    {"pinned_to_device_bytes_per_second", offsetof(td_gpu_rates, to_device)},
    {"pinned_to_host_bytes_per_second", offsetof(td_gpu_rates, to_host)},
    {"pinned_both_ways_bytes_per_second", offsetof(td_gpu_rates, both_ways)},
    {"pageable_to_device_bytes_per_second", offsetof(td_gpu_rates, pageable_to_device)},
    {"pageable_to_host_bytes_per_second", offsetof(td_gpu_rates, pageable_to_host)},
    {"small_to_device_seconds", offsetof(td_gpu_rates, small_to_device)},
    {"small_to_host_seconds", offsetof(td_gpu_rates, small_to_host)},
    {"launch_seconds", offsetof(td_gpu_rates, launch)},
    {"launch_finish_seconds", offsetof(td_gpu_rates, launch_synchronize)},
    {"grid_barrier_seconds", offsetof(td_gpu_rates, grid_barrier)},
    {"host_read_bytes_per_second", offsetof(td_gpu_rates, host_read)},
};

static td_status new_device(td_survey *self, const char *name, surveyed **out)
{
    TD_CHECK(TD_RESIZE(&self->devices, (uint64_t)self->device_count + 1, "survey of devices"));
    *out = &self->devices[self->device_count++];
    **out = (surveyed){.number = NO_PEER};
    snprintf((*out)->name, sizeof (*out)->name, "%s", name);
    return TD_OK;
}

/* A rate that is not positive is unknown. */
static td_status put(surveyed *device, const char *name, double value, uint64_t range, int peer)
{
    if (value <= 0) return TD_OK;
    TD_CHECK(TD_RESIZE(&device->rates, (uint64_t)device->rate_count + 1, "rates of a device"));
    device->rates[device->rate_count++] = (rate){name, value, range, peer};
    return TD_OK;
}

static td_status put_cpu(surveyed *device, const td_cpu_rates *rates)
{
    device->threads = rates->threads;
    TD_CHECK(put(device, "copy_bytes_per_second", rates->copy, 0, NO_PEER));
    TD_CHECK(put(device, "read_bytes_per_second", rates->read, 0, NO_PEER));
    for (int i = 0; i < rates->gather_count; i++) {
        const td_gather_rate *gather = &rates->gather[i];
        TD_CHECK(put(device, "small_pages_per_second", gather->small_pages, gather->range, NO_PEER));
        TD_CHECK(put(device, "huge_pages_per_second", gather->huge_pages, gather->range, NO_PEER));
    }
    return TD_OK;
}

static td_status survey_threads(td_survey *self, td_pool *pool)
{
    surveyed *device;
    td_cpu_rates rates;
    td_progress_text("measuring memory with %d threads", td_pool_threads(pool));
    TD_CHECK(td_cpu_measure(pool, self->options.largest, &rates));
    TD_CHECK(new_device(self, "cpu", &device));
    return put_cpu(device, &rates);
}

/* With one thread and with all. */
static td_status survey_cpu(td_survey *self, td_pool *pool)
{
    td_pool *one = NULL;
    if (td_pool_threads(pool) == 1) return survey_threads(self, pool);
    TD_CHECK(td_pool_create(&one, 1));
    td_status status = survey_threads(self, one);
    td_pool_destroy(one);
    return status == TD_OK ? survey_threads(self, pool) : status;
}

/* The rates that an emulated GPU's topology states. */
static td_gpu_rates modelled_rates(const td_emulator *emulator)
{
    const td_topology *topology = &emulator->world->topology;
    const td_gpu_model *gpu = &topology->gpu[emulator->number];
    int link = topology->host_link[emulator->number];
    double to = topology->to_device[link].rate * 1e9, back = topology->to_host[link].rate * 1e9;
    return (td_gpu_rates){
        .read = gpu->memory_rate * 1e9, .copy = gpu->memory_rate * 1e9, .to_device = to, .to_host = back,
        .pageable_to_device = to * topology->pageable_share, .pageable_to_host = back * topology->pageable_share,
        .launch = gpu->launch_ns * 1e-9, .launch_synchronize = (gpu->launch_ns + gpu->synchronize_ns) * 1e-9,
        .grid_barrier = gpu->grid_barrier_ns * 1e-9, .host_read = to};
}

static td_status put_peers(surveyed *device, const td_emulator *emulator)
{
    for (int i = 0; i < emulator->world->open; i++)
        if (i != emulator->number)
            TD_CHECK(put(device, "link_bytes_per_second",
                         emulator->world->topology.between[emulator->number][i].rate * 1e9, 0, i));
    return TD_OK;
}

static td_status put_gpu(surveyed *device, const td_gpu_rates *rates)
{
    for (size_t i = 0; i < sizeof gpu_rates / sizeof *gpu_rates; i++) {
        const double *value = (const void *)((const char *)rates + gpu_rates[i].at);
        TD_CHECK(put(device, gpu_rates[i].name, *value, 0, NO_PEER));
    }
    for (int i = 0; i < rates->host_random_count; i++)
        TD_CHECK(put(device, "host_random_bytes_per_second", rates->host_random[i].rate, rates->host_random[i].range,
                     NO_PEER));
    return TD_OK;
}

static td_status survey_gpu(td_survey *self, td_device *gpu)
{
    surveyed *device;
    td_gpu_rates rates;
    const td_emulator *emulator = gpu->kind == TD_DEVICE_EMULATOR ? gpu->state : NULL;
    td_progress_text("measuring %s", gpu->name);
    if (emulator != NULL) rates = modelled_rates(emulator);
    else TD_CHECK(td_cuda_measure(gpu, self->options.largest, &rates));
    TD_CHECK(new_device(self, gpu->name, &device));
    device->properties = gpu->properties;
    device->limit = gpu->budget;
    TD_CHECK(put_gpu(device, &rates));
    if (emulator == NULL) return TD_OK;
    device->number = emulator->number;
    return put_peers(device, emulator);
}

static td_status survey_links(td_survey *self, td_device *devices)
{
    td_progress_text("measuring links");
    return td_links_measure(devices, &self->links);
}

static td_status survey_list(td_survey *self, const char *list, bool links, td_pool *pool)
{
    td_status status = TD_OK;
    td_loop *loop = NULL;
    td_device *devices = NULL;
    TD_CHECK(td_loop_create(&loop));
    TD_TRY(td_devices_open(&devices, list, &(td_device_options){.loop = loop, .gpu_memory = self->options.gpu_memory}));
    for (td_device *device = devices; device != NULL; device = device->next)
        TD_TRY(device->kind == TD_DEVICE_CPU ? survey_cpu(self, pool) : survey_gpu(self, device));
    if (links) TD_TRY(survey_links(self, devices));
done:
    td_devices_close(devices);
    td_loop_destroy(loop);
    return status;
}

/* A GPU that cannot be used is reported, but is no failure. */
static td_status survey_all(td_survey *self, td_pool *pool)
{
    const char *why;
    TD_CHECK(survey_cpu(self, pool));
    if (!td_device_kind_present(TD_DEVICE_CUDA, &why)) snprintf(self->no_gpu, sizeof self->no_gpu, "none: %s", why);
    for (int i = 0; i < td_cuda_count(); i++) {
        char name[32];
        snprintf(name, sizeof name, "cuda:%d", i);
        td_status status = survey_list(self, name, false, pool);
        if (status == TD_CANCELLED || status == TD_INTERNAL) return status;
        if (status != TD_OK) snprintf(self->no_gpu, sizeof self->no_gpu, "%s", td_last_message());
    }
    return TD_OK;
}

static td_status survey(td_survey *self, const td_survey_options *given, td_pool *pool)
{
    td_survey_options *options = &self->options;
    TD_CHECK(td_struct_take(options, sizeof *options, given, "td_survey_options"));
    if (options->largest == 0) options->largest = TD_CPU_MEASURE_LARGEST;
    if (options->links && options->devices == NULL)
        return td_fail(TD_USAGE, "td_survey_options.links: links are measured between the devices of a list");
    if (options->devices == NULL) return survey_all(self, pool);
    TD_CHECK(td_devices_check(options->devices));
    return survey_list(self, options->devices, options->links, pool);
}

td_status td_session_survey(td_session *session, const td_survey_options *options, td_survey **out)
{
    td_survey *self = NULL;
    TD_CHECK(td_need(out, "the place for the survey"));
    TD_CHECK(td_session_enter(session));
    td_status status = TD_NEW_ZEROED(&self, 1, "survey of devices");
    if (status == TD_OK) status = survey(self, options, session->pool);
    td_progress_end();
    td_session_leave(session);
    if (status == TD_OK) *out = self;
    else td_survey_destroy(self);
    return status;
}

void td_survey_destroy(td_survey *survey)
{
    if (survey == NULL) return;
    for (int i = 0; i < survey->device_count; i++) td_free(survey->devices[i].rates);
    td_free(survey->devices);
    td_links_free(&survey->links);
    td_free(survey);
}

const char *td_survey_no_gpu(const td_survey *survey)
{
    return survey != NULL && survey->no_gpu[0] != '\0' ? survey->no_gpu : NULL;
}

td_status td_survey_device(const td_survey *survey, int index, td_surveyed_device *out)
{
    TD_CHECK(td_need(survey, "the survey"));
    if (index < 0 || index >= survey->device_count)
        return td_fail(TD_NOT_FOUND, "the survey has no device %d", index);
    const surveyed *device = &survey->devices[index];
    const td_device_properties *p = &device->properties;
    td_surveyed_device found = {.name = device->name, .threads = device->threads, .model = p->model,
                                .modelled = device->number != NO_PEER, .multiprocessors = p->multiprocessors,
                                .memory = p->memory, .memory_free = p->memory_free, .memory_limit = device->limit,
                                .cache_bytes = p->cache, .shared_bytes = p->shared_bytes,
                                .cooperative = p->cooperative, .reads_host = p->reads_host};
    return td_struct_give(out, &found, sizeof found, "td_surveyed_device");
}

/* The name of an emulated GPU; all of a topology's that are open are in the survey. */
static const char *peer_name(const td_survey *survey, int number)
{
    for (int i = 0; i < survey->device_count; i++)
        if (number != NO_PEER && survey->devices[i].number == number) return survey->devices[i].name;
    return NULL;
}

bool td_survey_rate(const td_survey *survey, int device, int index, td_rate *out)
{
    if (survey == NULL || out == NULL || device < 0 || device >= survey->device_count || index < 0) return false;
    const surveyed *of = &survey->devices[device];
    if (index >= of->rate_count) return false;
    const rate *found = &of->rates[index];
    *out = (td_rate){.name = found->name, .value = found->value, .range = found->range,
                     .peer = peer_name(survey, found->peer)};
    return true;
}

int td_survey_places(const td_survey *survey) { return survey != NULL ? survey->links.count : 0; }

const char *td_survey_place(const td_survey *survey, int place)
{
    return place >= 0 && place < td_survey_places(survey) ? survey->links.names[place] : NULL;
}

td_status td_survey_link(const td_survey *survey, int from, int to, td_link_facts *out)
{
    TD_CHECK(td_need(survey, "the survey"));
    if (td_survey_place(survey, from) == NULL || td_survey_place(survey, to) == NULL)
        return td_fail(TD_NOT_FOUND, "the survey has no link from place %d to place %d", from, to);
    const td_measured_link *link = td_links_at(&survey->links, from, to);
    td_link_facts found = {.rate = link->rate, .latency = link->latency, .direct = link->direct,
                           .same_memory = link->same_memory};
    return td_struct_give(out, &found, sizeof found, "td_link_facts");
}
