/* The training of `tandem calibrate`, and the comparison of models (GUM, Table V): every model predicts every family from
 * the samples of the others. */
#include "calibrate.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const td_calibrate_kinds[TD_CALIBRATE_KINDS] = {"linear", "polynomial", "tree", "exponential"};
enum { LINEAR, POLYNOMIAL, TREE, EXPONENTIAL };
enum { EXPONENT_DEGREE = 2 };
enum { RIDGE_SAMPLES = 300, RIDGE_EPOCHS = 15 };

/* A polynomial has at most as many weights as there are samples: of few samples one of degree 4 would learn nothing but
 * their noise. */
static td_cost_training training_of(int kind, uint64_t samples)
{
    td_cost_training how = td_cost_usual;
    if (kind == EXPONENTIAL) how.degree = EXPONENT_DEGREE;
    if (kind == EXPONENTIAL) how.kind = TD_COST_EXPONENTIAL;
    while (how.degree > 1 && (uint64_t)td_cost_terms(how.degree) > samples) how.degree--;
    if (kind == LINEAR) how.degree = 1;
    if (kind == TREE) how.kind = TD_COST_TREE;
    return how;
}

static void list_families(td_calibrate_table *table, const td_cost_sample *samples, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        int k = 0;
        while (k < table->families && strcmp(table->family[k], samples[i].family) != 0) k++;
        if (k == TD_CALIBRATE_FAMILIES) continue;
        if (k == table->families) memcpy(table->family[table->families++], samples[i].family, TD_COST_FAMILY);
        table->samples[k]++;
    }
}

/* The ridge, too, is chosen without the family that is held out. Its choice trains many models, so it sees every nth
 * sample of a large set, and trains briefly. */
static td_status choose_ridge(const td_cost_sample *samples, uint64_t count, td_cost_training *how)
{
    td_cost_sample *some = NULL;
    uint64_t step = count / RIDGE_SAMPLES + 1, used = 0;
    TD_CHECK(TD_NEW(&some, count / step + 1, "samples of the cost model"));
    for (uint64_t i = 0; i < count; i += step) some[used++] = samples[i];
    td_cost_training quick = *how;
    quick.epochs = RIDGE_EPOCHS;
    td_status status = td_cost_choose_ridge(some, used, &quick, &how->ridge);
    td_free(some);
    return status;
}

static td_status hold_out(const td_cost_sample *samples, uint64_t count, int kind, const char *family,
                          td_cost_model *model, td_calibrate_table *table, double *error)
{
    td_cost_training how = training_of(kind, count);
    how.held_out = family;
    TD_CHECK(choose_ridge(samples, count, &how));
    uint64_t began = td_clock_ns();
    TD_CHECK(td_cost_train(samples, count, &how, model));
    table->seconds[kind] = td_seconds_since(began);
    *error = model->held_out_error;
    return TD_OK;
}

static td_status compare(const td_cost_sample *samples, uint64_t count, td_cost_model *model, td_calibrate_table *table)
{
    for (int kind = 0; kind < TD_CALIBRATE_KINDS && table->families > 1; kind++) {
        double squares = 0, all = 0;
        for (int k = 0; k < table->families; k++) {
            double *error = &table->error[k][kind];
            td_progress_text("training on all but %s: %s", table->family[k], td_calibrate_kinds[kind]);
            TD_CHECK(td_cancel_check());
            TD_CHECK(hold_out(samples, count, kind, table->family[k], model, table, error));
            squares += *error * *error * (double)table->samples[k];
            all += (double)table->samples[k];
        }
        table->all[kind] = sqrt(squares / all);
    }
    return TD_OK;
}

td_status td_calibrate_train(const td_cost_sample *samples, uint64_t count, td_cost_work work, const char *label,
                             td_cost_model *out, td_calibrate_table *table)
{
    td_status status = TD_OK;
    td_cost_sample *mine = NULL;
    uint64_t used = 0;
    *table = (td_calibrate_table){0};
    memset(out, 0, sizeof *out);
    TD_TRY(TD_NEW(&mine, count, "samples of the cost model"));
    for (uint64_t i = 0; i < count; i++)
        if (samples[i].work == work) mine[used++] = samples[i];
    if (used == 0) goto done;
    list_families(table, mine, used);
    TD_TRY(compare(mine, used, out, table));
    int kind = table->all[LINEAR] < table->all[POLYNOMIAL] ? LINEAR : POLYNOMIAL;
    if (table->all[EXPONENTIAL] < table->all[kind]) kind = EXPONENTIAL;
    if (table->all[kind] >= TD_CALIBRATE_WORST) {
        memset(out, 0, sizeof *out);
        goto done;
    }
    td_cost_training how = training_of(kind, used);
    how.label = label;
    TD_TRY(choose_ridge(mine, used, &how));
    TD_TRY(td_cost_train(mine, used, &how, out));
    out->held_out_error = table->all[kind];
done:
    td_free(mine);
    return status;
}
