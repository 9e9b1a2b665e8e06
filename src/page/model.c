#include "page/model.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

/* Reads members of one object; the first that is not what the report has is kept as the failure. */
typedef struct taker {
    const td_page_run *run;
    const td_json_value *object;
    const char *path; /* of the object, for messages: "plan." */
    td_status status;
} taker;

static const td_json_value *member(const taker *from, const char *key)
{
    const td_json_value *found = td_json_member(&from->run->tree, from->object, key);
    return found != NULL && found->kind != TD_JSON_NULL ? found : NULL;
}

static void refuse(taker *from, const char *key, const char *wanted)
{
    if (from->status != TD_OK) return;
    from->status = td_fail(TD_FORMAT, "%s: \"%s%s\" is not %s, as in a report of 'tandem run --json'", from->run->name,
                           from->path, key, wanted);
}

/* Beyond every counter, and small enough that sums over all rows are finite. */
#define MOST_NUMBER 1e21
#define NUMBER_WORDS "a number from 0 to 1e21"

static bool is_figure(const td_json_value *value)
{
    return value->kind == TD_JSON_NUMBER && value->number >= 0 && value->number <= MOST_NUMBER;
}

/* 0 where there is none. */
static double number(taker *from, const char *key)
{
    const td_json_value *found = member(from, key);
    if (found == NULL) return 0;
    if (!is_figure(found)) refuse(from, key, NUMBER_WORDS);
    return found->kind == TD_JSON_NUMBER ? found->number : 0;
}

/* NAN where there is none: a phase that a run did not have did not take 0 seconds. */
static double seconds(taker *from, const char *key) { return member(from, key) != NULL ? number(from, key) : NAN; }

static const char *text(taker *from, const char *key)
{
    const td_json_value *found = member(from, key);
    if (found == NULL) return NULL;
    if (found->kind != TD_JSON_STRING) refuse(from, key, "a text");
    return found->kind == TD_JSON_STRING ? found->text : NULL;
}

static bool truth(taker *from, const char *key)
{
    const td_json_value *found = member(from, key);
    if (found != NULL && found->kind != TD_JSON_TRUE && found->kind != TD_JSON_FALSE)
        refuse(from, key, "true or false");
    return found != NULL && found->kind == TD_JSON_TRUE;
}

static const td_json_value *array(taker *from, const char *key)
{
    const td_json_value *found = member(from, key);
    if (found != NULL && found->kind != TD_JSON_ARRAY) refuse(from, key, "a list");
    return found != NULL && found->kind == TD_JSON_ARRAY ? found : NULL;
}

/* The object of a key; its members are all missing if there is none. */
static taker inner(taker *from, const char *key, const char *path)
{
    const td_json_value *found = member(from, key);
    if (found != NULL && found->kind != TD_JSON_OBJECT) refuse(from, key, "an object");
    return (taker){from->run, found, path, TD_OK};
}

/* Rows. */

static int direction_place(td_page_directions *directions, const char *name)
{
    for (int i = 0; i < directions->count; i++)
        if (strcmp(directions->names[i], name) == 0) return i;
    if (directions->count == TD_PAGE_DIRECTIONS) return TD_PAGE_DIRECTIONS - 1;
    directions->names[directions->count] = name;
    return directions->count++;
}

/* One pass over the members: a row has thirty, and a run may have a million rows. */
typedef struct column {
    const char *key;
    size_t offset;
    bool adds; /* to what is there: bytes moved have several names */
} column;

#define COLUMN(key, field) {key, offsetof(td_page_row, field), false}
#define PART(key, field) {key, offsetof(td_page_row, field), true}
static const column columns[] = {
    COLUMN("number", number), COLUMN("active_vertices", active_vertices), COLUMN("active_edges", active_edges),
    COLUMN("edges", edges), COLUMN("change", change), COLUMN("start", start), COLUMN("seconds", seconds),
    COLUMN("copy_seconds", copy), COLUMN("compute_seconds", compute), COLUMN("both_seconds", both),
    COLUMN("gpu_idle_seconds", gpu_idle), COLUMN("cpu_idle_seconds", cpu_idle), PART("edges_gpu", gpu_edges),
    PART("edges_link", gpu_edges), COLUMN("disk_wait_seconds", disk_wait), COLUMN("pages_gpu", gpu_pages),
    COLUMN("longest_seconds", longest),
    PART("bytes_whole", moved), PART("bytes_extracted", moved), PART("bytes_direct", moved),
    PART("bytes_synchronised", moved), PART("bytes_exchanged", moved), PART("disk_bytes", moved),
    COLUMN("bytes_useful", useful),
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static td_status take_busy(taker *from, const td_json_value *list, td_page_row *row)
{
    if (list->kind != TD_JSON_ARRAY) refuse(from, "busy", "a list");
    else
        for (const td_json_value *at = td_json_first(list); at != NULL; at = td_json_next(&from->run->tree, list, at))
            if (!is_figure(at)) refuse(from, "busy", "a list of numbers from 0 to 1e21");
    if (from->status == TD_OK && list->count > 0) row->busy = list;
    return from->status;
}

static void take_member(taker *from, const td_json_value *value, td_page_row *row)
{
    for (int i = 0; i < COLUMNS; i++) {
        if (strcmp(columns[i].key, value->key) != 0) continue;
        double *place = (double *)((char *)row + columns[i].offset);
        if (value->kind == TD_JSON_NULL) return;
        if (!is_figure(value)) refuse(from, value->key, NUMBER_WORDS);
        else *place = columns[i].adds ? *place + value->number : value->number;
        return;
    }
    if (strcmp(value->key, "busy") == 0) (void)take_busy(from, value, row);
}

static td_page_measure measure_of(const char *key)
{
    static const struct { const char *key; td_page_measure measure; } of[] = {
        {"copy_seconds", TD_MEASURE_COPIES}, {"cpu_idle_seconds", TD_MEASURE_SHARED},
        {"longest_seconds", TD_MEASURE_BUSY}, {"disk_wait_seconds", TD_MEASURE_DISK},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strcmp(of[i].key, key) == 0) return of[i].measure;
    return TD_MEASURE_NONE;
}

static td_status take_row(td_page_run *run, const td_json_value *object, td_page_directions *directions,
                          td_page_row *row)
{
    taker from = {run, object, "rows[].", TD_OK};
    if (object->kind != TD_JSON_OBJECT)
        return td_fail(TD_FORMAT, "%s: \"rows\" has an entry that is no object", run->name);
    for (const td_json_value *at = td_json_first(object); at != NULL; at = td_json_next(&run->tree, object, at)) {
        take_member(&from, at, row);
        run->knows_useful = run->knows_useful || strcmp(at->key, "bytes_useful") == 0;
        if (run->measure == TD_MEASURE_NONE) run->measure = measure_of(at->key);
    }
    const char *direction = text(&from, "direction");
    row->direction = direction_place(directions, direction != NULL ? direction : "iteration");
    return from.status;
}

static td_status take_rows(td_page_run *run, taker *from, td_page_directions *directions)
{
    const td_json_value *list = array(from, "rows");
    TD_CHECK(from->status);
    if (list == NULL)
        return td_fail(TD_FORMAT, "%s has no \"rows\": it is not a report of 'tandem run --json'", run->name);
    TD_CHECK(TD_NEW_ZEROED(&run->rows, list->count, "rows of a report"));
    for (const td_json_value *at = td_json_first(list); at != NULL; at = td_json_next(&run->tree, list, at))
        TD_CHECK(take_row(run, at, directions, &run->rows[run->row_count++]));
    return TD_OK;
}

/* Devices, plan, memory, times. */

static td_status take_device(td_page_run *run, const td_json_value *object)
{
    taker from = {run, object, "devices[].", TD_OK};
    td_page_device *device = &run->devices[run->device_count++];
    device->name = text(&from, "name");
    if (device->name == NULL) refuse(&from, "name", "a text");
    device->graph = number(&from, "graph_bytes");
    device->program = number(&from, "program_bytes");
    device->free = number(&from, "free_bytes");
    device->peak = number(&from, "peak_bytes");
    device->edges = number(&from, "edges");
    device->busy = number(&from, "busy_seconds");
    device->in = number(&from, "bytes_in");
    device->out = number(&from, "bytes_out");
    device->launches = number(&from, "launches");
    run->emulated = run->emulated || (device->name != NULL && strncmp(device->name, "emu", 3) == 0);
    return from.status;
}

static td_status take_devices(td_page_run *run, taker *from)
{
    const td_json_value *list = array(from, "devices");
    if (list == NULL) return from->status;
    if (list->count > TD_PAGE_DEVICES)
        return td_fail(TD_FORMAT, "%s: \"devices\" has %u entries; no run has more than %d", run->name,
                       (unsigned)list->count, TD_PAGE_DEVICES);
    for (const td_json_value *at = td_json_first(list); at != NULL; at = td_json_next(&run->tree, list, at))
        TD_CHECK(take_device(run, at));
    return TD_OK;
}

static td_status take_plan(td_page_run *run, taker *from)
{
    taker plan = inner(from, "plan", "plan.");
    run->planned_engine = text(&plan, "engine");
    run->why = text(&plan, "why");
    run->graph_bytes = number(&plan, "graph_bytes");
    run->program_bytes = number(&plan, "program_bytes");
    run->process_bytes = number(&plan, "process_bytes");
    run->free_bytes = number(&plan, "free_bytes");
    run->fits = truth(&plan, "fits");
    return plan.status;
}

/* The phases of a run; "output" was the name of "write" in older reports. */
static td_status take_times(td_page_run *run, taker *from)
{
    taker times = inner(from, "times", "times.");
    run->start = seconds(&times, "start");
    run->load = seconds(&times, "load");
    run->open = seconds(&times, "open");
    run->plan = seconds(&times, "plan");
    run->prepare = seconds(&times, "prepare");
    run->reorder = seconds(&times, "reorder");
    run->earlier = seconds(&times, "earlier");
    run->finish = seconds(&times, "finish");
    run->verify = seconds(&times, "verify");
    run->write = seconds(&times, member(&times, "write") != NULL ? "write" : "output");
    return times.status;
}

static td_status take_wall(td_page_run *run, taker *from)
{
    taker wall = inner(from, "wall", "wall.");
    run->wall = seconds(&wall, "seconds");
    run->wall_report = seconds(&wall, "report");
    run->wall_close = seconds(&wall, "close");
    return wall.status;
}

static td_status take_predicted(td_page_run *run, taker *from)
{
    taker predicted = inner(from, "predicted", "predicted.");
    run->expected = seconds(&predicted, "seconds");
    run->expected_start = seconds(&predicted, "start");
    run->expected_load = seconds(&predicted, "load");
    run->expected_open = seconds(&predicted, "open");
    run->expected_plan = seconds(&predicted, "plan");
    run->expected_prepare = seconds(&predicted, "prepare");
    run->expected_processing = seconds(&predicted, "processing");
    run->expected_finish = seconds(&predicted, "finish");
    return predicted.status;
}

static td_status take_measures(td_page_run *run, taker *from)
{
    taker memory = inner(from, "memory", "memory."), disk = inner(from, "disk", "disk.");
    taker result = inner(from, "result", "result.");
    run->run_peak = number(&memory, "run_peak");
    run->load_peak = number(&memory, "load_peak");
    run->disk_bytes = number(&disk, "bytes");
    run->digest = text(&result, "digest");
    TD_CHECK(take_times(run, from));
    TD_CHECK(take_wall(run, from));
    TD_CHECK(take_predicted(run, from));
    TD_CHECK(memory.status);
    TD_CHECK(disk.status);
    return result.status;
}

static td_status take_head(td_page_run *run, taker *from)
{
    run->program = text(from, "program");
    run->engine = text(from, "engine");
    run->mode = text(from, "mode");
    run->input = text(from, "input");
    run->verified = text(from, "verified");
    run->version = text(from, "tandem");
    run->threads = number(from, "threads");
    run->has_graph = member(from, "vertices") != NULL;
    run->vertices = number(from, "vertices");
    run->edges = number(from, "edges");
    run->iterations = number(from, "iterations");
    run->edges_processed = number(from, "edges_processed");
    run->edges_per_second = number(from, "edges_per_second");
    run->seconds = number(from, "seconds");
    run->final_change = number(from, "final_change");
    run->converged = truth(from, "converged");
    if (run->program == NULL || run->engine == NULL)
        return td_fail(TD_FORMAT, "%s has no \"%s\": it is not a report of 'tandem run --json'", run->name,
                       run->program == NULL ? "program" : "engine");
    return from->status;
}

td_status td_page_run_read(td_page_run *run, const td_page_source *source, td_page_directions *directions)
{
    run->name = source->name;
    TD_CHECK(td_json_read(&run->tree, source->text, source->bytes, source->name));
    taker from = {run, run->tree.values, "", TD_OK};
    if (from.object->kind != TD_JSON_OBJECT)
        return td_fail(TD_FORMAT, "%s is no JSON object: it is not a report of 'tandem run --json'", run->name);
    TD_CHECK(take_head(run, &from));
    TD_CHECK(take_plan(run, &from));
    TD_CHECK(take_devices(run, &from));
    TD_CHECK(take_measures(run, &from));
    TD_CHECK(take_rows(run, &from, directions));
    return from.status;
}

void td_page_run_free(td_page_run *run)
{
    td_json_tree_free(&run->tree);
    td_free(run->rows);
    *run = (td_page_run){0};
}
