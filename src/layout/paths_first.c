/* Without partitioning (`paths.partition=off`): the paths of a bucket in the order of their first vertices, as a search
 * would leave them. */
#include "layout/paths_inside.h"

#include "base/alloc.h"
#include "layout/radix.h"

#include <string.h>

typedef struct resort {
    uint64_t *words, *spare; /* first vertex and number in the bucket */
    uint64_t *entry;         /* paths of the bucket: their first entries */
    td_counts *counts;
    td_paths fresh;          /* vertices, starts and weights in the new order */
} resort;

static void copy_path(const td_paths *from, td_paths *to, uint64_t entry, uint64_t path, uint64_t new_entry, uint64_t new_path)
{
    size_t bytes = td_weight_bytes(from->weight_kind);
    uint64_t count = from->starts[path];
    memcpy(to->vertices + new_entry, from->vertices + entry, 4 * count);
    to->starts[new_path] = (uint32_t)count;
    if (bytes > 0)
        memcpy((char *)to->weights + (new_entry - new_path) * bytes, (char *)from->weights + (entry - path) * bytes,
               (count - 1) * bytes);
}

static td_status resort_bucket(td_path_job *job, resort *by, const td_path_bucket *bucket)
{
    const td_paths *paths = &job->paths;
    uint64_t first = bucket[0].paths, count = bucket[1].paths - first;
    uint64_t entry = bucket[0].entries, fresh = entry;
    if (count > UINT32_MAX) return td_fail(TD_LIMIT, "paths.partition=off is for graphs below %u paths", UINT32_MAX);
    for (uint64_t p = 0; p < count; p++) {
        by->words[p] = (uint64_t)paths->vertices[entry] << 32 | p;
        by->entry[p] = entry;
        entry += paths->starts[first + p];
    }
    TD_CHECK(td_radix_sort(&by->words, &by->spare, count, 4, 7, by->counts, job->pool));
    for (uint64_t p = 0; p < count; p++) {
        uint64_t old = by->words[p] & UINT32_MAX;
        copy_path(paths, &by->fresh, by->entry[old], first + old, fresh, first + p);
        fresh += paths->starts[first + old];
    }
    return TD_OK;
}

static void take_fresh(td_paths *paths, td_paths *fresh)
{
    td_paths old = *paths;
    paths->vertices = fresh->vertices;
    paths->starts = fresh->starts;
    paths->weights = fresh->weights;
    fresh->vertices = old.vertices;
    fresh->starts = old.starts;
    fresh->weights = old.weights;
}

td_status td_paths_by_first(td_path_job *job, const td_path_bucket *buckets, uint32_t count)
{
    td_status status = TD_OK;
    td_paths *paths = &job->paths;
    resort by = {0};
    size_t bytes = td_weight_bytes(paths->weight_kind);
    TD_TRY(TD_NEW(&by.words, paths->paths, "paths in order"));
    TD_TRY(TD_NEW(&by.spare, paths->paths, "paths in order"));
    TD_TRY(TD_NEW(&by.entry, paths->paths, "beginnings of paths"));
    TD_TRY(TD_NEW(&by.counts, TD_MOST_BLOCKS, "counts of paths"));
    TD_TRY(TD_NEW(&by.fresh.vertices, paths->entries, "vertices along paths"));
    TD_TRY(TD_NEW(&by.fresh.starts, paths->paths, "table of paths"));
    if (bytes > 0) TD_TRY(td_new_bytes(&by.fresh.weights, paths->edges, bytes, "weights along paths"));
    for (uint32_t b = 0; b < count; b++) TD_TRY(resort_bucket(job, &by, &buckets[b]));
    take_fresh(paths, &by.fresh);
done:
    td_free(by.words);
    td_free(by.spare);
    td_free(by.entry);
    td_free(by.counts);
    td_free(by.fresh.vertices);
    td_free(by.fresh.starts);
    td_free(by.fresh.weights);
    return status;
}
