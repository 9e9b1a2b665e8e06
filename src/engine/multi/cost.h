/* The cost model g(W): seconds that a GPU computes on one edge of a frontier, from the frontier's metrics (GUM, section
 * III-B). The paper's is a polynomial of degree 4, trained by stochastic gradient descent on logged iterations with the
 * relative squared error; a linear model (degree 1) and a regression tree are there to compare (its Table V). Beyond the paper:
 * the exponential of a polynomial, trained on logarithms of costs, because what makes an edge dearer multiplies.
 *
 * Degrees and edges enter as logarithms, because they span six powers of ten; then every metric is scaled to -1 .. 1 over the
 * training samples, and a metric beyond them counts as their limit: a polynomial means nothing outside. Likewise a
 * prediction stays between the lowest and the highest cost that was seen. */
#ifndef TD_MULTI_COST_H
#define TD_MULTI_COST_H

#include "engine/multi/metrics.h"

enum { TD_COST_DEGREE = 4, TD_COST_TERMS = 330, TD_COST_NODES = 127, TD_COST_LABEL = 128, TD_COST_FAMILY = 32 };

/* What is done with an edge. Metrics say how a frontier's lists differ, not what a kernel does with them, so every work
 * has a model of its own. First-hit pulls have none: what they cost depends on how early they hit. */
typedef enum td_cost_work { TD_COST_PUSH, TD_COST_GATHER, TD_COST_SWEEP, TD_COST_WORKS } td_cost_work;
extern const char *const td_cost_work_names[TD_COST_WORKS];

typedef enum td_cost_kind { TD_COST_POLYNOMIAL, TD_COST_TREE, TD_COST_EXPONENTIAL } td_cost_kind;

/* A node of a regression tree: scaled metrics up to `limit` go to node `low`, others to node low + 1. A leaf has metric
 * -1. */
typedef struct td_cost_node {
    int metric, low;
    double limit;
    double seconds; /* a leaf's prediction */
} td_cost_node;

typedef struct td_cost_model {
    td_cost_kind kind;
    td_cost_work work;
    char label[TD_COST_LABEL]; /* what it was trained for, in words; one line */
    double low[TD_METRICS], high[TD_METRICS]; /* range of the metrics in training, degrees as ln(1 + degree) */
    double least, most;                       /* seconds an edge */
    uint64_t samples;                         /* it was trained on */
    double error;                             /* RMSRE on them */
    double held_out_error;                    /* RMSRE on the family that was held out; 0: none was */
    int degree;                               /* of a polynomial, or of the one in an exponent */
    double weight[TD_COST_TERMS];             /* in the order of td_cost_predict: by degree, then by metric */
    int nodes;                                /* of a tree */
    td_cost_node node[TD_COST_NODES];
} td_cost_model;

/* One fragment's iteration, as logged. */
typedef struct td_cost_sample {
    char family[TD_COST_FAMILY]; /* of graphs: rmat, web, grid ... */
    td_cost_work work;
    td_frontier_metrics metrics;
    double edges;   /* processed */
    double seconds; /* of computation, without transfers over links */
} td_cost_sample;

/* Seconds an edge. */
double td_cost_predict(const td_cost_model *model, const td_frontier_metrics *metrics);

/* The root of the mean squared relative error over samples of a family (of all: NULL); 0 where there are none. */
double td_cost_error(const td_cost_model *model, const td_cost_sample *samples, uint64_t count, const char *family);

typedef struct td_cost_training {
    td_cost_kind kind;
    int degree;           /* of a polynomial: 1 to TD_COST_DEGREE */
    const char *held_out; /* a family that is not trained on; NULL: none */
    const char *label;    /* or NULL */
    uint64_t seed;        /* order of the samples */
    int epochs;           /* passes over the samples */
    double ridge;         /* how far weights that the samples hardly determine are kept small */
} td_cost_training;

int td_cost_terms(int degree); /* weights of a polynomial */
extern const td_cost_training td_cost_usual; /* the paper's model: a polynomial of degree 4 */

/* The samples are of one work. The same samples and settings give the same model. Fails with TD_INVALID for settings out of range, a sample whose
 * figures are not finite or whose edges or seconds are not positive, and where no sample is left to train on. */
td_status td_cost_train(const td_cost_sample *samples, uint64_t count, const td_cost_training *how, td_cost_model *out);

/* The ridge that predicts unknown families best: of the powers of ten from 1e-6 to 0.1, the one with the lowest error on
 * families that are each held out in turn. Samples of how->held_out take no part. The usual one for a tree, and where
 * there are fewer than two families. */
td_status td_cost_choose_ridge(const td_cost_sample *samples, uint64_t count, const td_cost_training *how, double *out);

/* Files are text, with a version on the first line; an error names the line. A model ends with "end", so that one that
 * was cut off is noticed; its label becomes one line of printable characters. */
td_status td_cost_model_write(const td_cost_model *model, const char *path);
td_status td_cost_model_read(td_cost_model *out, const char *path);

/* The models of a device: one behind the other in a file, at most one for each work. A work that has none has 0 samples. */
typedef struct td_cost_models {
    td_cost_model of[TD_COST_WORKS];
} td_cost_models;
td_status td_cost_models_write(const td_cost_models *models, const char *path);
td_status td_cost_models_read(td_cost_models *out, const char *path);

/* A log of samples: "family mean-in mean-out range-in range-out edges gini entropy edges seconds" in every line; a line "work
 * gather" says what those behind it are about, at first push. Appending makes the file if there is none. */
td_status td_cost_samples_write(const td_cost_sample *samples, uint64_t count, const char *path);
td_status td_cost_samples_append(const td_cost_sample *samples, uint64_t count, const char *path);

/* Appends a log to an array of `count` samples, which td_free releases; several logs give one array. */
td_status td_cost_samples_read(td_cost_sample **samples, uint64_t *count, const char *path);

#endif
