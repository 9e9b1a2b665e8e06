#include "device/emulator/stale.h"

#include "base/alloc.h"
#include "base/random.h"

#include <string.h>

td_status td_stale_open(td_emu_stale *stale, uint32_t delay, uint64_t seed)
{
    stale->delay = delay;
    stale->seed = seed;
    return delay == 0 ? TD_OK : TD_NEW_ZEROED(&stale->words, TD_STALE_WORDS, "delayed writes");
}

void td_stale_close(td_emu_stale *stale)
{
    td_free(stale->words);
    *stale = (td_emu_stale){0};
}

static td_emu_stale_word *place_of(const td_emu_stale *stale, uint64_t key)
{
    return &stale->words[td_mix64(key) % TD_STALE_WORDS];
}

/* The value from before the operation counts, not that from before its last change; but no device sees a value older
 * than its own change of the word. */
void td_stale_change(td_emu_stale *stale, uint64_t key, const void *at, int writer, uint32_t tick)
{
    td_emu_stale_word *word = place_of(stale, key);
    if (word->key == key && word->tick == tick && word->writer == writer) return;
    *word = (td_emu_stale_word){.key = key, .tick = tick, .writer = writer};
    memcpy(&word->old, at, sizeof word->old);
}

td_emu_stale_word *td_stale_find(const td_emu_stale *stale, uint64_t key, int reader)
{
    td_emu_stale_word *word = place_of(stale, key);
    return word->key == key && word->writer != reader ? word : NULL;
}

bool td_stale_draw(const td_emu_stale *stale, td_emu_stale_word *word, uint32_t tick)
{
    if (word->reader != tick) {
        word->reader = tick;
        word->left = (uint32_t)td_random_below(td_mix64(stale->seed ^ td_mix64(word->key) ^ td_mix64(tick)), stale->delay + 1);
    }
    if (word->left == 0) return false;
    word->left--;
    return true;
}
