/* The graphs that `tandem calibrate` generates: seven families, each in fifteen variants of size and degree, of which a
 * small calibration takes three of the first four families. All have weights; two of three are symmetric. */
#include "calibrate.h"

#include "store/gen.h"

#include <string.h>

enum { VARIANTS = 15, SMALL_FAMILIES = 4, SMALL_VARIANTS = 3, SMALL_STEP = 5, SIZES = 3, DEGREES = 5 };

static const char *const families[] = {"rmat", "uniform", "grid", "web", "smallworld", "layered", "tree"};
enum { FAMILIES = sizeof families / sizeof *families };

/* log2 of the vertices of the smallest variant. */
static const uint64_t first_scale[] = {[TD_CALIBRATE_SMALL] = 7, [TD_CALIBRATE_EMULATED] = 12, [TD_CALIBRATE_GPU] = 18};

int td_calibrate_graphs(td_calibrate_size size)
{
    if (size == TD_CALIBRATE_NONE) return 0;
    return size == TD_CALIBRATE_SMALL ? SMALL_FAMILIES * SMALL_VARIANTS : FAMILIES * VARIANTS;
}

const char *td_calibrate_family(td_calibrate_size size, int index)
{
    return families[index % (size == TD_CALIBRATE_SMALL ? SMALL_FAMILIES : FAMILIES)];
}

static void fill_kind(td_gen_spec *spec, uint64_t scale, int degree)
{
    static const double degrees[DEGREES] = {4, 8, 16, 24, 32}, rewires[DEGREES] = {0.01, 0.05, 0.1, 0.3, 0.6};
    static const double skews[DEGREES][3] = {
        {.57, .19, .19}, {.45, .22, .22}, {.5, .2, .2}, {.6, .17, .17}, {.65, .15, .15}};
    static const uint64_t arities[DEGREES] = {2, 4, 16, 64, 256};
    const char *kind = spec->kind;
    uint64_t vertices = UINT64_C(1) << scale;
    if (strcmp(kind, "grid") == 0) { /* four times the vertices, as degrees are small; from square to long */
        spec->width = (UINT64_C(1) << (scale / 2 + 1)) << (degree / 2);
        spec->height = 4 * vertices / spec->width;
        return;
    }
    if (strcmp(kind, "layered") == 0) {
        spec->width = vertices >> (2 + degree);
        if (spec->width < 16) spec->width = 16;
        spec->layers = vertices / spec->width;
        spec->degree = spec->width < degrees[degree] ? (double)spec->width : degrees[degree];
        return;
    }
    spec->scale = scale;
    if (strcmp(kind, "tree") == 0) {
        spec->scale = scale + 3;
        spec->arity = arities[degree];
        return;
    }
    spec->degree = degrees[degree];
    if (strcmp(kind, "smallworld") == 0) spec->rewire = rewires[degree];
    if (strcmp(kind, "rmat") != 0) return;
    spec->a = skews[degree][0];
    spec->b = skews[degree][1];
    spec->c = skews[degree][2];
    spec->degree = degrees[(degree + 2) % DEGREES];
}

td_status td_calibrate_graph(td_calibrate_size size, int index, td_pool *pool, td_graph **out)
{
    int variant = size == TD_CALIBRATE_SMALL ? index / SMALL_FAMILIES * SMALL_STEP : index / FAMILIES;
    td_gen_spec spec = {.kind = td_calibrate_family(size, index), .seed = (uint64_t)index + 1, .rewire = -1,
                        .shuffle = variant % 2 == 1};
    td_build_options build = {.symmetrize = variant % 3 != 2, .dedup = true, .drop_loops = true, .attach_weights = true,
                              .weight_low = 1, .weight_high = 100, .weight_seed = 1};
    fill_kind(&spec, first_scale[size] + (uint64_t)(variant % SIZES), variant / SIZES % DEGREES);
    TD_CHECK(td_gen_check(&spec, NULL));
    return td_graph_generate(out, &spec, &build, pool);
}
