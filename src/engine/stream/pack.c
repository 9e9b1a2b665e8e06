/* Packed edge words: a vertex number seldom takes all 32 bits, and a weight that fits in the remaining bits makes an
 * edge one word. A kernel then reads one range of host memory per list instead of two, and fewer bytes. Weights are
 * packed where lists are copied anyway, on the way (lists.c). */
#include "engine/stream/stream.h"

/* Bits that the largest vertex number leaves; 0 if the largest weight does not fit. */
uint32_t td_streaming_weight_bits(const td_graph *graph)
{
    uint32_t left = 31;
    bool whole = graph->weights == TD_WEIGHT_U8 || graph->weights == TD_WEIGHT_U16 || graph->weights == TD_WEIGHT_U32;
    if (!whole) return 0;
    while (left > 0 && graph->vertices > UINT64_C(1) << (32 - left)) left--;
    return graph->weight_max < (double)(UINT64_C(1) << left) ? left : 0;
}
