/* Measures the ratio of sequential to random read speed: k of Garaph's rule for notify-pull from disk. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/random.h"
#include "store/paged_inside.h"

#include <math.h>

enum { PROBES = 8 };
static const double SMALL_RATIO = 2; /* for a file too small to measure */

/* Lives as long as the graph: a cancelled run may leave reads in flight. */
struct td_paged_probe {
    td_block_read reads[PROBES];
    char *place; /* buffer for the reads, one after another */
    uint32_t pending;
    td_status status;
    td_loop *loop;
};

static void on_probe(void *context, td_status status, uint64_t value)
{
    (void)value;
    struct td_paged_probe *self = context;
    if (status != TD_OK) self->status = status;
    if (--self->pending == 0) td_loop_stop(self->loop);
}

static td_status time_reads(td_paged *paged, struct td_paged_probe *self, bool in_order, double *per_byte)
{
    const td_paged_section *section = &paged->sections[0];
    uint64_t blocks = (section->space_bytes + TD_PACKED_BLOCK - 1) / TD_PACKED_BLOCK, began = td_clock_ns(), bytes = 0;
    self->pending = PROBES;
    for (int i = 0; i < PROBES; i++) {
        uint64_t first = in_order ? (uint64_t)i * TD_READ_BLOCKS
                                  : td_random_below(td_random_at(7, (uint64_t)i), blocks);
        uint64_t count = td_page_reader_span(paged->reader, section->kind, first, in_order ? TD_READ_BLOCKS : 1);
        self->reads[i] = (td_block_read){.section = section->kind, .first = first, .blocks = count, .handler = on_probe,
                                         .context = self,
                                         .into = self->place + (uint64_t)i * TD_READ_BLOCKS * TD_PACKED_BLOCK};
        bytes += td_page_reader_bytes(paged->reader, section->kind, first, count);
        td_page_reader_ask(paged->reader, &self->reads[i]);
    }
    while (self->pending > 0) TD_CHECK(td_loop_run(paged->loop));
    *per_byte = (double)(td_clock_ns() - began) / (double)bytes;
    paged->probe_reads += PROBES;
    paged->probe_bytes += bytes;
    return self->status;
}

static td_status measure(td_paged *paged)
{
    double in_order, anywhere;
    void *place = NULL;
    TD_CHECK(TD_NEW_ZEROED(&paged->probe, 1, "measuring the disk"));
    paged->probe->loop = paged->loop;
    TD_CHECK(td_new_pages(&place, (uint64_t)PROBES * TD_READ_BLOCKS * TD_PACKED_BLOCK, "measuring the disk"));
    paged->probe->place = place;
    TD_CHECK(time_reads(paged, paged->probe, false, &anywhere));
    TD_CHECK(time_reads(paged, paged->probe, true, &in_order));
    paged->ratio = fmin(64, fmax(1, anywhere / in_order));
    td_paged_end_measure(paged);
    return TD_OK;
}

td_status td_paged_measure(td_paged *paged, double *ratio)
{
    bool small = paged->sections[0].space_bytes < UINT64_C(16) * PROBES * TD_READ_BLOCKS * TD_PACKED_BLOCK;
    if (paged->ratio == 0 && small) paged->ratio = SMALL_RATIO;
    if (paged->ratio == 0 && paged->probe == NULL) TD_CHECK(measure(paged));
    *ratio = paged->ratio > 0 ? paged->ratio : SMALL_RATIO;
    return TD_OK;
}

void td_paged_end_measure(td_paged *paged)
{
    if (paged->probe != NULL) td_free(paged->probe->place);
    td_free(paged->probe);
    paged->probe = NULL;
}
