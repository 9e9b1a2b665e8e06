#include "store/arrays.h"

#include <inttypes.h>
#include <math.h>

/* type, C type, name, real, signed */
#define NUMBERS(X)                                                                                      \
    X(U8, uint8_t, "uint8", 0, 0) X(U16, uint16_t, "uint16", 0, 0) X(U32, uint32_t, "uint32", 0, 0)     \
    X(U64, uint64_t, "uint64", 0, 0) X(I8, int8_t, "int8", 0, 1) X(I16, int16_t, "int16", 0, 1)         \
    X(I32, int32_t, "int32", 0, 1) X(I64, int64_t, "int64", 0, 1) X(F32, float, "float32", 1, 0)        \
    X(F64, double, "float64", 1, 0)

static const struct {
    const char *name;
    bool real, has_sign;
    size_t bytes;
} numbers[] = {
#define ROW(code, type, name, real, sign) [TD_TYPE_##code] = {name, real, sign, sizeof(type)},
    NUMBERS(ROW)
#undef ROW
};

enum { KINDS = sizeof numbers / sizeof *numbers, EDGES_AT_A_TIME = 1 << 20 };

const char *td_type_name(td_type type) { return (unsigned)type < KINDS ? numbers[type].name : "unknown"; }
bool td_type_real(td_type type) { return numbers[type].real; }
bool td_type_signed(td_type type) { return numbers[type].has_sign; }
size_t td_type_bytes(td_type type) { return numbers[type].bytes; }

/* An array of NumPy's may begin anywhere, such as a field of a packed record; kernels read whole words. */
static td_status check_alignment(const td_array *array, const char *name)
{
    size_t bytes = numbers[array->type].bytes;
    if ((uintptr_t)array->data % bytes == 0) return TD_OK;
    return td_fail(TD_INVALID, "%s.data is at an address that is no multiple of %zu, the bytes of a number of type %s; "
                   "copy the array to memory that is aligned", name, bytes, numbers[array->type].name);
}

td_status td_array_check_ids(const td_array *array, uint64_t count, const char *name)
{
    if (count > 0 && array->data == NULL) return td_fail(TD_INVALID, "%s.data is NULL", name);
    if ((unsigned)array->type >= KINDS) return td_fail(TD_INVALID, "%s.type is %d, no td_type", name, (int)array->type);
    if (!numbers[array->type].real) return check_alignment(array, name);
    return td_fail(TD_INVALID, "%s has numbers of type %s; ids and offsets are integers", name,
                   numbers[array->type].name);
}

td_status td_array_check_weights(const td_array *array)
{
    if (array->data == NULL) return TD_OK;
    if ((unsigned)array->type < KINDS) return check_alignment(array, "weights");
    return td_fail(TD_INVALID, "weights.type is %d, no td_type", (int)array->type);
}

static td_status negative(const char *name, uint64_t at, int64_t value)
{
    return td_fail(TD_INVALID, "%s[%" PRIu64 "] is %" PRId64 "; ids are not negative", name, at, value);
}

td_status td_array_ids(const td_array *array, const char *name, uint64_t begin, uint64_t count, uint64_t *to)
{
#define COPY(code, ctype, text, real, sign)                                                           \
    case TD_TYPE_##code: {                                                                          \
        const ctype *from = (const ctype *)array->data + begin;                                       \
        for (uint64_t i = 0; i < count; i++) to[i] = (uint64_t)from[i];                               \
        break;                                                                                        \
    }
    switch (array->type) { NUMBERS(COPY) }
#undef COPY
    if (!td_type_signed(array->type)) return TD_OK;
    uint64_t signs = 0;
    for (uint64_t i = 0; i < count; i++) signs |= to[i];
    if (signs >> 63 == 0) return TD_OK;
    uint64_t at = 0;
    while (to[at] >> 63 == 0) at++;
    return negative(name, begin + at, (int64_t)to[at]);
}

static td_status put_real(td_edge_chunk *chunk, double weight, uint64_t at)
{
    bool wide = chunk->table != NULL;
    if (!isfinite(weight) || (!wide && !isfinite((float)weight)))
        return td_fail(TD_INVALID, isfinite(weight) ? "weights[%" PRIu64 "] is %g; weights are finite %d-bit floats, or "
                                                      "integers ({weights} f64 allows it)"
                                                    : "weights[%" PRIu64 "] is %g; weights are finite %d-bit floats, or "
                                                      "integers", at, weight, wide ? 64 : 32);
    if (!td_chunk_holds(chunk, weight))
        return td_fail(TD_INVALID, "weights[%" PRIu64 "] is %g, which would become 0 as a 32-bit float ({weights} f64 "
                       "keeps it)", at, weight);
    if (wide) td_chunk_weight_double(chunk, weight);
    else td_chunk_weight_real(chunk, (float)weight);
    return TD_OK;
}

static td_status put_whole(td_edge_chunk *chunk, bool below, uint64_t magnitude, uint64_t at)
{
    if (chunk->table != NULL && magnitude <= UINT64_C(1) << 53) {
        td_chunk_weight_double(chunk, below ? -(double)magnitude : (double)magnitude);
        return TD_OK;
    }
    if (magnitude > UINT32_MAX)
        return td_fail(TD_LIMIT, "weights[%" PRIu64 "] is %s%" PRIu64 "; integer weights go up to 4294967295", at,
                       below ? "-" : "", magnitude);
    td_chunk_weight_integer(chunk, below, (uint32_t)magnitude);
    return TD_OK;
}

static td_status put_number(td_edge_chunk *chunk, const td_array *array, uint64_t at)
{
#define PUT(code, ctype, text, is_real, sign)                                                          \
    case TD_TYPE_##code: {                                                                           \
        ctype weight = ((const ctype *)array->data)[at];                                               \
        if (is_real) return put_real(chunk, (double)weight, at);                                       \
        bool below = sign && weight < (ctype)1 && weight != 0;                                         \
        return put_whole(chunk, below, below ? 0 - (uint64_t)weight : (uint64_t)weight, at);           \
    }
    switch (array->type) { NUMBERS(PUT) }
#undef PUT
    return TD_OK;
}

/* A chunk's weight is that of its last edge, so that its count follows the weights. */
td_status td_array_put_weights(const td_array *array, uint64_t begin, uint64_t count, td_edge_chunk *chunk)
{
    chunk->count -= count;
    for (uint64_t i = 0; i < count; i++) {
        chunk->count++;
        TD_CHECK(put_number(chunk, array, begin + i));
    }
    return TD_OK;
}

typedef struct listing {
    const td_edge_arrays *arrays;
    td_edge_list *list;
} listing;

static td_status list_block(const listing *self, td_edge_chunk *chunk, uint64_t begin, uint64_t count)
{
    uint64_t sources[TD_ARRAY_BLOCK], targets[TD_ARRAY_BLOCK];
    TD_CHECK(td_array_ids(&self->arrays->sources, "sources", begin, count, sources));
    TD_CHECK(td_array_ids(&self->arrays->targets, "targets", begin, count, targets));
    for (uint64_t i = 0; i < count; i++) TD_CHECK(td_chunk_put(chunk, sources[i], targets[i]));
    return self->list->weighted ? td_array_put_weights(&self->arrays->weights, begin, count, chunk) : TD_OK;
}

static td_status list_edges(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const listing *self = context;
    td_edge_chunk *chunk;
    TD_CHECK(td_edges_chunk(self->list, begin / EDGES_AT_A_TIME, &chunk));
    TD_CHECK(td_chunk_reserve(chunk, end - begin, self->list->weighted));
    for (uint64_t at = begin; at < end; at += TD_ARRAY_BLOCK)
        TD_CHECK(list_block(self, chunk, at, end - at < TD_ARRAY_BLOCK ? end - at : TD_ARRAY_BLOCK));
    return TD_OK;
}

td_status td_arrays_list(const td_edge_arrays *arrays, td_edge_list *list, td_pool *pool)
{
    listing self = {arrays, list};
    list->weighted = arrays->weights.data != NULL;
    list->declared = arrays->vertices > 0;
    list->vertices = arrays->vertices;
    return td_pool_for(pool, arrays->count, EDGES_AT_A_TIME, list_edges, &self);
}
