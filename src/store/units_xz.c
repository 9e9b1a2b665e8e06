#include "store/units_xz.h"

#include "base/alloc.h"
#include "store/decoder.h"

#ifdef TANDEM_HAVE_LZMA

#include <lzma.h>

/* A dictionary that a sequential decoder refuses too (decoder.c). */
#define DECODER_MOST ((UINT64_C(1) << 31) + (UINT64_C(64) << 20))

struct td_xz_blocks {
    td_xz_block *block;
    uint64_t count, room;
    size_t largest;
    uint64_t decoder_bytes;
};

static const lzma_allocator allocator = {td_xz_new, td_xz_free, NULL};

static void reverse(td_xz_block *block, uint64_t count)
{
    for (uint64_t i = 0; i < count / 2; i++) {
        td_xz_block first = block[i];
        block[i] = block[count - 1 - i];
        block[count - 1 - i] = first;
    }
}

static td_status add(td_xz_blocks *self, td_xz_block block)
{
    if (self->count == self->room) {
        uint64_t room = 2 * self->room + 64;
        TD_CHECK(TD_RESIZE(&self->block, room, "blocks of an xz file"));
        self->room = room;
    }
    self->block[self->count++] = block;
    if (block.content > self->largest) self->largest = block.content;
    return TD_OK;
}

/* The stream that ends at `end`; its blocks are added last one first. *begin: where it begins; SIZE_MAX: there is none */
static td_status read_stream(td_xz_blocks *self, const uint8_t *data, size_t end, size_t *begin)
{
    td_status status = TD_OK;
    lzma_stream_flags header, footer;
    lzma_index *index = NULL;
    lzma_index_iter iterator;
    uint64_t limit = UINT64_MAX, before = self->count;
    size_t used = 0, index_bytes, frame = LZMA_STREAM_HEADER_SIZE;
    *begin = SIZE_MAX;
    if (end < 2 * frame || lzma_stream_footer_decode(&footer, data + end - frame) != LZMA_OK) return TD_OK;
    if (footer.backward_size > end - 2 * frame) return TD_OK;
    index_bytes = (size_t)footer.backward_size;
    size_t at = end - frame - index_bytes;
    lzma_ret code = lzma_index_buffer_decode(&index, &limit, &allocator, data + at, &used, index_bytes);
    if (code == LZMA_MEM_ERROR) return TD_NO_MEMORY;
    if (code != LZMA_OK) return TD_OK;
    uint64_t blocks = lzma_index_total_size(index);
    if (used != index_bytes || blocks > at - frame) goto done;
    size_t start = at - (size_t)blocks - frame;
    if (lzma_stream_header_decode(&header, data + start) != LZMA_OK) goto done;
    if (lzma_stream_flags_compare(&header, &footer) != LZMA_OK) goto done;
    lzma_index_iter_init(&iterator, index);
    while (!lzma_index_iter_next(&iterator, LZMA_INDEX_ITER_BLOCK)) {
        size_t first = start + (size_t)iterator.block.compressed_file_offset;
        TD_TRY(add(self, (td_xz_block){first, first + (size_t)iterator.block.total_size,
                                       (size_t)iterator.block.unpadded_size, (size_t)iterator.block.uncompressed_size,
                                       (int)footer.check}));
    }
    reverse(self->block + before, self->count - before);
    *begin = start;
done:
    lzma_index_end(index, &allocator);
    return status;
}

/* Padding between streams is zeros, four at a time. */
static size_t without_padding(const uint8_t *data, size_t end)
{
    while (end >= 4 && (data[end - 1] | data[end - 2] | data[end - 3] | data[end - 4]) == 0) end -= 4;
    return end;
}

typedef struct opened {
    lzma_block block;
    lzma_filter filters[LZMA_FILTERS_MAX + 1];
    uint64_t decoder_bytes;
} opened;

static void close_block(opened *self)
{
    for (int i = 0; i < LZMA_FILTERS_MAX && self->filters[i].id != LZMA_VLI_UNKNOWN; i++)
        td_free(self->filters[i].options);
    self->filters[0].id = LZMA_VLI_UNKNOWN;
}

/* Reads the block's header. */
static lzma_ret open_block(opened *self, const td_xz_block *from, const uint8_t *data)
{
    *self = (opened){.block = {.check = (lzma_check)from->check}};
    self->block.filters = self->filters;
    self->filters[0].id = LZMA_VLI_UNKNOWN;
    if (data[from->begin] == 0) return LZMA_DATA_ERROR;
    self->block.header_size = lzma_block_header_size_decode(data[from->begin]);
    if (self->block.header_size > from->unpadded) return LZMA_DATA_ERROR;
    lzma_ret code = lzma_block_header_decode(&self->block, &allocator, data + from->begin);
    if (code != LZMA_OK) {
        self->filters[0].id = LZMA_VLI_UNKNOWN; /* the library has freed what it made */
        return code;
    }
    self->decoder_bytes = lzma_raw_decoder_memusage(self->filters);
    if (self->decoder_bytes > DECODER_MOST) return LZMA_MEMLIMIT_ERROR;
    return lzma_block_compressed_size(&self->block, from->unpadded);
}

td_status td_xz_blocks_read(td_xz_blocks **out, const uint8_t *data, size_t bytes)
{
    td_status status = TD_OK;
    td_xz_blocks *self = NULL;
    size_t end = without_padding(data, bytes), begin;
    *out = NULL;
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "blocks of an xz file"));
    while (end > 0) {
        TD_TRY(read_stream(self, data, end, &begin));
        if (begin == SIZE_MAX) goto done;
        end = without_padding(data, begin);
        if (end == 0 && begin != 0) goto done;
    }
    if (self->count == 0) goto done;
    reverse(self->block, self->count);
    opened first;
    lzma_ret code = open_block(&first, &self->block[0], data);
    self->decoder_bytes = first.decoder_bytes;
    close_block(&first);
    if (code == LZMA_MEM_ERROR) TD_TRY(TD_NO_MEMORY);
    if (code != LZMA_OK) goto done;
    *out = self;
    self = NULL;
done:
    td_xz_blocks_free(self);
    return status;
}

void td_xz_blocks_free(td_xz_blocks *blocks)
{
    if (blocks == NULL) return;
    td_free(blocks->block);
    td_free(blocks);
}

const td_xz_block *td_xz_block_at(const td_xz_blocks *blocks, uint64_t index)
{
    return index < blocks->count ? &blocks->block[index] : NULL;
}

size_t td_xz_largest(const td_xz_blocks *blocks) { return blocks->largest; }
uint64_t td_xz_decoder_bytes(const td_xz_blocks *blocks) { return blocks->decoder_bytes; }

td_status td_xz_block_decode(const td_xz_block *block, const uint8_t *data, char *into, bool *whole)
{
    opened self;
    size_t made = 0, used;
    lzma_ret code = open_block(&self, block, data);
    if (code == LZMA_OK) {
        used = block->begin + self.block.header_size;
        code = lzma_block_buffer_decode(&self.block, &allocator, data, &used, block->end, (uint8_t *)into, &made,
                                        block->content);
        *whole = code == LZMA_OK && made == block->content && used == block->end;
    } else {
        *whole = false;
    }
    close_block(&self);
    return code == LZMA_MEM_ERROR ? TD_NO_MEMORY : TD_OK;
}

#else

td_status td_xz_blocks_read(td_xz_blocks **out, const uint8_t *data, size_t bytes)
{
    (void)data, (void)bytes;
    *out = NULL;
    return TD_OK;
}

void td_xz_blocks_free(td_xz_blocks *blocks) { (void)blocks; }

const td_xz_block *td_xz_block_at(const td_xz_blocks *blocks, uint64_t index)
{
    (void)blocks, (void)index;
    return NULL;
}

size_t td_xz_largest(const td_xz_blocks *blocks)
{
    (void)blocks;
    return 0;
}

uint64_t td_xz_decoder_bytes(const td_xz_blocks *blocks)
{
    (void)blocks;
    return 0;
}

td_status td_xz_block_decode(const td_xz_block *block, const uint8_t *data, char *into, bool *whole)
{
    (void)block, (void)data, (void)into;
    *whole = false;
    return TD_OK;
}

#endif
