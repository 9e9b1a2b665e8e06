/* What `tandem calibrate` is made of: graphs of several families, runs that log their iterations, and the models that
 * are trained on the logs. */
#ifndef TD_CLI_CALIBRATE_H
#define TD_CLI_CALIBRATE_H

#include "base/json.h"
#include "engine/multi/cost.h"
#include "run/run.h"

typedef enum td_calibrate_size { TD_CALIBRATE_NONE, TD_CALIBRATE_SMALL, TD_CALIBRATE_EMULATED, TD_CALIBRATE_GPU } td_calibrate_size;

/* Generated graphs: families in variants. */
int td_calibrate_graphs(td_calibrate_size size);
td_status td_calibrate_graph(td_calibrate_size size, int index, td_pool *pool, td_graph **out);
const char *td_calibrate_family(td_calibrate_size size, int index); /* of a generated graph */

/* Errors of the models of one work, each on families that it was not trained on. */
enum { TD_CALIBRATE_FAMILIES = 64, TD_CALIBRATE_KINDS = 4 };
extern const char *const td_calibrate_kinds[TD_CALIBRATE_KINDS]; /* linear, polynomial, tree, exponential */
typedef struct td_calibrate_table {
    int families;                                  /* 0: there are no samples */
    char family[TD_CALIBRATE_FAMILIES][TD_COST_FAMILY];
    uint64_t samples[TD_CALIBRATE_FAMILIES];
    double error[TD_CALIBRATE_FAMILIES][TD_CALIBRATE_KINDS]; /* RMSRE of the family, held out */
    double all[TD_CALIBRATE_KINDS];                /* over the samples of all families, each held out in turn */
    double seconds[TD_CALIBRATE_KINDS];            /* of one training */
} td_calibrate_table;

/* Trains a model of a work on all of its samples: a linear one, a polynomial of degree 4 or the exponential of one of degree 2,
 * whichever predicts families best that it was not trained on; and fills the table. A model that is further off than their costs themselves is not made: it has 0
 * samples. */
#define TD_CALIBRATE_WORST 1.0
td_status td_calibrate_train(const td_cost_sample *samples, uint64_t count, td_cost_work work, const char *label,
                             td_cost_model *out, td_calibrate_table *table);

/* Measures the rates of this machine that the planner estimates with (planner/rates.h), on graphs of 2^scale vertices;
 * of the GPU of `devices` too, unless that is NULL. calibrate_machine.c */
td_status td_calibrate_machine(td_pool *pool, int scale, const char *devices, const char *output, td_json *json,
                               bool prints);

#endif
