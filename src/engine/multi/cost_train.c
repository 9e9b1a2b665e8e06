/* Training of cost models.
 *
 * The relative squared error of a polynomial, (g(W) - t)^2 / t^2, is the squared error of w . p / t against 1, with the
 * weights w and the products p of metrics. Products are strongly correlated, which makes plain gradient descent crawl:
 * so the rows p / t are first made uncorrelated, by the Cholesky factor of their mean outer product, and the descent runs
 * in these coordinates, where every direction converges alike. Its steps become shorter from epoch to epoch, which
 * removes the noise of the last samples. A ridge keeps weights small that the samples hardly determine: a row of its own
 * for every weight but the constant, which pulls that weight to zero. The exponential of a polynomial is trained likewise, on
 * logarithms: the rows are p, and the targets ln t. */
#include "engine/multi/cost_inside.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EPOCHS = 100000, DEPTH = 6, LEAF = 5 }; /* LEAF: the fewest samples of a leaf */

const td_cost_training td_cost_usual = {.kind = TD_COST_POLYNOMIAL, .degree = TD_COST_DEGREE, .seed = 1, .epochs = 60,
                                        .ridge = 1e-5};

typedef struct training {
    const td_cost_training *how;
    td_cost_model *model;
    const td_cost_sample **samples;
    uint64_t count;
    int terms;
    double *rows;    /* [count + terms][terms]: the samples', then the ridge's */
    double *factor;  /* [terms][terms], lower triangle */
    double *weight, *target; /* target: [count + terms], 0 of the ridge's rows */
    uint32_t *order;
} training;

static double cost_of(const td_cost_sample *sample) { return sample->seconds / sample->edges; }

static td_status check_settings(const td_cost_training *how)
{
    if (how->kind == TD_COST_TREE) return TD_OK;
    if (how->degree < 1 || how->degree > TD_COST_DEGREE)
        return td_fail(TD_INVALID, "a cost model of degree %d; 1 to %d are allowed", how->degree, TD_COST_DEGREE);
    if (how->epochs < 1 || how->epochs > MOST_EPOCHS)
        return td_fail(TD_INVALID, "training of %d epochs; 1 to %d are allowed", how->epochs, MOST_EPOCHS);
    if (!(how->ridge > 0 && how->ridge <= 1))
        return td_fail(TD_INVALID, "a ridge of %g; more than 0 and at most 1 is allowed", how->ridge);
    return TD_OK;
}

static td_status check_sample(const td_cost_sample *sample, uint64_t number)
{
    bool good = sample->edges > 0 && sample->seconds > 0 && isfinite(sample->edges) && isfinite(sample->seconds) &&
                isnormal(cost_of(sample));
    if (!good)
        return td_fail(TD_INVALID, "sample %llu of the cost model took %g seconds for %g edges; both must be positive "
                       "and finite", (unsigned long long)number, sample->seconds, sample->edges);
    for (int m = 0; m < TD_METRICS; m++)
        if (!(sample->metrics.value[m] >= 0) || isinf(sample->metrics.value[m]))
            return td_fail(TD_INVALID, "%s of sample %llu of the cost model is %g; a finite number from 0 on is "
                           "allowed", td_metric_names[m], (unsigned long long)number, sample->metrics.value[m]);
    return TD_OK;
}

/* The samples to train on, and the ranges of their figures. */
static td_status select_samples(training *t, const td_cost_sample *samples, uint64_t count)
{
    td_cost_model *model = t->model;
    for (uint64_t i = 0; i < count; i++) {
        TD_CHECK(check_sample(&samples[i], i));
        if (t->how->held_out != NULL && strcmp(samples[i].family, t->how->held_out) == 0) continue;
        t->samples[t->count++] = &samples[i];
        double cost = cost_of(&samples[i]);
        if (t->count == 1 || cost < model->least) model->least = cost;
        if (t->count == 1 || cost > model->most) model->most = cost;
        for (int m = 0; m < TD_METRICS; m++) {
            double value = td_cost_metric(&samples[i].metrics, m);
            if (t->count == 1 || value < model->low[m]) model->low[m] = value;
            if (t->count == 1 || value > model->high[m]) model->high[m] = value;
        }
    }
    model->samples = t->count;
    if (t->count > 0) return TD_OK;
    return td_fail(TD_INVALID, "no sample is left to train a cost model on: %llu were given, and '%s' is held out",
                   (unsigned long long)count, t->how->held_out != NULL ? t->how->held_out : "nothing");
}

/* A polynomial. */

static void make_rows(training *t)
{
    for (uint64_t i = 0; i < t->count; i++) {
        double scaled[TD_METRICS], product[TD_COST_TERMS], *row = t->rows + i * (uint64_t)t->terms;
        td_cost_scale(t->model, &t->samples[i]->metrics, scaled);
        td_cost_products(t->model->degree, scaled, product);
        double relative = t->model->most / cost_of(t->samples[i]); /* weights are in units of the highest cost */
        bool logarithms = t->how->kind == TD_COST_EXPONENTIAL;
        for (int k = 0; k < t->terms; k++) row[k] = logarithms ? product[k] : product[k] * relative;
        t->target[i] = logarithms ? -log(relative) : 1;
    }
}

/* Adds the rows of the ridge: `ridge` times the mean square of a column, as much as all samples together. */
static void add_ridge(training *t)
{
    double sum = 0;
    uint64_t terms = (uint64_t)t->terms;
    for (uint64_t i = 0; i < t->count * terms; i++) sum += t->rows[i] * t->rows[i];
    memset(t->rows + t->count * terms, 0, terms * terms * sizeof *t->rows);
    for (uint64_t k = 1; k < terms; k++) t->rows[(t->count + k) * terms + k] = sqrt(t->how->ridge * sum / (double)terms);
}

static uint64_t all_rows(const training *t) { return t->count + (uint64_t)t->terms; }

static void correlate(training *t)
{
    for (uint64_t i = 0; i < t->count; i++) {
        const double *row = t->rows + i * (uint64_t)t->terms;
        for (int a = 0; a < t->terms; a++)
            for (int b = 0; b <= a; b++) t->factor[a * t->terms + b] += row[a] * row[b] / (double)all_rows(t);
    }
    for (int k = 1; k < t->terms; k++) { /* the ridge's have one weight each */
        double own = t->rows[(t->count + (uint64_t)k) * (uint64_t)t->terms + (uint64_t)k];
        t->factor[k * t->terms + k] += own * own / (double)all_rows(t);
    }
}

/* Cholesky, in place. The ridge keeps the pivots positive. */
static void factorise(training *t)
{
    int n = t->terms;
    for (int a = 0; a < n; a++)
        for (int b = 0; b <= a; b++) {
            double sum = t->factor[a * n + b];
            for (int c = 0; c < b; c++) sum -= t->factor[a * n + c] * t->factor[b * n + c];
            t->factor[a * n + b] = a == b ? sqrt(sum) : sum / t->factor[b * n + b];
        }
}

/* row := L^-1 row */
static void uncorrelate(const training *t, double *row)
{
    for (int a = 0; a < t->terms; a++) {
        const double *factor = t->factor + a * t->terms;
        double sum = row[a];
        for (int b = 0; b < a; b++) sum -= factor[b] * row[b];
        row[a] = sum / factor[a];
    }
}

/* weight := L^-T weight */
static void correlate_back(const training *t, double *weight)
{
    for (int a = t->terms - 1; a >= 0; a--) {
        for (int b = a + 1; b < t->terms; b++) weight[a] -= t->factor[b * t->terms + a] * weight[b];
        weight[a] /= t->factor[a * t->terms + a];
    }
}

static void shuffle(training *t, uint64_t epoch)
{
    for (uint64_t i = all_rows(t); i > 1; i--) {
        uint64_t j = td_random_below(td_random_at(t->how->seed, epoch * all_rows(t) + i), i);
        uint32_t swapped = t->order[i - 1];
        t->order[i - 1] = t->order[j];
        t->order[j] = swapped;
    }
}

/* One step: against the gradient of this sample's squared error, and never past its minimum. */
static void step(training *t, const double *row, double target, double rate)
{
    double predicted = 0, square = 0;
    for (int k = 0; k < t->terms; k++) {
        predicted += t->weight[k] * row[k];
        square += row[k] * row[k];
    }
    double by = (target - predicted) * (rate * square < 1 ? rate : 1 / square);
    for (int k = 0; k < t->terms; k++) t->weight[k] += by * row[k];
}

static void descend(training *t)
{
    int epochs = t->how->epochs;
    for (uint64_t i = 0; i < all_rows(t); i++) t->order[i] = (uint32_t)i;
    for (int epoch = 0; epoch < epochs; epoch++) {
        double rate = 0.5 / (t->terms * (1 + 30.0 * epoch / epochs)); /* a row's mean square is the number of terms */
        shuffle(t, (uint64_t)epoch);
        for (uint64_t i = 0; i < all_rows(t); i++)
            step(t, t->rows + t->order[i] * (uint64_t)t->terms, t->target[t->order[i]], rate);
    }
}

static td_status train_polynomial(training *t)
{
    t->model->degree = t->how->degree;
    t->terms = td_cost_terms(t->how->degree);
    uint64_t terms = (uint64_t)t->terms;
    if (t->count > UINT32_MAX / TD_COST_TERMS)
        return td_fail(TD_LIMIT, "%llu samples of a cost model; %u are allowed", (unsigned long long)t->count,
                       (unsigned)(UINT32_MAX / TD_COST_TERMS));
    TD_CHECK(TD_NEW(&t->rows, all_rows(t) * terms, "samples of the cost model"));
    TD_CHECK(TD_NEW_ZEROED(&t->factor, terms * terms, "weights of the cost model"));
    TD_CHECK(TD_NEW_ZEROED(&t->weight, terms, "weights of the cost model"));
    TD_CHECK(TD_NEW_ZEROED(&t->target, all_rows(t), "samples of the cost model"));
    TD_CHECK(TD_NEW(&t->order, all_rows(t), "samples of the cost model"));
    make_rows(t);
    add_ridge(t);
    correlate(t);
    factorise(t);
    for (uint64_t i = 0; i < all_rows(t); i++) uncorrelate(t, t->rows + i * terms);
    descend(t);
    correlate_back(t, t->weight);
    bool logarithms = t->how->kind == TD_COST_EXPONENTIAL;
    for (int k = 0; k < t->terms; k++) t->model->weight[k] = t->weight[k] * (logarithms ? 1 : t->model->most);
    if (logarithms) t->model->weight[0] += log(t->model->most);
    return TD_OK;
}

/* A regression tree: every split lowers the sum of relative squared errors most, where a group predicts the one cost
 * that is best for it. */

typedef struct item {
    double x[TD_METRICS], inverse; /* inverse: 1 / cost */
    double key;
    uint64_t number;
} item;

typedef struct group {
    double count, first, second; /* sums of 1, 1/t and 1/t^2 */
} group;

static void count_in(group *g, const item *i)
{
    g->count++;
    g->first += i->inverse;
    g->second += i->inverse * i->inverse;
}

static double error_of(const group *g) { return g->count - g->first * g->first / g->second; }

static int by_key(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static void sort_by(item *items, uint64_t count, int metric)
{
    for (uint64_t i = 0; i < count; i++) items[i].key = items[i].x[metric];
    qsort(items, count, sizeof *items, by_key);
}

/* The best split of a group into a lower and a higher part; returns false where none lowers the error. */
static bool find_split(item *items, uint64_t count, const group *all, td_cost_node *node)
{
    double best = error_of(all) * (1 - 1e-9);
    node->metric = -1;
    for (int m = 0; m < TD_METRICS; m++) {
        group low = {0}, high;
        sort_by(items, count, m);
        for (uint64_t i = 0; i + 1 < count; i++) {
            count_in(&low, &items[i]);
            high = (group){all->count - low.count, all->first - low.first, all->second - low.second};
            if (items[i].key == items[i + 1].key || low.count < LEAF || high.count < LEAF) continue;
            double error = error_of(&low) + error_of(&high);
            if (error >= best) continue;
            best = error;
            node->metric = m;
            node->limit = items[i].key + (items[i + 1].key - items[i].key) / 2;
        }
    }
    return node->metric >= 0;
}

static void grow(td_cost_model *model, int at, item *items, uint64_t count, int depth)
{
    td_cost_node *node = &model->node[at];
    group all = {0};
    for (uint64_t i = 0; i < count; i++) count_in(&all, &items[i]);
    *node = (td_cost_node){.metric = -1, .seconds = all.first / all.second};
    if (depth == DEPTH || model->nodes + 2 > TD_COST_NODES || !find_split(items, count, &all, node)) return;
    node->low = model->nodes;
    node->seconds = 0;
    model->nodes += 2;
    uint64_t cut = 0;
    sort_by(items, count, node->metric);
    while (items[cut].key <= node->limit) cut++;
    grow(model, node->low, items, cut, depth + 1);
    grow(model, node->low + 1, items + cut, count - cut, depth + 1);
}

static td_status train_tree(training *t)
{
    item *items = NULL;
    TD_CHECK(TD_NEW_ZEROED(&items, t->count, "samples of the cost model"));
    for (uint64_t i = 0; i < t->count; i++) {
        td_cost_scale(t->model, &t->samples[i]->metrics, items[i].x);
        items[i].inverse = t->model->most / cost_of(t->samples[i]);
        items[i].number = i;
    }
    t->model->nodes = 1;
    grow(t->model, 0, items, t->count, 0);
    for (int i = 0; i < t->model->nodes; i++) t->model->node[i].seconds *= t->model->most;
    td_free(items);
    return TD_OK;
}

static double training_error(const training *t)
{
    double sum = 0;
    for (uint64_t i = 0; i < t->count; i++) {
        double relative = td_cost_predict(t->model, &t->samples[i]->metrics) / cost_of(t->samples[i]) - 1;
        sum += relative * relative;
    }
    return sqrt(sum / (double)t->count);
}

td_status td_cost_train(const td_cost_sample *samples, uint64_t count, const td_cost_training *how, td_cost_model *out)
{
    td_status status = TD_OK;
    training t = {.how = how, .model = out};
    memset(out, 0, sizeof *out);
    out->kind = how->kind;
    if (count > 0) out->work = samples[0].work;
    snprintf(out->label, sizeof out->label, "%s", how->label != NULL ? how->label : "");
    TD_TRY(check_settings(how));
    TD_TRY(TD_NEW(&t.samples, count, "samples of the cost model"));
    TD_TRY(select_samples(&t, samples, count));
    TD_TRY(how->kind == TD_COST_TREE ? train_tree(&t) : train_polynomial(&t));
    out->error = training_error(&t);
    if (how->held_out != NULL) out->held_out_error = td_cost_error(out, samples, count, how->held_out);
done:
    td_free(t.samples);
    td_free(t.rows);
    td_free(t.factor);
    td_free(t.weight);
    td_free(t.target);
    td_free(t.order);
    return status;
}

/* The ridge. */

enum { MOST_FAMILIES = 64 };

/* Families in the order of their first samples; those beyond the limit are only trained on. */
static int list_families(const td_cost_sample *samples, uint64_t count, const char *families[MOST_FAMILIES])
{
    int found = 0;
    for (uint64_t i = 0; i < count && found < MOST_FAMILIES; i++) {
        int k = 0;
        while (k < found && strcmp(families[k], samples[i].family) != 0) k++;
        if (k == found) families[found++] = samples[i].family;
    }
    return found;
}

/* The mean of the squared errors on families that are each held out in turn. */
static td_status error_across(const td_cost_sample *samples, uint64_t count, td_cost_training how, double *out)
{
    const char *families[MOST_FAMILIES];
    int found = list_families(samples, count, families);
    td_cost_model *model = NULL;
    td_status status = TD_OK;
    *out = 0;
    TD_CHECK(TD_NEW(&model, 1, "a cost model"));
    for (int k = 0; k < found; k++) {
        how.held_out = families[k];
        TD_TRY(td_cancel_check());
        TD_TRY(td_cost_train(samples, count, &how, model));
        *out += model->held_out_error * model->held_out_error / found;
    }
done:
    td_free(model);
    return status;
}

td_status td_cost_choose_ridge(const td_cost_sample *samples, uint64_t count, const td_cost_training *how, double *out)
{
    td_status status = TD_OK;
    const char *families[MOST_FAMILIES];
    td_cost_sample *kept = NULL;
    td_cost_training tried = *how;
    uint64_t used = 0;
    double lowest = INFINITY, error;
    *out = td_cost_usual.ridge;
    TD_CHECK(TD_NEW(&kept, count, "samples of the cost model"));
    for (uint64_t i = 0; i < count; i++)
        if (how->held_out == NULL || strcmp(samples[i].family, how->held_out) != 0) kept[used++] = samples[i];
    if (how->kind == TD_COST_TREE || list_families(kept, used, families) < 2) goto done;
    for (double ridge = 1e-6; ridge < 0.2; ridge *= 10) {
        tried.ridge = ridge;
        TD_TRY(error_across(kept, used, tried, &error));
        if (error >= lowest) continue;
        lowest = error;
        *out = ridge;
    }
done:
    td_free(kept);
    return status;
}
