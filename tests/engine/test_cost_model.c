/* Metrics of frontiers and the cost models that are trained on them. */
#include "test.h"

#include "base/random.h"
#include "engine/multi/cost_inside.h"

#include <errno.h>
#include <math.h>

static uint64_t drawn;
static double unit(uint64_t seed) { return td_random_unit(td_random_at(seed, drawn++)); }

/* Metrics. */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Gini coefficient and entropy by the paper's formulas, from all degrees. */
static void exact(double *degrees, int count, double *gini, double *entropy)
{
    double ranked = 0, sum = 0;
    qsort(degrees, (size_t)count, sizeof *degrees, by_size);
    *entropy = 0;
    for (int i = 0; i < count; i++) {
        ranked += (i + 1) * degrees[i];
        sum += degrees[i];
    }
    *gini = 2 * ranked / (count * sum) - (count + 1.0) / count;
    for (int i = 0; i < count; i++)
        if (degrees[i] > 0) *entropy -= degrees[i] / sum * log(degrees[i] / sum) / log(count);
}

static void summarise(td_frontier_summary *s, int count, const uint32_t *in, const uint32_t *out)
{
    td_frontier_summary_clear(s);
    for (int i = 0; i < count; i++) td_frontier_summary_add(s, in[i], out[i]);
}

TEST(metrics_of_small_frontiers)
{
    td_frontier_summary s;
    td_frontier_metrics m;
    summarise(&s, 4, (uint32_t[]){1, 2, 3, 6}, (uint32_t[]){3, 2, 1, 0});
    td_frontier_metrics_of(&s, &m);
    CHECK(m.value[TD_MEAN_IN] == 3 && m.value[TD_MEAN_OUT] == 1.5);
    CHECK(m.value[TD_RANGE_IN] == 5 && m.value[TD_RANGE_OUT] == 3);
    summarise(&s, 3, (uint32_t[]){4, 4, 4}, (uint32_t[]){0, 0, 0}); /* all alike */
    td_frontier_metrics_of(&s, &m);
    CHECK(fabs(m.value[TD_GINI]) < 1e-12 && fabs(m.value[TD_ENTROPY] - 1) < 1e-12);
    summarise(&s, 4, (uint32_t[]){0, 0, 0, 8}, (uint32_t[]){0, 0, 0, 8}); /* one has all */
    td_frontier_metrics_of(&s, &m);
    CHECK(fabs(m.value[TD_GINI] - 0.75) < 1e-12 && fabs(m.value[TD_ENTROPY]) < 1e-12);
    for (int vertices = 0; vertices < 2; vertices++) {
        summarise(&s, vertices, (uint32_t[]){7}, (uint32_t[]){2});
        td_frontier_metrics_of(&s, &m);
        CHECK(m.value[TD_RANGE_IN] == 0 && m.value[TD_GINI] == 0 && m.value[TD_ENTROPY] == 1);
        CHECK(m.value[TD_MEAN_IN] == 7 * vertices);
    }
    summarise(&s, 2, (uint32_t[]){0, 0}, (uint32_t[]){0, 0}); /* no edge at all */
    td_frontier_metrics_of(&s, &m);
    CHECK(m.value[TD_GINI] == 0 && m.value[TD_ENTROPY] == 1);
}

/* Classes of degrees instead of sorted degrees: near enough on degrees of any skew. */
TEST(classes_of_degrees_are_close_to_all_degrees)
{
    enum { COUNT = 3000 };
    static uint32_t in[COUNT], out[COUNT];
    static double degrees[COUNT];
    for (int skew = 0; skew <= 10; skew++) {
        td_frontier_summary whole, parts, part;
        td_frontier_metrics m, merged;
        double gini, entropy;
        for (int i = 0; i < COUNT; i++) {
            in[i] = (uint32_t)(3 * pow(unit(3) + 1e-6, -0.15 * skew));
            out[i] = (uint32_t)(10 * unit(4));
            degrees[i] = (double)in[i] + out[i];
        }
        summarise(&whole, COUNT, in, out);
        td_frontier_metrics_of(&whole, &m);
        exact(degrees, COUNT, &gini, &entropy);
        CHECK(fabs(m.value[TD_GINI] - gini) < 0.05);
        CHECK(fabs(m.value[TD_ENTROPY] - entropy) < 0.01);
        td_frontier_summary_clear(&parts);
        for (int at = 0; at < COUNT; at += 1000) {
            summarise(&part, 1000, in + at, out + at);
            td_frontier_summary_merge(&parts, &part);
        }
        td_frontier_metrics_of(&parts, &merged);
        CHECK(memcmp(&whole, &parts, sizeof whole) == 0 && memcmp(&m, &merged, sizeof m) == 0);
    }
}

/* Samples. */

enum { SAMPLES = 4000 };
static const char *const families[] = {"rmat", "web", "grid", "uniform", "small"};

static td_frontier_metrics draw_metrics(uint64_t seed)
{
    td_frontier_metrics m;
    for (int i = 0; i < TD_METRICS; i++) m.value[i] = i < TD_GINI ? expm1(unit(seed) * 8) : unit(seed);
    return m;
}

/* A polynomial of degree 4 in the logarithms of degrees, and always positive. */
static double smooth_cost(const td_frontier_metrics *m)
{
    double a = log1p(m->value[TD_MEAN_IN]) / 8, b = log1p(m->value[TD_RANGE_OUT]) / 8, g = m->value[TD_GINI];
    double h = m->value[TD_ENTROPY], c = log1p(m->value[TD_MEAN_OUT]) / 8;
    return 1e-10 * (0.4 + 3 * pow(a - 0.5, 4) + 2 * a * b * g * h + pow(g - h * c, 2) + 8 * pow(b - 0.3, 2) * pow(c, 2));
}

static double stepped_cost(const td_frontier_metrics *m)
{
    if (m->value[TD_GINI] > 0.62) return m->value[TD_MEAN_IN] > 100 ? 9e-10 : 1e-10;
    return m->value[TD_ENTROPY] > 0.2 ? 4e-10 : 2e-10;
}

static void draw(td_cost_sample *samples, int count, uint64_t seed, double (*cost)(const td_frontier_metrics *))
{
    drawn = 0;
    for (int i = 0; i < count; i++) {
        samples[i] = (td_cost_sample){.metrics = draw_metrics(seed), .edges = floor(1000 + 1e6 * unit(seed))};
        snprintf(samples[i].family, sizeof samples[i].family, "%s", families[i % 5]);
        samples[i].seconds = samples[i].edges * cost(&samples[i].metrics);
    }
}

static td_cost_sample samples[SAMPLES], fresh[SAMPLES];
static td_cost_model model, other;

TEST(terms_are_all_products)
{
    const int terms[] = {1, 8, 36, 120, 330};
    double scaled[TD_METRICS] = {2, 3, 5, 7, 11, 13, 17}, product[TD_COST_TERMS];
    CHECK_EQ(td_cost_terms(4), TD_COST_TERMS);
    for (int degree = 0; degree <= 4; degree++) {
        CHECK_EQ(td_cost_terms(degree), terms[degree]);
        CHECK_EQ(td_cost_products(degree, scaled, product), terms[degree]);
    }
    for (int i = 0; i < TD_COST_TERMS; i++) /* products of primes: none occurs twice */
        for (int j = 0; j < i; j++) CHECK(product[i] != product[j]);
    CHECK(product[TD_COST_TERMS - 1] == 17 * 17 * 17 * 17);
}

TEST(a_polynomial_is_recovered)
{
    draw(samples, SAMPLES, 5, smooth_cost);
    draw(fresh, SAMPLES, 6, smooth_cost);
    CHECK_OK(td_cost_train(samples, SAMPLES, &td_cost_usual, &model));
    CHECK_EQ(model.samples, SAMPLES);
    CHECK(fabs(model.error - td_cost_error(&model, samples, SAMPLES, NULL)) < 1e-12);
    double error = td_cost_error(&model, fresh, SAMPLES, NULL);
    if (error > 0.01) TEST_FAIL("RMSRE %g on fresh samples, %g on its own", error, model.error);
    td_cost_training linear = td_cost_usual;
    linear.degree = 1;
    CHECK_OK(td_cost_train(samples, SAMPLES, &linear, &other));
    CHECK(td_cost_error(&other, fresh, SAMPLES, NULL) > 10 * error);
}

/* Costs whose causes multiply: the exponential of a polynomial of degree 2 finds them, a plain polynomial does not. */
static double multiplied_cost(const td_frontier_metrics *m)
{
    double a = log1p(m->value[TD_MEAN_IN]) / 8, g = m->value[TD_GINI], e = log1p(m->value[TD_EDGES]) / 8;
    return 1e-9 * exp(-3 * e + 2 * g * a - 1.5 * a * a + 2 * g);
}

TEST(an_exponential_is_recovered)
{
    draw(samples, SAMPLES, 7, multiplied_cost);
    draw(fresh, SAMPLES, 8, multiplied_cost);
    td_cost_training how = td_cost_usual;
    how.degree = 2;
    CHECK_OK(td_cost_train(samples, SAMPLES, &how, &other));
    how.kind = TD_COST_EXPONENTIAL;
    CHECK_OK(td_cost_train(samples, SAMPLES, &how, &model));
    double error = td_cost_error(&model, fresh, SAMPLES, NULL), plain = td_cost_error(&other, fresh, SAMPLES, NULL);
    if (!(error < 0.01) || !(10 * error < plain)) TEST_FAIL("RMSRE %g on fresh samples, %g of a polynomial", error, plain);
    CHECK_OK(td_cost_model_write(&model, test_path("exponential")));
    CHECK_OK(td_cost_model_read(&other, test_path("exponential")));
    CHECK_EQ(other.kind, TD_COST_EXPONENTIAL);
    for (int i = 0; i < 50; i++) CHECK(td_cost_predict(&model, &fresh[i].metrics) == td_cost_predict(&other, &fresh[i].metrics));
}

/* Descent finds what the best weights are: those of the relative error, not of the plain one. With a cost of either 1 or
 * 9 for the same metrics, 2 (1 + 1/9) / (1 + 1/81) / 2 is best. */
TEST(the_relative_error_counts)
{
    for (int i = 0; i < 100; i++) {
        samples[i] = (td_cost_sample){.family = "one", .edges = 1, .seconds = i % 2 == 0 ? 1 : 9};
        samples[i].metrics.value[TD_GINI] = (i / 2) % 2;
    }
    td_cost_training how = td_cost_usual;
    how.degree = 1;
    how.epochs = 2000;
    CHECK_OK(td_cost_train(samples, 100, &how, &model));
    double best = (1 + 1.0 / 9) / (1 + 1.0 / 81), seen = td_cost_predict(&model, &samples[0].metrics);
    if (fabs(seen - best) > 0.02 * best) TEST_FAIL("%g instead of %g", seen, best);
    CHECK_OK(td_cost_train(samples, 100, &(td_cost_training){.kind = TD_COST_TREE}, &model));
    CHECK(fabs(td_cost_predict(&model, &samples[0].metrics) - best) < 1e-9);
}

TEST(noise_does_not_keep_the_descent_from_converging)
{
    draw(samples, SAMPLES, 15, smooth_cost);
    for (int i = 0; i < SAMPLES; i++) samples[i].seconds *= exp(0.2 * (unit(16) + unit(16) + unit(16) - 1.5));
    draw(fresh, SAMPLES, 17, smooth_cost);
    CHECK_OK(td_cost_train(samples, SAMPLES, &td_cost_usual, &model));
    double error = td_cost_error(&model, fresh, SAMPLES, NULL);
    if (error > 0.05) TEST_FAIL("RMSRE %g against the costs without noise", error);
}

TEST(a_tree_follows_steps_that_a_line_cannot)
{
    td_cost_training tree = {.kind = TD_COST_TREE}, linear = td_cost_usual;
    linear.degree = 1;
    draw(samples, SAMPLES, 7, stepped_cost);
    draw(fresh, SAMPLES, 8, stepped_cost);
    CHECK_OK(td_cost_train(samples, SAMPLES, &tree, &model));
    CHECK_OK(td_cost_train(samples, SAMPLES, &linear, &other));
    double error = td_cost_error(&model, fresh, SAMPLES, NULL);
    if (error > 0.15) TEST_FAIL("RMSRE %g with %d nodes", error, model.nodes);
    CHECK(td_cost_error(&other, fresh, SAMPLES, NULL) > 3 * error);
}

TEST(a_family_is_held_out)
{
    td_cost_training how = td_cost_usual;
    how.held_out = "web";
    how.label = "emu:8@dgx1";
    draw(samples, SAMPLES, 9, smooth_cost);
    for (int i = 0; i < SAMPLES; i++)
        if (strcmp(samples[i].family, "web") == 0) samples[i].seconds *= 3; /* what a model cannot know */
    CHECK_OK(td_cost_train(samples, SAMPLES, &how, &model));
    CHECK_EQ(model.samples, SAMPLES / 5 * 4);
    CHECK_STR(model.label, "emu:8@dgx1");
    CHECK(fabs(model.held_out_error - 2.0 / 3) < 0.02); /* predicts a third of it */
    CHECK(model.held_out_error == td_cost_error(&model, samples, SAMPLES, "web"));
    CHECK(model.error < 0.01);
    how.held_out = "nowhere";
    CHECK_OK(td_cost_train(samples, SAMPLES, &how, &model));
    CHECK(model.held_out_error == 0 && model.samples == SAMPLES);
}

/* Families with metrics of their own and much noise: a small ridge follows the noise between them. */
static void draw_families(double noise)
{
    draw(samples, 1000, 50, smooth_cost);
    for (int i = 0; i < 1000; i++) {
        for (int m = TD_GINI; m < TD_METRICS; m++)
            samples[i].metrics.value[m] = 0.2 * (i % 5) + 0.1 * samples[i].metrics.value[m];
        samples[i].metrics.value[TD_EDGES] = 1000;
        samples[i].seconds = samples[i].edges * smooth_cost(&samples[i].metrics) * exp(noise * (unit(51) - 0.5));
    }
}

TEST(the_ridge_is_chosen_for_unknown_families)
{
    td_cost_training how = td_cost_usual;
    double quiet, noisy, again;
    how.epochs = 4;
    how.degree = 3;
    how.held_out = "grid";
    draw_families(0);
    CHECK_OK(td_cost_choose_ridge(samples, 1000, &how, &quiet));
    draw_families(1.5);
    CHECK_OK(td_cost_choose_ridge(samples, 1000, &how, &noisy));
    if (!(noisy > quiet)) TEST_FAIL("%g without noise, %g with noise", quiet, noisy);
    CHECK_OK(td_cost_train(samples, 1000, &how, &model));
    how.ridge = noisy;
    CHECK_OK(td_cost_train(samples, 1000, &how, &other));
    CHECK(other.held_out_error < model.held_out_error);
    draw_families(0);
    for (int i = 2; i < 1000; i += 5) samples[i].seconds *= exp(6 * (unit(52) - 0.5)); /* the held-out family has no say */
    CHECK_OK(td_cost_choose_ridge(samples, 1000, &how, &again));
    CHECK(again == quiet);
    for (int i = 0; i < 10; i++) strcpy(samples[i].family, "one");
    CHECK_OK(td_cost_choose_ridge(samples, 10, &how, &again));
    CHECK(again == td_cost_usual.ridge);
}

/* A ridge pulls all weights but the constant to zero: the same cost for all is met exactly however strong it is. */
TEST(a_ridge_spares_the_constant)
{
    td_cost_training how = td_cost_usual;
    how.ridge = 1;
    draw(samples, 500, 53, smooth_cost);
    for (int i = 0; i < 500; i++) samples[i].seconds = 3e-9 * samples[i].edges;
    samples[7].seconds *= 1.0001; /* leaves room for predictions above and below */
    samples[8].seconds /= 2;
    CHECK_OK(td_cost_train(samples, 500, &how, &model));
    CHECK(model.weight[0] > 2.8e-9 && model.weight[0] < 3.01e-9);
    for (int k = 1; k < TD_COST_TERMS; k++) CHECK(fabs(model.weight[k]) < 0.05e-9);
}

TEST(the_same_seed_gives_the_same_model)
{
    td_cost_training how = td_cost_usual;
    how.epochs = 3;
    draw(samples, 500, 10, smooth_cost);
    CHECK_OK(td_cost_train(samples, 500, &how, &model));
    CHECK_OK(td_cost_train(samples, 500, &how, &other));
    CHECK(memcmp(&model, &other, sizeof model) == 0);
    how.seed++;
    CHECK_OK(td_cost_train(samples, 500, &how, &other));
    CHECK(memcmp(&model, &other, sizeof model) != 0);
}

TEST(predictions_stay_within_what_was_seen)
{
    draw(samples, 500, 11, smooth_cost);
    CHECK_OK(td_cost_train(samples, 500, &td_cost_usual, &model));
    for (int i = 0; i < 2000; i++) {
        td_frontier_metrics m;
        for (int k = 0; k < TD_METRICS; k++) m.value[k] = pow(10, 30 * unit(12) - 10);
        double cost = td_cost_predict(&model, &m);
        CHECK(cost >= model.least && cost <= model.most);
    }
    td_frontier_metrics limit, beyond; /* a metric beyond the samples counts as their limit */
    for (int k = 0; k < TD_METRICS; k++) {
        for (int i = 0; i < TD_METRICS; i++) limit.value[i] = i < TD_GINI ? expm1(model.low[i]) : model.low[i];
        limit.value[k] = k < TD_GINI ? expm1(model.high[k]) : model.high[k];
        beyond = limit;
        beyond.value[k] *= 3;
        CHECK(fabs(td_cost_predict(&model, &beyond) / td_cost_predict(&model, &limit) - 1) < 1e-9);
    }
}

/* One sample a million times as cheap as the others has rows a million times as long. */
TEST(an_outlier_does_not_make_the_descent_diverge)
{
    td_cost_training how = td_cost_usual;
    how.degree = 1;
    draw(samples, 1000, 19, smooth_cost);
    samples[333].seconds *= 1e-6;
    CHECK_OK(td_cost_train(samples, 1000, &how, &model));
    for (int k = 0; k < td_cost_terms(1); k++) CHECK(fabs(model.weight[k]) < 10 * model.most);
}

/* Few samples, all alike, or metrics that never vary leave most weights open. */
TEST(poor_samples_train_all_the_same)
{
    for (int count = 1; count <= 8; count++) {
        draw(samples, count, 13, smooth_cost);
        for (int i = 0; i < count && count > 4; i++) samples[i] = samples[0];
        CHECK_OK(td_cost_train(samples, (uint64_t)count, &td_cost_usual, &model));
        for (int i = 0; i < count; i++) {
            double cost = samples[i].seconds / samples[i].edges, seen = td_cost_predict(&model, &samples[i].metrics);
            CHECK(isfinite(seen) && fabs(seen / cost - 1) < 0.5);
        }
        CHECK_OK(td_cost_train(samples, (uint64_t)count, &(td_cost_training){.kind = TD_COST_TREE}, &model));
        CHECK(isfinite(td_cost_predict(&model, &samples[0].metrics)));
    }
}

TEST(wrong_samples_and_settings_are_refused)
{
    td_cost_training how = td_cost_usual;
    draw(samples, 20, 14, smooth_cost);
    CHECK_STATUS(td_cost_train(samples, 0, &how, &model), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "no sample is left");
    for (int i = 0; i < 20; i++) strcpy(samples[i].family, "web");
    how.held_out = "web";
    CHECK_STATUS(td_cost_train(samples, 20, &how, &model), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "'web' is held out");
    how = td_cost_usual;
    how.degree = 5;
    CHECK_STATUS(td_cost_train(samples, 20, &how, &model), TD_INVALID);
    how = td_cost_usual;
    how.epochs = 0;
    CHECK_STATUS(td_cost_train(samples, 20, &how, &model), TD_INVALID);
    how = td_cost_usual;
    how.ridge = NAN;
    CHECK_STATUS(td_cost_train(samples, 20, &how, &model), TD_INVALID);
    samples[7].seconds = 0;
    CHECK_STATUS(td_cost_train(samples, 20, &td_cost_usual, &model), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "sample 7");
    samples[7].seconds = NAN;
    CHECK_STATUS(td_cost_train(samples, 20, &td_cost_usual, &model), TD_INVALID);
    samples[7].seconds = 1;
    samples[7].metrics.value[TD_RANGE_IN] = INFINITY;
    CHECK_STATUS(td_cost_train(samples, 20, &td_cost_usual, &model), TD_INVALID);
    CHECK_CONTAINS(td_last_message(), "range-in of sample 7");
}

TEST(every_allocation_may_fail)
{
    draw(samples, 50, 18, smooth_cost);
    for (int kind = TD_COST_POLYNOMIAL; kind <= TD_COST_TREE; kind++) {
        td_cost_training how = td_cost_usual;
        how.kind = (td_cost_kind)kind;
        how.epochs = 1;
        uint64_t before = td_alloc_requests();
        CHECK_OK(td_cost_train(samples, 50, &how, &model));
        for (uint64_t nth = 1, most = td_alloc_requests() - before; nth <= most; nth++) {
            td_alloc_fail_at(nth);
            td_status status = td_cost_train(samples, 50, &how, &model);
            td_alloc_fail_at(0);
            CHECK_EQ(status, TD_NO_MEMORY);
        }
    }
}

/* Files. */

static char text[64 << 10];
static size_t text_bytes;

static void load(const char *path)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    text_bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[text_bytes] = '\0';
}

static void train_small(td_cost_kind kind, int degree)
{
    td_cost_training how = {.kind = kind, .degree = degree, .epochs = 2, .ridge = 1e-4, .label = "a label, two  words"};
    draw(samples, 300, 20, kind == TD_COST_TREE ? stepped_cost : smooth_cost);
    CHECK_OK(td_cost_train(samples, 300, &how, &model));
}

TEST(a_model_survives_its_file)
{
    for (int degree = 0; degree <= 4; degree++) { /* 0: a tree */
        const char *path = test_path("model");
        train_small(degree == 0 ? TD_COST_TREE : TD_COST_POLYNOMIAL, degree == 0 ? 1 : degree);
        CHECK_OK(td_cost_model_write(&model, path));
        CHECK_OK(td_cost_model_read(&other, path));
        CHECK(memcmp(&model, &other, sizeof model) == 0);
    }
}

TEST(a_label_is_one_line)
{
    train_small(TD_COST_POLYNOMIAL, 1);
    strcpy(model.label, "two\nlines\tand a tab");
    CHECK_OK(td_cost_model_write(&model, test_path("label")));
    CHECK_OK(td_cost_model_read(&other, test_path("label")));
    CHECK_STR(other.label, "two lines and a tab");
    model.label[0] = '\0';
    CHECK_OK(td_cost_model_write(&model, test_path("label")));
    CHECK_OK(td_cost_model_read(&other, test_path("label")));
    CHECK_STR(other.label, "");
}

/* Replaces the first `from` in the text by `to`, and expects the reader to refuse that with `message`. */
static void refused(const char *from, const char *to, const char *message)
{
    static char forged[sizeof text + 1024];
    char *at = strstr(text, from);
    if (at == NULL) TEST_FAIL("no '%s' in the file", from);
    size_t begin = (size_t)(at - text);
    int bytes = snprintf(forged, sizeof forged, "%.*s%s%s", (int)begin, text, to, at + strlen(from));
    test_write_file(test_path("forged"), forged, (size_t)bytes);
    CHECK_STATUS(td_cost_model_read(&other, test_path("forged")), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "forged:");
    CHECK_CONTAINS(td_last_message(), message);
}

TEST(forged_models_are_refused_by_line)
{
    train_small(TD_COST_POLYNOMIAL, 2);
    CHECK_OK(td_cost_model_write(&model, test_path("model")));
    load(test_path("model"));
    refused("model 1", "model 2", ":1: '2' instead of version 1");
    refused("tandem-cost-model", "tandem-cost-samples", ":1: 'tandem-cost-samples' instead of 'tandem-cost-model'");
    refused("label a", "label \x01", ":2: the label has a control character");
    text[strlen(text) / 2] = '\0'; /* in a line of weights */
    test_write_file(test_path("zero"), text, text_bytes);
    CHECK_STATUS(td_cost_model_read(&other, test_path("zero")), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "a byte of zero");
    load(test_path("model"));
    refused("kind polynomial", "kind forest", ":4: 'forest' instead of polynomial, exponential or tree");
    refused("samples 300", "samples 0", ":5: '0' instead of a whole number");
    refused("error ", "error nan #", ":6: 'error' has");
    refused("held-out-error 0", "held-out-error inf", ":7: 'inf' instead of a number");
    refused("cost ", "cost -", ":8: ");
    refused("metric mean-in", "metric mean-out", ":9: 'mean-out' instead of mean-in");
    refused("metric gini 0", "metric gini 7", ":14: ");
    refused("degree 2", "degree 5", ":16: '5' instead of a whole number from 1 to 4");
    refused("weight ", "weight nan\nweight ", ":17: 'nan' instead of a number");
    refused("weight ", "weight 1 2\nweight ", ":17: 'weight' has 2 values instead of 1");
    refused("weight ", "weight 1\nweight ", ":53: 'weight' instead of 'end'");
    refused("end\n", "", ":53: ends before 'end'; the file was cut off");
    refused("end\n", "end\nmore\n", ":54: 'more' instead of the end of the file");
    train_small(TD_COST_TREE, 1);
    CHECK_OK(td_cost_model_write(&model, test_path("model")));
    load(test_path("model"));
    refused("split gini", "split beauty", ":17: 'beauty' instead of the name of a metric");
    refused("leaf ", "leaf -", "instead of a number from 1e-30");
    refused("leaf ", "branch ", "instead of 'split METRIC LIMIT LOW' or 'leaf SECONDS'");
    refused("nodes ", "nodes 9", ":16: "); /* 9xx */
    char first[64], circular[64];
    CHECK(sscanf(strstr(text, "split "), "%63[^\n]", first) == 1);
    snprintf(circular, sizeof circular, "%s", first);
    *strrchr(circular, ' ') = '\0';
    strcat(circular, " 0");
    refused(first, circular, ":17: '0' instead of a whole number from 1"); /* a walk would never end */
    CHECK_STATUS(td_cost_model_read(&other, test_path("nowhere")), TD_IO);
    CHECK_CONTAINS(td_last_message(), "nowhere");
    CHECK(td_cost_model_read(&other, test_folder()) != TD_OK);
}

TEST(a_model_cut_off_anywhere_is_refused)
{
    train_small(TD_COST_TREE, 1);
    CHECK_OK(td_cost_model_write(&model, test_path("model")));
    load(test_path("model"));
    for (size_t bytes = 0; bytes + 1 < text_bytes; bytes++) {
        unlink(test_path("cut")); /* some file systems wait for the disk when a file is overwritten */
        test_write_file(test_path("cut"), text, bytes);
        CHECK_STATUS(td_cost_model_read(&other, test_path("cut")), TD_FORMAT);
    }
}

/* Whatever happens to a file, it is refused with its name, or it is a model that predicts. */
TEST(damaged_models_are_refused_or_predict)
{
    static char damaged[sizeof text];
    int accepted = 0;
    for (uint64_t attempt = 0; attempt < 3000; attempt++) {
        if (attempt % 1000 == 0) {
            train_small(attempt == 1000 ? TD_COST_TREE : TD_COST_POLYNOMIAL, 2);
            CHECK_OK(td_cost_model_write(&model, test_path("model")));
            load(test_path("model"));
        }
        memcpy(damaged, text, text_bytes);
        size_t bytes = text_bytes;
        for (int change = (int)(4 * unit(30)); change >= 0; change--) {
            size_t at = (size_t)(unit(30) * (double)bytes), length = (size_t)(unit(30) * 20);
            if (at + length > bytes) length = bytes - at;
            if (unit(30) < 0.2) bytes -= length, memmove(damaged + at, damaged + at + length, bytes - at);
            else if (unit(30) < 0.5) damaged[at] = "0123456789.-+einf \n\t#"[(int)(unit(30) * 21)];
            else damaged[at] = (char)(unit(30) * 256);
        }
        unlink(test_path("damaged"));
        test_write_file(test_path("damaged"), damaged, bytes);
        td_status status = td_cost_model_read(&other, test_path("damaged"));
        if (status == TD_OK) {
            td_frontier_metrics m = draw_metrics(31);
            double cost = td_cost_predict(&other, &m);
            CHECK(isfinite(cost) && cost >= other.least && cost <= other.most);
            accepted++;
        } else {
            CHECK_EQ(status, TD_FORMAT);
            CHECK_CONTAINS(td_last_message(), "damaged:");
        }
    }
    CHECK(accepted > 0 && accepted < 2900);
}

TEST(logs_of_samples_add_up)
{
    td_cost_sample *read = NULL;
    uint64_t count = 0;
    draw(samples, SAMPLES, 40, smooth_cost);
    CHECK_OK(td_cost_samples_write(samples, 1500, test_path("first")));
    CHECK_OK(td_cost_samples_write(samples + 1500, SAMPLES - 1500, test_path("second")));
    CHECK_OK(td_cost_samples_read(&read, &count, test_path("first")));
    CHECK_EQ(count, 1500);
    CHECK_OK(td_cost_samples_read(&read, &count, test_path("second")));
    CHECK_EQ(count, SAMPLES);
    CHECK(memcmp(read, samples, sizeof samples) == 0);
    const char *const bad[][2] = {
        {"tandem-cost-samples 1\nweb 1 2 3 4 0.5 0.5 100\n", ":2: 8 words instead of 10"},
        {"tandem-cost-samples 1\n\n# one\nweb 1 2 3 4 100 0.5 1.5 100 1\n", ":4: '1.5' instead of a number from 0 to 1"},
        {"tandem-cost-samples 1\nweb 1 2 3 4 100 0.5 0.5 100 0\n", ":2: '0' instead of a number"},
        {"tandem-cost-samples 1\nweb 1 2 nan 4 100 0.5 0.5 100 1\n", ":2: 'nan' instead of a number"},
        {"tandem-cost-samples 1\nweb 1 2 3 4 100 0.5 0.5 100 1 1 1 1\n", ":2: more than 12 words"},
        {"tandem-cost-samples 9\n", ":1: '9' instead of version 1"},
        {"", "ends before 'tandem-cost-samples'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_write_file(test_path("bad"), bad[i][0], strlen(bad[i][0]));
        CHECK_STATUS(td_cost_samples_read(&read, &count, test_path("bad")), TD_FORMAT);
        CHECK_CONTAINS(td_last_message(), bad[i][1]);
        CHECK_EQ(count, SAMPLES);
    }
    td_free(read);
    strcpy(samples[0].family, "two words");
    CHECK_STATUS(td_cost_samples_write(samples, 1, test_path("words")), TD_INVALID);
    CHECK(access(test_path("words"), F_OK) != 0);
    read = NULL;
    count = 0;
    for (uint64_t nth = 1; nth <= 2; nth++) {
        td_alloc_fail_at(nth);
        td_status status = td_cost_samples_read(&read, &count, test_path("second"));
        td_alloc_fail_at(0);
        CHECK_EQ(status, TD_NO_MEMORY);
        CHECK_EQ(count, 0);
    }
    td_free(read);
}

/* Files of several models, and logs of several works. */

TEST(a_file_has_a_model_for_each_work)
{
    static td_cost_models models, read;
    for (int work = 0; work < TD_COST_WORKS; work++) {
        if (work == TD_COST_GATHER) continue; /* none of this one */
        train_small(work == TD_COST_PUSH ? TD_COST_POLYNOMIAL : TD_COST_TREE, 2);
        models.of[work] = model;
        models.of[work].work = (td_cost_work)work;
    }
    CHECK_OK(td_cost_models_write(&models, test_path("models")));
    CHECK_OK(td_cost_models_read(&read, test_path("models")));
    CHECK(memcmp(&models, &read, sizeof models) == 0);
    CHECK_EQ(read.of[TD_COST_GATHER].samples, 0);
    CHECK_STATUS(td_cost_model_read(&other, test_path("models")), TD_FORMAT);
    models.of[TD_COST_SWEEP].work = TD_COST_PUSH;
    CHECK_OK(td_cost_models_write(&models, test_path("models")));
    CHECK_STATUS(td_cost_models_read(&read, test_path("models")), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), "the second model of work 'push'");
}

TEST(a_log_says_which_work_its_samples_are_of)
{
    td_cost_sample samples[4] = {{.family = "a", .work = TD_COST_SWEEP, .edges = 1, .seconds = 1},
                                 {.family = "b", .work = TD_COST_SWEEP, .edges = 2, .seconds = 1},
                                 {.family = "c", .work = TD_COST_PUSH, .edges = 3, .seconds = 1},
                                 {.family = "d", .work = TD_COST_GATHER, .edges = 4, .seconds = 1}};
    td_cost_sample *read = NULL;
    uint64_t count = 0;
    CHECK_OK(td_cost_samples_write(samples, 4, test_path("works")));
    CHECK_OK(td_cost_samples_append(samples + 2, 1, test_path("works"))); /* behind a sample of another work */
    CHECK_OK(td_cost_samples_read(&read, &count, test_path("works")));
    CHECK_EQ(count, 5);
    for (int i = 0; i < 4; i++) CHECK(read[i].work == samples[i].work && read[i].edges == samples[i].edges);
    CHECK(read[4].work == TD_COST_PUSH && read[4].edges == 3);
    td_free(read);
    CHECK_STATUS(td_cost_samples_append(samples, 1, "/nowhere/log"), TD_IO);
    test_write_file(test_path("works"), "tandem-cost-samples 1\nwork dig\n", 31);
    read = NULL;
    count = 0;
    CHECK_STATUS(td_cost_samples_read(&read, &count, test_path("works")), TD_FORMAT);
    CHECK_CONTAINS(td_last_message(), ":2: 'dig' instead of push, gather or sweep");
    td_free(read);
}

TEST_MAIN
