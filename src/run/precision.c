#include "run/precision.h"

#include "run/checkpoint.h"

static td_status asked(const td_program *program, const td_run_options *options, td_precision *out)
{
    const td_program_info *info = program->info;
    double numbers[TD_PARAMETERS] = {0};
    *out = TD_PRECISION_AUTO;
    if (info->precision_choice == 0) return TD_OK;
    TD_CHECK(td_settings_resolve(options->settings, info->name, info->parameters, numbers, NULL));
    *out = (td_precision)numbers[info->precision_choice - 1];
    return TD_OK;
}

/* Integer distances that may pass 32 bits, in a run that cannot be repeated because it writes checkpoints. */
static bool may_overflow(const td_graph_facts *facts, const td_run_options *options)
{
    return options->checkpoint != NULL && facts->weight_max * facts->vertices >= (double)(UINT32_MAX - 1);
}

static bool is_small(const td_run_options *options)
{
    return options->has_tolerance && options->tolerance > 0 && options->tolerance < TD_SINGLE_TOLERANCE;
}

/* The width that auto takes. A run that resumes has the width of its checkpoint. */
static bool needs_wide(const td_program *program, const td_graph_facts *facts, const td_run_options *options)
{
    uint32_t bytes = td_checkpoint_value_bytes(program, options);
    if (bytes > 0) return bytes == sizeof(uint64_t);
    if (program->info->weights == TD_WEIGHTS_UNUSED) return is_small(options);
    return td_weight_real(facts->weights) || may_overflow(facts, options);
}

/* Refuses what no number of iterations reaches. */
static td_status check_tolerance(const td_program *program, const td_run_options *options, bool wide)
{
    const char *name = program->info->name;
    if (program->info->weights != TD_WEIGHTS_UNUSED || !is_small(options)) return TD_OK;
    if (options->tolerance < TD_DOUBLE_TOLERANCE)
        return td_fail(TD_USAGE, "{tolerance} %g is below what %s reaches in double precision, about %g",
                       options->tolerance, name, TD_DOUBLE_TOLERANCE);
    if (wide) return TD_OK;
    if (options->resume != NULL)
        return td_fail(TD_USAGE, "{tolerance} %g is below what %s reaches in single precision, about %g, and the "
                       "checkpoint's values have that; begin anew, or give a larger {tolerance}",
                       options->tolerance, name, TD_SINGLE_TOLERANCE);
    return td_fail(TD_USAGE, "{tolerance} %g is below what %s reaches in single precision, about %g; leave out "
                   "%s.precision=single, or give %s.precision=double", options->tolerance, name, TD_SINGLE_TOLERANCE,
                   name, name);
}

td_status td_program_for(const td_program **out, const td_program *program, const td_graph_facts *facts,
                         const td_run_options *options)
{
    td_precision precision;
    *out = program;
    if (program->wide == NULL) return TD_OK;
    TD_CHECK(asked(program, options, &precision));
    bool wide = precision == TD_PRECISION_AUTO ? needs_wide(program, facts, options)
                                               : precision == TD_PRECISION_DOUBLE;
    if (wide) *out = program->wide;
    return check_tolerance(program, options, wide);
}

bool td_program_widens(const td_program *program, const td_run_options *options)
{
    td_precision precision;
    if (program->wide == NULL || options->checkpoint != NULL || options->resume != NULL) return false;
    return asked(program, options, &precision) == TD_OK && precision == TD_PRECISION_AUTO;
}
