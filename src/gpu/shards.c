#include "gpu/shards.h"

#include "base/alloc.h"

#include <math.h>

uint32_t td_gpu_shard_copies(uint64_t edges, uint64_t vertices)
{
    double power = edges == 0 ? 0 : ceil(log2((double)edges / (double)vertices) - 0.5);
    return 1u << (power < 0 ? 0 : power > 5 ? 5 : (int)power);
}

static void set_edges(const td_gpu_shard_cut *cut, td_gpu_shard *shard)
{
    for (int side = 0; side < 2; side++) {
        if (cut->place[side] == NULL) continue;
        shard->begin[side] = cut->place[side](cut->of[side], shard->first);
        shard->end[side] = cut->place[side](cut->of[side], (uint64_t)shard->first + shard->count);
    }
}

/* The longest shard from `first` on whose accumulators, with all their copies, fit in the room. */
static td_gpu_shard shard_from(const td_gpu_shard_cut *cut, uint32_t first)
{
    uint32_t left = cut->end - first;
    for (uint32_t copies = 1;; copies *= 2) {
        uint64_t most = cut->room / copies < 1 ? 1 : cut->room / copies;
        td_gpu_shard shard = {.first = first, .count = most < left ? (uint32_t)most : left, .copies = copies};
        if (shard.count > UINT16_MAX + 1u) shard.count = UINT16_MAX + 1u;
        set_edges(cut, &shard);
        uint64_t edges = shard.end[0] - shard.begin[0] + shard.end[1] - shard.begin[1];
        uint32_t wanted = cut->copies > 0 ? cut->copies : td_gpu_shard_copies(edges, shard.count);
        if (wanted <= copies || copies == 32) return shard;
    }
}

td_status td_gpu_cut_shards(td_gpu_shard_list *list, const td_gpu_shard_cut *cut)
{
    for (uint32_t first = cut->first; first < cut->end; first += list->shards[list->count - 1].count) {
        if (list->count == list->size) {
            uint64_t size = list->size == 0 ? 256 : 2 * list->size;
            TD_CHECK(TD_RESIZE(&list->shards, size, "shards"));
            list->size = size;
        }
        list->shards[list->count++] = shard_from(cut, first);
    }
    return TD_OK;
}

void td_gpu_name_edges(const td_gpu_shard_cut *cut, const td_gpu_shard *shard, int side, uint16_t *names)
{
    uint64_t e = shard->begin[side];
    for (uint32_t i = 0; cut->place[side] != NULL && i < shard->count; i++)
        for (uint64_t end = cut->place[side](cut->of[side], (uint64_t)shard->first + i + 1); e < end; e++)
            names[e] = (uint16_t)i;
}

uint32_t td_gpu_shard_bytes(const td_device *device)
{
    enum { GARAPH = 48 << 10, SPARE = 256 }; /* several blocks share a multiprocessor; the kernel's block sums */
    uint64_t most = device->properties.shared_bytes;
    return (most < GARAPH ? (uint32_t)most : GARAPH) - SPARE;
}

void td_gpu_count_shards(uint64_t counts[TD_SHARD_POWERS], const td_gpu_shard *shards, uint64_t count)
{
    for (int power = 0; power < TD_SHARD_POWERS; power++) counts[power] = 0;
    for (uint64_t s = 0; s < count; s++) counts[__builtin_ctz(shards[s].copies)]++;
}

void td_gpu_report_shards(td_run *run, const uint64_t counts[TD_SHARD_POWERS])
{
    static const char *const names[TD_SHARD_POWERS] = {"shards_r1", "shards_r2", "shards_r4",
                                                       "shards_r8", "shards_r16", "shards_r32"};
    uint64_t all = 0;
    for (int power = 0; power < TD_SHARD_POWERS; power++) all += counts[power];
    td_run_count(run, "shards", all);
    for (int power = 0; power < TD_SHARD_POWERS; power++) td_run_count(run, names[power], counts[power]);
}
