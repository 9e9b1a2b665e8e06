/* What `tandem calibrate` is made of: graphs of several families, runs that log their iterations, and the models that
 * are trained on the logs. */
#ifndef TD_CLI_CALIBRATE_H
#define TD_CLI_CALIBRATE_H

#include "engine/multi/cost.h"
#include "run/run.h"

typedef enum td_calibrate_size { TD_CALIBRATE_SMALL, TD_CALIBRATE_EMULATED, TD_CALIBRATE_GPU } td_calibrate_size;

/* Generated graphs: families in variants. */
int td_calibrate_graphs(td_calibrate_size size);
td_status td_calibrate_graph(td_calibrate_size size, int index, td_pool *pool, td_graph **out);
const char *td_calibrate_family(int index); /* of a generated graph */

/* Errors of the models of one work, each on families that it was not trained on. */
enum { TD_CALIBRATE_FAMILIES = 64, TD_CALIBRATE_KINDS = 3 };
extern const char *const td_calibrate_kinds[TD_CALIBRATE_KINDS]; /* linear, polynomial, tree */
typedef struct td_calibrate_table {
    int families;                                  /* 0: there are no samples */
    char family[TD_CALIBRATE_FAMILIES][TD_COST_FAMILY];
    uint64_t samples[TD_CALIBRATE_FAMILIES];
    double error[TD_CALIBRATE_FAMILIES][TD_CALIBRATE_KINDS]; /* RMSRE of the family, held out */
    double all[TD_CALIBRATE_KINDS];                /* over the samples of all families, each held out in turn */
    double seconds[TD_CALIBRATE_KINDS];            /* of one training */
} td_calibrate_table;

/* Trains the polynomial of a work on all of its samples, and fills the table. */
td_status td_calibrate_train(const td_cost_sample *samples, uint64_t count, td_cost_work work, const char *label,
                             td_cost_model *out, td_calibrate_table *table);

#endif
