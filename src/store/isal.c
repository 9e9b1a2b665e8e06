#include "store/isal.h"

#include "base/alloc.h"

#ifdef TANDEM_HAVE_ISAL

#include "base/library.h"

#include <isa-l/igzip_lib.h>
#include <pthread.h>

#define FUNCTIONS(F) F(isal_inflate_init) F(isal_inflate_reset) F(isal_inflate) F(isal_inflate_stateless)
#define POINTER(name) __typeof__(name) *name;
#define NAME(name) #name,

static struct {
    FUNCTIONS(POINTER)
} isal;
static bool isal_loaded;

struct td_isal {
    struct inflate_state state;
};

static void load_library(void)
{
    static const char *const names[] = {FUNCTIONS(NAME) NULL};
    isal_loaded = td_library_load("libisal.so.2", names, &isal);
}

bool td_isal_found(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_library);
    return isal_loaded;
}

/* The library's own pages are resident with the first decoder. */
uint64_t td_isal_bytes(void)
{
    enum { LIBRARY_BYTES = 512 << 10 };
    return sizeof(struct td_isal) + LIBRARY_BYTES;
}

td_status td_isal_create(td_isal **out)
{
    if (!td_isal_found()) return td_fail(TD_UNSUPPORTED, "libisal.so.2 cannot be loaded");
    TD_CHECK(TD_NEW_ZEROED(out, 1, "gzip decoder"));
    isal.isal_inflate_init(&(*out)->state);
    td_isal_reset(*out);
    return TD_OK;
}

void td_isal_destroy(td_isal *self) { td_free(self); }

void td_isal_reset(td_isal *self)
{
    isal.isal_inflate_reset(&self->state);
    self->state.crc_flag = ISAL_GZIP;
}

/* The library counts in 32 bits. */
static uint32_t part(size_t bytes)
{
    enum { MOST = 1 << 30 };
    return bytes < MOST ? (uint32_t)bytes : MOST;
}

static const char *reason(int code)
{
    switch (code) {
    case ISAL_INVALID_BLOCK: return "invalid block";
    case ISAL_INVALID_SYMBOL: return "invalid symbol";
    case ISAL_INVALID_LOOKBACK: return "invalid distance too far back";
    case ISAL_INVALID_WRAPPER: return "incorrect header";
    case ISAL_UNSUPPORTED_METHOD: return "unknown compression method";
    case ISAL_INCORRECT_CHECKSUM: return "incorrect checksum or length";
    default: return "no valid data";
    }
}

static void work(td_isal *self, td_isal_span *span, int (*inflate)(struct inflate_state *))
{
    struct inflate_state *state = &self->state;
    state->next_in = (uint8_t *)span->in; /* which the library only reads */
    state->avail_in = part((size_t)(span->in_end - span->in));
    state->next_out = (uint8_t *)span->out;
    state->avail_out = part((size_t)(span->out_end - span->out));
    int code = inflate(state);
    span->in = state->next_in;
    span->out = (char *)state->next_out;
    span->ended = code == ISAL_DECOMP_OK && state->block_state == ISAL_BLOCK_FINISH;
    span->wrong = code < 0 ? reason(code) : NULL;
}

void td_isal_step(td_isal *self, td_isal_span *span) { work(self, span, isal.isal_inflate); }

void td_isal_member(td_isal *self, td_isal_span *span)
{
    td_isal_reset(self);
    work(self, span, isal.isal_inflate_stateless);
}

#else

bool td_isal_found(void) { return false; }
uint64_t td_isal_bytes(void) { return 0; }
td_status td_isal_create(td_isal **out)
{
    (void)out;
    return td_fail(TD_UNSUPPORTED, "Tandem was built without ISA-L");
}
void td_isal_destroy(td_isal *self) { (void)self; }
void td_isal_reset(td_isal *self) { (void)self; }
void td_isal_step(td_isal *self, td_isal_span *span) { (void)self, (void)span; }
void td_isal_member(td_isal *self, td_isal_span *span) { (void)self, (void)span; }

#endif
