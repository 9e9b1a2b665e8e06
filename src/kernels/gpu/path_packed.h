/* Walks of packed partitions (engine/paths/packed.c), whose words are on the GPU or are read in the host's memory: every
 * word once, by neighbouring lanes, so that a walk takes as few bytes over the link as the partition has.
 *
 *   read the messages of the vertices that edges leave -> 32 edges at a time: add up what they bring for one vertex, deposit
 *   it -> apply a vertex behind the last edge into it, if its home path is here -> mark the partitions that read it
 *
 * All edges of a partition that leave a vertex send the same message, so that a mirror is one of a partition and a vertex,
 * not of an edge: few enough to stay on the GPU. It is accessed by the warp alone that has the partition. A new value
 * reaches the other edges of the partition in the next walk; along a chain (path_chain.h) it goes on at once. */

/* Reads a list, block after block. Lanes hold the heads of 32 blocks, and 64 words of the packed numbers. */
typedef struct path_reader {
    const uint32_t *list, *packed;
    uint32_t blocks, words;             /* of the list; packed */
    uint32_t block;                     /* the next one */
    uint32_t least, flags, width, at;   /* of the lane's block among the 32 */
    uint32_t done;                      /* packed words of the blocks before the 32 */
    uint32_t first, low, high;          /* packed words from `first` on, and the 32 behind them */
} path_reader;

/* A number of a list, and its flag. */
typedef struct path_number {
    uint32_t value;
    bool flag;
} path_number;

TD_DEVICE uint32_t path_word_at(const uint32_t *words, uint32_t i, uint32_t count)
{
    return i < count ? TD_READ_ONLY(&words[i]) : 0;
}

/* `end`: where the next list begins. All lanes call. */
TD_DEVICE path_reader path_open_list(const uint32_t *words, uint32_t at, uint32_t end, uint32_t count)
{
    uint32_t blocks = (count + TD_PATH_BLOCK - 1) / TD_PATH_BLOCK, heads = 2 * blocks + (blocks + 3) / 4;
    path_reader reader = {.list = words + at, .packed = words + at + heads, .blocks = blocks, .words = end - at - heads};
    reader.low = path_word_at(reader.packed, td_lane(), reader.words);
    reader.high = path_word_at(reader.packed, TD_WARP + td_lane(), reader.words);
    return reader;
}

/* The heads of the next 32 blocks. All lanes call. */
TD_DEVICE void path_read_heads(path_reader *reader)
{
    uint32_t block = reader->block + td_lane(), total;
    uint32_t widths = path_word_at(reader->list + 2 * reader->blocks, reader->block / 4 + td_lane(),
                                   td_lane() < 8 ? (reader->blocks + 3) / 4 : 0);
    reader->least = path_word_at(reader->list, block, reader->blocks);
    reader->flags = path_word_at(reader->list + reader->blocks, block, reader->blocks);
    uint32_t four = TD_SHUFFLE(TD_ALL_LANES, widths, td_lane() / 4);
    reader->width = block < reader->blocks ? four >> td_lane() % 4 * 8 & 0xffu : 0;
    reader->at = reader->done + warp_scan(reader->width, &total);
    reader->done += total;
}

/* A packed word, at most 63 behind the window's first. All lanes call. */
TD_DEVICE uint32_t path_window_at(uint32_t first, uint32_t low, uint32_t high, uint32_t i)
{
    uint32_t from_low = TD_SHUFFLE(TD_ALL_LANES, low, (i - first) % TD_WARP);
    uint32_t from_high = TD_SHUFFLE(TD_ALL_LANES, high, (i - first) % TD_WARP);
    return i - first < TD_WARP ? from_low : from_high;
}

/* The lane's number of the next block. Behind the end of the list they mean nothing. All lanes call. */
TD_DEVICE path_number path_read_block(path_reader *reader)
{
    uint32_t of = reader->block % TD_WARP, lane = td_lane();
    if (reader->block >= reader->blocks) return (path_number){0, false};
    if (of == 0) path_read_heads(reader);
    uint32_t least = TD_SHUFFLE(TD_ALL_LANES, reader->least, of), flags = TD_SHUFFLE(TD_ALL_LANES, reader->flags, of);
    uint32_t width = TD_SHUFFLE(TD_ALL_LANES, reader->width, of), at = TD_SHUFFLE(TD_ALL_LANES, reader->at, of);
    reader->block++;
    if (at >= reader->first + TD_WARP) {
        reader->first += TD_WARP;
        reader->low = reader->high;
        reader->high = path_word_at(reader->packed, reader->first + TD_WARP + lane, reader->words);
    }
    uint32_t bit = lane * width, word = at + bit / 32;
    uint64_t low = path_window_at(reader->first, reader->low, reader->high, word);
    uint64_t high = path_window_at(reader->first, reader->low, reader->high, word + 1);
    uint32_t more = (uint32_t)((high << 32 | low) >> (bit & 31u)) & (uint32_t)(((uint64_t)1 << width) - 1);
    return (path_number){least + more, (flags >> lane & 1u) != 0};
}

/* Clears the mark of a partition; false: it has none. All lanes call. */
TD_DEVICE bool path_take_mark(const td_path_state *s, uint32_t k)
{
    uint32_t mask = 1u << (k & 31u), marked = 0;
    if (td_lane() == 0) marked = TD_PEEK(&s->marks[k / 32]) & mask;
    if (marked != 0) (void)TD_AND(&s->marks[k / 32], ~mask);
    TD_FENCE(); /* the mark is cleared before values are read */
    TD_WARP_BARRIER(TD_ALL_LANES);
    return TD_SHUFFLE(TD_ALL_LANES, marked, 0) != 0;
}

/* Marks the partitions that read what lanes have renewed, except one (`but`). All lanes call. */
TD_DEVICE void path_spread(const td_path_state *s, uint32_t v, bool renewed, uint32_t but, td_path_tally *t)
{
    if (TD_BALLOT(TD_ALL_LANES, renewed) == 0) return;
    TD_FENCE(); /* a walk that clears a mark sees the message, or the mark is set again */
    path_notify_warp(s, v, renewed, but, t);
}

/* Takes the messages of the vertices that edges leave; whether any is new. All lanes call. */
TD_DEVICE bool path_refresh_mirrors(const td_path_state *s, const td_context *c, uint32_t k, const td_path_pack *of,
                                    td_path_tally *t)
{
    program_message *mirrors = (program_message *)s->sent + of->first;
    path_reader reader = path_open_list(of->words, 0, of->targets_at, of->sources);
    bool fresh = false;
    for (uint32_t base = 0; base < of->sources; base += TD_WARP) {
        uint32_t i = base + td_lane();
        path_number v = path_read_block(&reader);
        bool on = i < of->sources, renewed = on && v.flag && path_renew(s, c, v.value, t);
        path_spread(s, v.value, renewed, k, t);
        if (!on) continue;
        program_message before = mirrors[2 * i + 1], message = path_message_at(s, v.value);
        if (mirrors[2 * i] != before) mirrors[2 * i] = before;
        if (message != before) mirrors[2 * i + 1] = message;
        fresh |= message != before;
        t->reads++;
    }
    TD_WARP_BARRIER(TD_ALL_LANES);
    return TD_BALLOT(TD_ALL_LANES, fresh) != 0;
}

/* Nothing is to be sent: applies the vertices that edges enter. All lanes call. */
TD_DEVICE void path_apply_targets(const td_path_state *s, const td_context *c, const td_path_pack *of, td_path_tally *t)
{
    path_reader reader = path_open_list(of->words, of->targets_at, of->edges_at, of->targets);
    for (uint32_t base = 0; base < of->targets; base += TD_WARP) {
        path_number w = path_read_block(&reader);
        bool renewed = base + td_lane() < of->targets && w.flag && path_renew(s, c, w.value, t);
        path_spread(s, w.value, renewed, PATH_NO_VERTEX, t);
    }
}

/* The vertex at a place of the first list, for programs whose loops have no effect. */
TD_DEVICE uint32_t path_source_at(const td_path_pack *of, uint32_t i)
{
    uint32_t blocks = (of->sources + TD_PATH_BLOCK - 1) / TD_PATH_BLOCK, block = i / TD_PATH_BLOCK, at = 0;
    const uint8_t *widths = (const uint8_t *)(of->words + 2 * blocks);
    const uint32_t *packed = of->words + 2 * blocks + (blocks + 3) / 4;
    for (uint32_t b = 0; b < block; b++) at += widths[b];
    uint32_t width = widths[block], bit = i % TD_PATH_BLOCK * width, shift = bit & 31u;
    if (width == 0) return of->words[block];
    uint64_t low = packed[at + bit / 32], high = shift + width > 32 ? packed[at + bit / 32 + 1] : 0;
    return of->words[block] + ((uint32_t)((high << 32 | low) >> shift) & (uint32_t)(((uint64_t)1 << width) - 1));
}

/* Every lane sends along an edge: number `e` of the partition, or none (`on`), into w; `here`: w has its home path here.
 * All lanes call. */
TD_DEVICE void path_send_packed(const td_path_state *s, const td_context *c, const td_path_pack *of, bool on, uint32_t e,
                                path_number edge, uint32_t w, bool here, td_path_tally *t)
{
    const program_message *mirrors = (const program_message *)s->sent + of->first;
    bool brings = false, triggers = false, renewed = false, any, last;
    program_accum brought = path_no_deposit(c);
    if (on) {
        program_message before = mirrors[2 * edge.value], message = mirrors[2 * edge.value + 1];
        t->loaded++;
        if (before != message) {
            t->edges++;
            brings = path_brings(s, c, w, e, before, message, &brought);
            if (PROGRAM_LOOPLESS && brings) brings = path_source_at(of, edge.value) != w;
            if (!brings) brought = path_no_deposit(c);
        }
    }
    if (TD_BALLOT(TD_ALL_LANES, brings) != 0) {
        program_accum sum = path_combine(w, brings, brought, &any, &last);
        if (on && any && last && (here || !path_takes_proxy(s, c, w, sum, t))) triggers = path_put(s, c, w, sum, !here, t);
    }
    if (on && here && edge.flag) renewed = path_renew(s, c, w, t);
    if (triggers) path_trigger(s, w, t);
    path_spread(s, w, renewed, PATH_NO_VERTEX, t);
}

/* All lanes call. */
TD_DEVICE void path_walk_edges(const td_path_state *s, const td_context *c, const td_path_pack *of, td_path_tally *t)
{
    path_reader targets = path_open_list(of->words, of->targets_at, of->edges_at, of->targets);
    path_reader edges = path_open_list(of->words, of->edges_at, of->end, of->edges);
    path_number low = path_read_block(&targets), high = path_read_block(&targets); /* targets from `first` on */
    uint32_t first = 0, entered = 0;
    td_path_state along = *s;
    along.weights = of->weights;
    for (uint32_t base = 0; base < of->edges; base += TD_WARP) {
        path_number edge = path_read_block(&edges);
        bool on = base + td_lane() < of->edges;
        uint32_t lasts = TD_BALLOT(TD_ALL_LANES, on && edge.flag);
        if (entered >= first + TD_WARP) {
            first += TD_WARP;
            low = high;
            high = path_read_block(&targets);
        }
        uint32_t i = entered + TD_POPCOUNT(lasts & td_lanes_below());
        uint32_t w = path_window_at(first, low.value, high.value, i);
        uint32_t low_homes = TD_BALLOT(TD_ALL_LANES, low.flag), high_homes = TD_BALLOT(TD_ALL_LANES, high.flag);
        bool here = ((i - first < TD_WARP ? low_homes : high_homes) >> ((i - first) % TD_WARP) & 1u) != 0;
        path_send_packed(&along, c, of, on, base + td_lane(), edge, on ? w : PATH_NO_VERTEX, here, t);
        entered += TD_POPCOUNT(lasts);
        if (td_lane() == 0) t->lane_slots += TD_WARP;
    }
}

#include "kernels/gpu/path_chain.h"

/* Walks a partition while its own walk marks it, PATH_PASSES times at most, or once if its words cross the link; whether it
 * was marked. All lanes call. */
TD_DEVICE bool path_walk_packed(const td_path_state *s, const td_context *c, uint32_t k, td_path_tally *t)
{
    const td_path_pack *of = &s->packs[k];
    uint32_t passes = of->far == 0 ? PATH_PASSES : 1, pass = 0;
    for (; pass < passes && path_take_mark(s, k); pass++) {
        bool fresh = of->entries > 0 || path_refresh_mirrors(s, c, k, of, t);
        if (of->entries > 0) path_walk_chain(s, c, k, of, t);
        else if (fresh) path_walk_edges(s, c, of, t);
        else path_apply_targets(s, c, of, t);
        path_flush(s, c, false, t);
        if (td_lane() > 0) continue;
        t->paths += fresh ? of->paths : 0;
        t->repeats += pass > 0;
        if (of->far == 0) continue;
        t->fetched++;
        t->crossed += (fresh ? of->end : of->edges_at) * (uint32_t)sizeof(uint32_t);
    }
    return pass > 0;
}
