/* The cache of edges: reads run ahead of the pass, pages stay by their value. */
#include "base/alloc.h"
#include "base/clock.h"
#include "store/paged_inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Dropping. */

/* Whether another page of the set that is in memory shares the block with this one. */
static bool shared(const td_paged *self, const td_page_set *set, const td_paged_section *section,
                   const td_held_page *page, uint64_t block)
{
    const td_held_page *first = set->pages, *last = set->pages + set->count - 1;
    for (const td_held_page *other = page - 1; other >= first; other--) {
        td_blocks blocks = td_page_blocks(self->graph, section, other);
        if (blocks.first == blocks.end) continue;
        if (blocks.end <= block) break;
        if (other->state != TD_PAGE_ABSENT) return true;
    }
    for (const td_held_page *other = page + 1; other <= last; other++) {
        td_blocks blocks = td_page_blocks(self->graph, section, other);
        if (blocks.first == blocks.end) continue;
        if (blocks.first > block) break;
        if (other->state != TD_PAGE_ABSENT) return true;
    }
    return false;
}

static void drop_blocks(td_paged *self, td_paged_section *section, uint64_t first, uint64_t end)
{
    for (uint64_t block = first; block < end;) {
        uint64_t run = block;
        while (run < end && td_bit_get(section->there, run)) {
            td_bit_clear(section->there, run);
            td_bit_clear(section->asked, run++);
        }
        if (run > block) td_paged_free_blocks(self, section, (td_blocks){block, run});
        block = run + (run == block);
    }
}

/* Bytes that a page has in memory, blocks shared with its neighbours counted in full. */
static uint64_t bytes_there(const td_paged *self, const td_page_set *set, const td_held_page *page)
{
    uint64_t bytes = 0;
    for (int i = 0; i < 4; i++) {
        const td_paged_section *section = &self->sections[i];
        if (!td_section_needed(section, set->lists, TD_WITH_WEIGHTS)) continue;
        td_blocks blocks = td_page_blocks(self->graph, section, page);
        for (uint64_t b = blocks.first; b < blocks.end; b++)
            bytes += td_bit_get(section->asked, b) ? TD_PACKED_BLOCK : 0;
    }
    return bytes;
}

static void drop_page(td_paged *self, td_page_set *set, td_held_page *page)
{
    if (page->state == TD_PAGE_KEPT) self->kept -= bytes_there(self, set, page);
    page->state = TD_PAGE_ABSENT;
    for (int i = 0; i < 4; i++) {
        td_paged_section *section = &self->sections[i];
        if (!td_section_needed(section, set->lists, TD_WITH_WEIGHTS)) continue;
        td_blocks blocks = td_page_blocks(self->graph, section, page);
        while (blocks.first < blocks.end && shared(self, set, section, page, blocks.first)) blocks.first++;
        while (blocks.first < blocks.end && shared(self, set, section, page, blocks.end - 1)) blocks.end--;
        drop_blocks(self, section, blocks.first, blocks.end);
    }
}

void td_paged_drop_set(td_paged *self, td_page_set *set)
{
    for (int i = 0; i < TD_PAGED_READS; i++) {
        td_held_page *page = self->reads[i].page;
        if (page >= set->pages && page < set->pages + set->count) self->reads[i].page = NULL;
    }
    for (uint32_t p = 0; p < set->count; p++)
        if (set->pages[p].state != TD_PAGE_ABSENT) drop_page(self, set, &set->pages[p]);
    td_paged_drop_spares(self, 0);
    if (self->pass.set == set) self->pass = (td_page_pass){0};
}

void td_paged_drop_all(td_paged *self)
{
    for (int i = 0; i < 4; i++) {
        td_paged_section *section = &self->sections[i];
        if (section->there == NULL || section->asked == NULL) continue;
        uint64_t blocks = (section->space_bytes + TD_PACKED_BLOCK - 1) / TD_PACKED_BLOCK;
        memcpy(section->there, section->asked, td_bitmap_words(blocks) * 8);
        drop_blocks(self, section, 0, blocks);
    }
    td_paged_drop_spares(self, 0);
}

/* The page of the lowest value in all sets; NULL: none may be dropped. */
static td_held_page *least(td_paged *self, td_page_set **of)
{
    td_held_page *found = NULL;
    self->least_value = INFINITY;
    for (td_page_set *set = self->sets; set != NULL; set = set->next)
        for (uint32_t p = 0; p < set->count; p++) {
            td_held_page *page = &set->pages[p];
            if (page->state != TD_PAGE_KEPT) continue;
            if (page->value < self->least_value) self->least_value = page->value;
            if (page->due || (found != NULL && page->value >= found->value)) continue;
            found = page;
            *of = set;
        }
    return found;
}

static bool evict_one(td_paged *self)
{
    td_page_set *set = NULL;
    td_held_page *page = least(self, &set);
    if (page == NULL) return false;
    drop_page(self, set, page);
    self->counts.evictions++;
    return true;
}

/* Reading. */

/* The blocks at either end may be in flight for a neighbouring page. */
static bool complete(const td_paged *self, const td_held_page *page)
{
    if (page->pending > 0) return false;
    for (int i = 0; i < 4; i++) {
        const td_paged_section *section = &self->sections[i];
        if (!td_section_needed(section, self->pass.set->lists, self->pass.needs)) continue;
        td_blocks blocks = td_page_blocks(self->graph, section, page);
        for (uint64_t b = blocks.first; b < blocks.end; b++)
            if (td_bit_get(section->asked, b) && !td_bit_get(section->there, b)) return false;
    }
    return true;
}

static void on_read(void *context, td_status status, uint64_t value)
{
    td_paged *self = context;
    td_page_read *done = (td_page_read *)(uintptr_t)value;
    if (status != TD_OK && self->status == TD_OK) {
        self->status = status;
        td_failure_keep(&self->failure);
    }
    for (uint64_t b = 0; b < done->read.blocks; b++) td_bit_set(done->section->there, done->read.first + b);
    if (status != TD_OK) drop_blocks(self, done->section, done->read.first, done->read.first + done->read.blocks);
    if (done->page != NULL) done->page->pending--;
    done->page = NULL;
    if (self->status != TD_OK || (self->waiting != NULL && complete(self, self->waiting))) td_loop_stop(self->loop);
    done->next = self->free_reads;
    self->free_reads = done;
}

static bool ask_run(td_paged *self, td_paged_section *section, td_held_page *page, uint64_t first, uint64_t blocks)
{
    td_page_read *one = self->free_reads;
    bool found = td_paged_find_memory(self, section, (td_blocks){first, first + blocks});
    while (!found && evict_one(self)) /* others took memory since the room was measured: a longer report, say */
        found = td_paged_find_memory(self, section, (td_blocks){first, first + blocks});
    if (!found) {
        td_refusal refusal = td_memory_lack(blocks * TD_PACKED_BLOCK);
        self->status = td_refuse(&refusal, "no memory left for pages of %s: %" PRIu64 " bytes are in use",
                                 self->graph->name, td_memory().now);
        td_failure_keep(&self->failure);
        return false;
    }
    self->free_reads = one->next;
    for (uint64_t b = 0; b < blocks; b++) td_bit_set(section->asked, first + b);
    page->pending++;
    one->page = page;
    one->section = section;
    one->read = (td_block_read){.section = section->kind, .first = first, .blocks = blocks, .handler = on_read,
                                .context = self,
                                .into = section->space + first * TD_PACKED_BLOCK};
    td_page_reader_ask(self->reader, &one->read);
    return true;
}

static uint64_t missing(const td_paged_section *section, td_blocks blocks)
{
    uint64_t count = 0;
    for (uint64_t b = blocks.first; b < blocks.end; b++) count += !td_bit_get(section->asked, b);
    return count;
}

static bool ask_blocks(td_paged *self, td_paged_section *section, td_held_page *page, td_blocks blocks)
{
    for (uint64_t b = blocks.first; b < blocks.end;) {
        if (td_bit_get(section->asked, b)) {
            b++;
            continue;
        }
        uint64_t end = b + 1, most = td_page_reader_span(self->reader, section->kind, b, blocks.end - b);
        while (end < b + most && !td_bit_get(section->asked, end)) end++;
        if (self->free_reads == NULL || !ask_run(self, section, page, b, end - b)) return false;
        b = end;
    }
    return true;
}

/* Iterates over the runs of a page's blocks in which vertices of the pass's map have edges. */
typedef struct part_walk {
    const td_paged *paged;
    const td_paged_section *section;
    const td_held_page *page;
    uint64_t vertex;  /* the next vertex to test */
    td_blocks found;  /* found, but not yet returned */
} part_walk;

static bool next_listed(part_walk *self, td_blocks *blocks)
{
    const uint64_t *only = self->paged->pass.only,
                   *offsets = td_section_list(self->paged->graph, self->section)->offsets;
    while (self->vertex < self->page->end) {
        uint64_t word = only[self->vertex / 64] >> (self->vertex % 64);
        if (word == 0) {
            self->vertex = (self->vertex / 64 + 1) * 64;
            continue;
        }
        uint64_t v = self->vertex + (uint64_t)__builtin_ctzll(word);
        self->vertex = v + 1;
        if (v >= self->page->end) break;
        *blocks = td_edge_blocks(self->section, offsets[v], offsets[v + 1]);
        if (blocks->first < blocks->end) return true;
    }
    return false;
}

static bool next_run(part_walk *self, td_blocks *run)
{
    td_blocks more;
    *run = self->found;
    while (next_listed(self, &more)) {
        if (run->first == run->end) *run = more;
        if (more.first > run->end) {
            self->found = more;
            return true;
        }
        if (more.end > run->end) run->end = more.end;
    }
    self->found = (td_blocks){0, 0};
    return run->first < run->end;
}

/* The share of a page's blocks that the pass's map touches. */
static double part_of(const td_paged *self, const td_held_page *page)
{
    uint64_t touched = 0, all = 0;
    for (int i = 0; i < 4; i++) {
        const td_paged_section *section = &self->sections[i];
        if (!td_section_needed(section, self->pass.set->lists, self->pass.needs)) continue;
        td_blocks blocks = td_page_blocks(self->graph, section, page), run;
        part_walk walk = {self, section, page, page->begin, {0, 0}};
        all += blocks.end - blocks.first;
        while (next_run(&walk, &run)) touched += run.end - run.first;
    }
    return all > 0 ? (double)touched / (double)all : 1;
}

/* Counts the missing bytes of a page if `bytes` is given, else requests them. */
static bool for_missing(td_paged *self, td_held_page *page, bool by_parts, uint64_t *bytes)
{
    for (int i = 0; i < 4; i++) {
        td_paged_section *section = &self->sections[i];
        if (!td_section_needed(section, self->pass.set->lists, self->pass.needs)) continue;
        td_blocks run = td_page_blocks(self->graph, section, page);
        part_walk walk = {self, section, page, page->begin, {0, 0}};
        bool more = by_parts ? next_run(&walk, &run) : run.first < run.end;
        while (more) {
            if (bytes != NULL) *bytes += missing(section, run) * TD_PACKED_BLOCK;
            else if (!ask_blocks(self, section, page, run)) return false;
            more = by_parts && next_run(&walk, &run);
        }
    }
    return true;
}

/* Requests the page at a place of the order. False: there is no room yet; an urgent page makes room. */
static bool ask_page(td_paged *self, uint32_t place, bool urgent)
{
    td_held_page *page = &self->pass.set->pages[self->pass.order[place]];
    uint64_t bytes = 0;
    bool by_parts = self->pass.only != NULL && self->pass.part > 0 && !page->whole &&
                    part_of(self, page) < self->pass.part;
    (void)for_missing(self, page, by_parts, &bytes);
    while (urgent && self->held + bytes > self->room && evict_one(self)) {}
    if (!urgent && self->held + bytes > self->room) return false;
    if (page->state == TD_PAGE_KEPT) self->kept -= bytes_there(self, self->pass.set, page);
    if (page->state != TD_PAGE_ASKED) {
        self->counts.hits += bytes == 0;
        self->counts.misses += bytes > 0;
        self->counts.parts += bytes > 0 && by_parts;
    }
    page->state = TD_PAGE_ASKED;
    return for_missing(self, page, by_parts, NULL);
}

static void ask_ahead(td_paged *self)
{
    while (self->ahead < self->pass.count && self->status == TD_OK && self->free_reads != NULL &&
           ask_page(self, self->ahead, false))
        self->ahead++;
}

static td_status failed(const td_paged *self)
{
    if (self->status != TD_OK) td_failure_set(&self->failure);
    return self->status;
}

/* The pass. */

td_status td_paged_begin(td_paged *self, const td_page_pass *pass)
{
    if (self == NULL) return TD_OK;
    self->status = TD_OK;
    TD_CHECK(td_page_reader_check_file(self->reader));
    self->pass = *pass;
    self->ahead = 0;
    self->least_value = -INFINITY; /* values may have changed */
    for (uint32_t i = 0; i < pass->count; i++) pass->set->pages[pass->order[i]].due = true;
    ask_ahead(self);
    return failed(self);
}

td_status td_paged_wait(td_paged *self, uint32_t place)
{
    if (self == NULL) return TD_OK;
    td_held_page *page = &self->pass.set->pages[self->pass.order[place]];
    while (self->ahead <= place && self->status == TD_OK) {
        if (ask_page(self, self->ahead, true)) self->ahead++;
        else if (self->status == TD_OK) TD_CHECK(td_loop_run(self->loop)); /* until a read is free */
    }
    uint64_t began = td_clock_ns();
    bool waited = !complete(self, page);
    self->waiting = page;
    while (self->status == TD_OK && !complete(self, page)) {
        td_status status = td_loop_run(self->loop);
        if (status != TD_OK) {
            self->waiting = NULL;
            return status;
        }
    }
    self->waiting = NULL;
    if (waited) self->counts.wait_seconds += td_seconds_since(began);
    ask_ahead(self);
    return failed(self);
}

bool td_paged_is_whole(const td_paged *self, const td_page_set *set, uint32_t page)
{
    if (self == NULL) return true;
    for (int i = 0; i < 4; i++) {
        const td_paged_section *section = &self->sections[i];
        if (!td_section_needed(section, set->lists, 0)) continue;
        td_blocks blocks = td_page_blocks(self->graph, section, &set->pages[page]);
        for (uint64_t b = blocks.first; b < blocks.end; b++)
            if (!td_bit_get(section->there, b)) return false;
    }
    return true;
}

/* The part of the room that kept pages may take; the rest is for reading ahead. */
static uint64_t keep_room(const td_paged *self)
{
    uint64_t largest = 0;
    for (const td_page_set *set = self->sets; set != NULL; set = set->next)
        largest = set->largest > largest ? set->largest : largest;
    uint64_t window = self->room / 4 > 2 * largest ? self->room / 4 : 2 * largest;
    window = window < (UINT64_C(64) << 20) || 2 * largest > (UINT64_C(64) << 20) ? window : UINT64_C(64) << 20;
    return self->room > window ? self->room - window : 0;
}

td_status td_paged_leave(td_paged *self, uint32_t place, double value)
{
    if (self == NULL) return TD_OK;
    td_page_set *set = self->pass.set;
    td_held_page *page = &set->pages[self->pass.order[place]];
    uint64_t bytes = bytes_there(self, set, page), room = keep_room(self);
    page->due = false;
    page->value = value;
    bool keep = value > 0 && bytes <= room;
    while (keep && self->kept + bytes > room) {
        td_page_set *of = NULL;
        td_held_page *other = value > self->least_value ? least(self, &of) : NULL;
        keep = other != NULL && other->value < value;
        if (keep) drop_page(self, of, other);
        self->counts.evictions += keep;
    }
    if (keep) {
        page->state = TD_PAGE_KEPT;
        self->kept += bytes;
        if (value < self->least_value) self->least_value = value;
    } else {
        drop_page(self, set, page);
        self->counts.evictions++;
    }
    ask_ahead(self);
    return failed(self);
}

td_status td_paged_set_room(td_paged *self, uint64_t bytes)
{
    char file[TD_MESSAGE_BYTES];
    uint64_t largest = 0;
    if (self == NULL) return TD_OK;
    for (const td_page_set *set = self->sets; set != NULL; set = set->next)
        largest = set->largest > largest ? set->largest : largest;
    snprintf(file, sizeof file, "%s", self->graph->name);
    td_refusal refusal = td_memory_lack(2 * largest > bytes ? 2 * largest - bytes : 0);
    if (bytes < 2 * largest)
        return td_refuse(&refusal,
                         "%s: %" PRIu64 " bytes of memory are left for pages, of which the largest, two of which are in "
                         "memory at a time, has %" PRIu64, file, bytes, largest);
    self->room = bytes;
    while (self->held > self->room && evict_one(self)) {}
    td_paged_drop_spares(self, 0);
    return TD_OK;
}

td_paged_counts td_paged_count(td_paged *self)
{
    td_paged_counts counts = {0};
    if (self == NULL) return counts;
    counts = self->counts;
    for (int d = 0; d < td_page_reader_directories(self->reader); d++) {
        td_reader_counts of = td_page_reader_counts(self->reader, d);
        counts.reads += of.reads;
        counts.bytes += of.bytes;
    }
    counts.reads -= self->probe_reads;
    counts.bytes -= self->probe_bytes;
    counts.held = self->held;
    return counts;
}
