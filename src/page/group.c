#include "page/group.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

static void add_row(td_page_group *group, const td_page_row *row)
{
    group->frontier = fmax(group->frontier, row->active_vertices);
    group->frontier_mean += row->active_vertices / group->count;
    group->edges += row->edges;
    group->edges_most = fmax(group->edges_most, row->edges);
    group->edges_mean += row->edges / group->count;
    group->moved += row->moved;
    group->useful += row->useful;
    group->seconds += row->seconds;
    group->end = fmax(group->end, row->start + row->seconds);
}

static int main_direction(const td_page_run *run, const td_page_group *group)
{
    double edges[TD_PAGE_DIRECTIONS] = {0};
    int best = run->rows[group->first].direction;
    for (uint32_t i = 0; i < group->count; i++) {
        const td_page_row *row = &run->rows[group->first + i];
        edges[row->direction] += row->edges;
        if (edges[row->direction] > edges[best]) best = row->direction;
    }
    return best;
}

static void fill(const td_page_run *run, td_page_group *group)
{
    group->begin = run->rows[group->first].start;
    for (uint32_t i = 0; i < group->count; i++) add_row(group, &run->rows[group->first + i]);
    group->direction = main_direction(run, group);
}

td_status td_page_groups_make(td_page_groups *groups, const td_page_run *run, uint32_t most)
{
    uint32_t rows = run->row_count;
    groups->size = rows > most ? (rows + most - 1) / most : 1;
    groups->count = (rows + groups->size - 1) / groups->size;
    TD_CHECK(TD_NEW_ZEROED(&groups->of, groups->count, "columns of a page"));
    for (uint32_t i = 0; i < groups->count; i++) {
        td_page_group *group = &groups->of[i];
        group->first = i * groups->size;
        group->count = rows - group->first < groups->size ? rows - group->first : groups->size;
        fill(run, group);
    }
    return TD_OK;
}

void td_page_groups_free(td_page_groups *groups)
{
    td_free(groups->of);
    *groups = (td_page_groups){0};
}

/* States. */

static bool is_cpu(const td_page_run *run, int device) { return strcmp(run->devices[device].name, "cpu") == 0; }

/* The whole of a row is idle for `idle` seconds and computing for the rest. */
static void divide(double seconds[TD_PAGE_STATES], double whole, double idle)
{
    idle = fmin(idle, whole);
    seconds[TD_STATE_IDLE] += idle;
    seconds[TD_STATE_COMPUTE] += whole - idle;
}

/* Seconds with copies, with kernels and with both in flight, cut to the iteration. An emulated GPU's are by its virtual
 * clock, and idle time has no meaning there: they divide the iteration in their proportion. */
static void add_streaming(const td_page_run *run, const td_page_row *row, double seconds[TD_PAGE_STATES])
{
    double both = fmin(row->both, fmin(row->copy, row->compute));
    double copy = row->copy - both, compute = row->compute - both;
    double active = both + copy + compute;
    if (active <= 0) {
        seconds[TD_STATE_UNDIVIDED] += row->seconds;
        return;
    }
    double scale = run->emulated || active > row->seconds ? row->seconds / active : 1;
    seconds[TD_STATE_BOTH] += both * scale;
    seconds[TD_STATE_COPY] += copy * scale;
    seconds[TD_STATE_COMPUTE] += compute * scale;
    seconds[TD_STATE_IDLE] += fmax(0, row->seconds - active * scale);
}

static void add_shared(const td_page_run *run, int device, const td_page_row *row, double seconds[TD_PAGE_STATES])
{
    if (run->emulated) seconds[TD_STATE_UNDIVIDED] += row->seconds;
    else if (is_cpu(run, device)) divide(seconds, row->seconds, row->cpu_idle);
    else divide(seconds, row->seconds, row->gpu_edges > 0 ? row->gpu_idle : row->seconds);
}

/* GPUs of several: their busy seconds in iterations that are timed one by one. */
static void add_one_of(const td_page_run *run, int device, const td_page_row *row, double seconds[TD_PAGE_STATES])
{
    const td_json_value *list = row->busy;
    double whole = run->emulated ? row->longest : row->seconds;
    if (list == NULL || (uint32_t)device >= list->count || whole <= 0) {
        seconds[TD_STATE_UNDIVIDED] += row->seconds;
        return;
    }
    double busy = list[1 + device].number; /* numbers have no elements: they follow each other */
    divide(seconds, row->seconds, row->seconds * (1 - fmin(1, busy / whole)));
}

static bool has_gpu(const td_page_run *run)
{
    for (int i = 0; i < run->device_count; i++)
        if (!is_cpu(run, i)) return true;
    return false;
}

/* Pages from disk: the waits of the CPU are measured; how long it waits for a GPU that has pages too, and what that
 * GPU does, is not. */
static void add_paged(const td_page_run *run, int device, const td_page_row *row, double seconds[TD_PAGE_STATES])
{
    double waits = is_cpu(run, device) ? fmin(row->disk_wait, row->seconds) : 0;
    bool divided = is_cpu(run, device) && row->gpu_pages <= 0;
    seconds[TD_STATE_IDLE] += waits;
    seconds[divided ? TD_STATE_COMPUTE : TD_STATE_UNDIVIDED] += row->seconds - waits;
}

/* Engines without measures inside of an iteration: it is the CPU's work where there is nothing but the CPU. With a GPU
 * it is launches, waits of the host and kernels, in unknown parts. */
static void add_unmeasured(const td_page_run *run, const td_page_row *row, double seconds[TD_PAGE_STATES])
{
    seconds[has_gpu(run) ? TD_STATE_UNDIVIDED : TD_STATE_COMPUTE] += row->seconds;
}

static void add_row_states(const td_page_run *run, int device, const td_page_row *row, double seconds[TD_PAGE_STATES])
{
    switch (run->measure) {
    case TD_MEASURE_COPIES: add_streaming(run, row, seconds); break;
    case TD_MEASURE_SHARED: add_shared(run, device, row, seconds); break;
    case TD_MEASURE_BUSY: add_one_of(run, device, row, seconds); break;
    case TD_MEASURE_DISK: add_paged(run, device, row, seconds); break;
    case TD_MEASURE_NONE: add_unmeasured(run, row, seconds); break;
    }
}

void td_page_add_states(const td_page_run *run, int device, const td_page_group *group,
                        double seconds[TD_PAGE_STATES])
{
    for (uint32_t i = 0; i < group->count; i++) add_row_states(run, device, &run->rows[group->first + i], seconds);
}
