#include "store/formats/piece_counts.h"

#include "base/alloc.h"

#include <string.h>

td_status td_piece_counts_put(td_piece_counts *table, uint64_t index, uint64_t count)
{
    td_status status = TD_OK;
    pthread_mutex_lock(&table->lock);
    if (index >= table->room) {
        uint64_t room = index + 64 + index / 2;
        TD_TRY(TD_RESIZE(&table->counts, room, "pieces of a text"));
        memset(table->counts + table->room, 0, (room - table->room) * sizeof *table->counts);
        table->room = room;
    }
    table->counts[index] = count;
done:
    pthread_mutex_unlock(&table->lock);
    return status;
}

uint64_t td_piece_counts_sum(td_piece_counts *table)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < table->room; i++) {
        uint64_t count = table->counts[i];
        table->counts[i] = sum;
        sum += count;
    }
    return sum;
}

void td_piece_counts_free(td_piece_counts *table)
{
    td_free(table->counts);
    *table = (td_piece_counts)TD_PIECE_COUNTS_NONE;
}
