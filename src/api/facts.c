/* What there is: programs, engines, their settings, formats of files and orders of vertices, by name. */
#include "api/session.h"

#include "engine/engine.h"
#include "kernels/cpu/job.h"
#include "layout/reorder.h"
#include "store/formats/format.h"
#include "store/packed.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const char *td_program_name(int index)
{
    for (int i = 0; i <= index; i++)
        if (td_programs[i] == NULL) return NULL;
    return index >= 0 ? td_programs[index]->info->name : NULL;
}

const char *td_program_summary(const char *name)
{
    const td_program *program = name != NULL ? td_program_named(name) : NULL;
    return program != NULL ? program->info->summary : NULL;
}

td_status td_program_describe(const char *name, td_program_facts *out)
{
    const td_program *program = name != NULL ? td_program_named(name) : NULL;
    if (program == NULL) return td_fail(TD_NOT_FOUND, "there is no program '%s'", name != NULL ? name : "NULL");
    const td_program_info *info = program->info;
    td_program_facts facts = {
        .result = info->result, .groups = info->vertex_values, .needs_source = info->needs_source,
        .takes_source = info->takes_source, .gives_parents = info->gives_parents, .asynchronous = td_program_has_async(program),
        .measured = program->cpu[TD_WEIGHT_NONE].measure != TD_MEASURE_NONE,
        .uses_weights = info->weights != TD_WEIGHTS_UNUSED, .needs_weights = info->weights == TD_WEIGHTS_NEEDED,
        .positive_weights = info->positive, .non_negative_weights = info->non_negative,
        .iterations = info->iterations, .tolerance = info->tolerance, .edges = info->edges};
    return td_struct_give(out, &facts, sizeof facts, "td_program_facts");
}

const char *td_engine_name(int index)
{
    for (int i = 0; i <= index; i++)
        if (td_engines[i] == NULL) return NULL;
    return index >= 0 ? td_engines[index]->name : NULL;
}

td_status td_engine_describe(const char *name, td_engine_facts *out)
{
    const td_engine *engine = name != NULL ? td_engine_named(name) : NULL;
    if (engine == NULL) return td_fail(TD_NOT_FOUND, "there is no engine '%s'", name != NULL ? name : "NULL");
    td_engine_facts facts = {.summary = engine->summary, .device = engine->device, .from_disk = engine->takes_disk,
                             .uses_gpu = (engine->uses_devices & TD_USES_GPU) != 0,
                             .several_gpus = engine->several_gpus, .limits_edges = engine->limits_edges};
    return td_struct_give(out, &facts, sizeof facts, "td_engine_facts");
}

/* The settings of a program or an engine; NULL if the name is neither's. */
static const td_setting *settings_of(const char *owner)
{
    const td_program *program = owner != NULL ? td_program_named(owner) : NULL;
    const td_engine *engine = owner != NULL ? td_engine_named(owner) : NULL;
    return program != NULL ? program->info->parameters : engine != NULL ? engine->settings : NULL;
}

td_status td_setting_describe(const char *owner, int index, td_setting_facts *out)
{
    const td_setting *table = settings_of(owner);
    if (index < 0 || (uint64_t)index >= td_settings_length(table))
        return td_fail(TD_NOT_FOUND, "'%s' has no setting %d", owner != NULL ? owner : "NULL", index);
    const td_setting *entry = &table[index];
    td_setting_facts facts = {.name = entry->name, .help = entry->help, .lowest = entry->lowest,
                              .highest = entry->highest, .text = entry->kind == TD_SETTING_TEXT,
                              .whole = entry->kind == TD_SETTING_WHOLE,
                              .choices = entry->kind == TD_SETTING_CHOICE ? entry->choices : NULL};
    _Static_assert(sizeof facts.fallback >= TD_SETTING_BYTES, "room for a default");
    td_setting_print(facts.fallback, entry, entry->fallback, NULL);
    return td_struct_give(out, &facts, sizeof facts, "td_setting_facts");
}

const char *td_format_name(int index)
{
    for (int i = 0; i <= index; i++)
        if (td_formats[i] == NULL) return NULL;
    return index >= 0 ? td_formats[index]->name : NULL;
}

td_status td_format_describe(const char *name, td_format_facts *out)
{
    const td_format *format = name != NULL ? td_format_named(name) : NULL;
    if (format == NULL) return td_fail(TD_NOT_FOUND, "there is no format '%s'", name != NULL ? name : "NULL");
    td_format_facts facts = {.description = format->description, .suffixes = format->suffixes,
                             .reads = format->read != NULL || format == &td_format_tg,
                             .writes = format->write != NULL};
    return td_struct_give(out, &facts, sizeof facts, "td_format_facts");
}

td_status td_format_of_output(const char *path, const char *name, const char **out)
{
    const td_format *format;
    TD_CHECK(td_need(path, "the path"));
    TD_CHECK(td_need(out, "the place for the name"));
    TD_CHECK(td_format_for_output(path, name, &format));
    *out = format->name;
    return TD_OK;
}

static uint64_t bytes_of(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && facts.st_size > 0 ? (uint64_t)facts.st_size : 0;
}

/* Reads the header of a packed file. */
static td_status describe_packed(const char *path, td_file_facts *facts)
{
    td_packed *packed = NULL;
    TD_CHECK(td_packed_open(&packed, path));
    const td_packed_info *info = td_packed_describe(packed);
    facts->packed = true;
    facts->stripes = info->stripes;
    facts->checksum = info->build_id;
    facts->plain_bytes = info->file_bytes;
    for (uint32_t i = 1; i <= info->stripes; i++) facts->bytes += bytes_of(td_packed_path(packed, i));
    td_packed_close(packed);
    return TD_OK;
}

td_status td_file_describe(const char *path, const char *name, td_file_facts *out)
{
    const td_format *format = name != NULL ? td_format_named(name) : NULL;
    TD_CHECK(td_need(path, "the path"));
    if (name != NULL && format == NULL) return td_fail(TD_NOT_FOUND, "there is no format '%s'", name);
    if (format == NULL) TD_CHECK(td_format_detect(path, &format));
    td_file_facts facts = {.format = format->name, .bytes = bytes_of(path)};
    if (format == &td_format_tg) TD_CHECK(describe_packed(path, &facts));
    return td_struct_give(out, &facts, sizeof facts, "td_file_facts");
}

td_status td_order_check(const char *name)
{
    td_order order;
    TD_CHECK(td_need(name, "the order"));
    return td_order_named(name, &order);
}
