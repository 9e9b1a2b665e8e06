#include "base/lines.h"

#include "base/alloc.h"
#include "base/log.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MOST_ITEMS = 1 << 15, FEWEST_ITEMS = 1 << 8 };

typedef struct writing {
    td_outfile *file;
    uint64_t count;
    uint64_t buffer_bytes, stretch; /* stretch: its number of items */
    td_lines_fn print;
    const void *context;
    const char *what;
    char *buffers; /* one per worker */
    _Atomic uint64_t next;
    atomic_bool stopped;  /* a worker failed, so that some stretch will not be written; set under the lock */
    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t turned;
    uint64_t turn; /* the stretch to be written next */
} writing;

static td_status write_in_turn(writing *self, uint64_t stretch, const char *text, size_t bytes)
{
    td_status status = TD_OK;
    pthread_mutex_lock(&self->lock);
    while (self->turn != stretch && !self->stopped) pthread_cond_wait(&self->turned, &self->lock);
    if (!self->stopped) status = td_outfile_write(self->file, text, bytes);
    if (status != TD_OK) self->stopped = true;
    self->turn++;
    pthread_cond_broadcast(&self->turned);
    pthread_mutex_unlock(&self->lock);
    return status;
}

/* The file's writes test for a cancel, so that no worker waits for a stretch that is never written. */
static td_status write_stretches(void *context, int worker, int workers)
{
    (void)workers;
    writing *self = context;
    char *buffer = self->buffers + (uint64_t)worker * self->buffer_bytes;
    uint64_t stretches = self->count / self->stretch + (self->count % self->stretch != 0);
    while (!self->stopped) {
        uint64_t stretch = atomic_fetch_add(&self->next, 1);
        if (stretch >= stretches) break;
        uint64_t begin = stretch * self->stretch, end = begin + self->stretch;
        char *behind = self->print(self->context, begin, end < self->count ? end : self->count, buffer);
        TD_CHECK(write_in_turn(self, stretch, buffer, (size_t)(behind - buffer)));
        td_progress(self->what, begin, self->count);
    }
    return TD_OK;
}

/* Items per stretch; fewer when little of the memory budget is left. */
static uint64_t items_at_a_time(size_t item_bytes, uint64_t workers)
{
    td_memory_stats memory = td_memory();
    uint64_t items = MOST_ITEMS, left = memory.budget > memory.now ? memory.budget - memory.now : 0;
    while (memory.budget > 0 && items > FEWEST_ITEMS && items * item_bytes * workers > left / 4) items /= 2;
    return items;
}

td_status td_lines_write(td_outfile *file, td_pool *pool, uint64_t count, size_t item_bytes, td_lines_fn print,
                         const void *context, const char *what)
{
    writing self = {.file = file, .count = count, .print = print, .context = context, .what = what};
    self.stretch = items_at_a_time(item_bytes, (uint64_t)td_pool_threads(pool));
    self.buffer_bytes = (count < self.stretch ? count : self.stretch) * item_bytes;
    TD_CHECK(TD_NEW(&self.buffers, (uint64_t)td_pool_threads(pool) * self.buffer_bytes, "text buffers"));
    pthread_mutex_init(&self.lock, NULL);
    pthread_cond_init(&self.turned, NULL);
    td_status status = td_pool_run(pool, write_stretches, &self);
    pthread_cond_destroy(&self.turned);
    pthread_mutex_destroy(&self.lock);
    td_free(self.buffers);
    td_progress_end();
    return status;
}
