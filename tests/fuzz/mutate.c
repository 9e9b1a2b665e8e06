/* What may happen to a file, and what a program that guesses would try. */
#include "fuzz.h"

#include "base/random.h"

#include <stdio.h>
#include <string.h>

typedef struct dice {
    uint64_t seed, counter;
} dice;

static uint64_t roll(dice *d) { return td_random_at(d->seed, d->counter++); }
static size_t below(dice *d, size_t bound) { return bound == 0 ? 0 : (size_t)td_random_below(roll(d), bound); }

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Replaces [at, at + old) by `fresh` bytes, as far as there is room. */
static void replace(fuzz_file *file, size_t at, size_t old, const void *text, size_t fresh)
{
    size_t behind = file->bytes - at - old;
    if (file->bytes - old + fresh > FUZZ_BYTES) return;
    memmove(file->data + at + fresh, file->data + at + old, behind);
    memcpy(file->data + at, text, fresh);
    file->bytes += fresh - old;
}

static void flip_bits(fuzz_file *file, dice *d)
{
    for (size_t count = 1 + below(d, 8); count > 0 && file->bytes > 0; count--)
        file->data[below(d, file->bytes)] ^= (unsigned char)(1u << below(d, 8));
}

static void set_bytes(fuzz_file *file, dice *d)
{
    static const unsigned char telling[] = {0,   1,   0x7f, 0x80, 0xff, '\n', '\r', '\t', ' ',
                                            ',', '-', '+',  '.',  '0',  '9',  'e',  '#',  '%'};
    for (size_t count = 1 + below(d, 4); count > 0 && file->bytes > 0; count--)
        file->data[below(d, file->bytes)] = telling[below(d, sizeof telling)];
}

static void truncate_file(fuzz_file *file, dice *d) { file->bytes = below(d, file->bytes + 1); }

static void delete_range(fuzz_file *file, dice *d)
{
    size_t at = below(d, file->bytes);
    replace(file, at, below(d, smaller(file->bytes - at, 64) + 1), "", 0);
}

static void repeat_range(fuzz_file *file, dice *d)
{
    unsigned char part[256];
    size_t at = below(d, file->bytes), length = below(d, smaller(file->bytes - at, sizeof part) + 1);
    size_t times = below(d, 32) == 0 ? below(d, 2000) : 1 + below(d, 4);
    memcpy(part, file->data + at, length);
    for (; times > 0; times--) replace(file, at, 0, part, length);
}

static void insert_noise(fuzz_file *file, dice *d)
{
    unsigned char noise[32];
    size_t length = 1 + below(d, sizeof noise);
    for (size_t i = 0; i < length; i++) noise[i] = (unsigned char)roll(d);
    replace(file, below(d, file->bytes + 1), 0, noise, length);
}

static bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }

/* Another number in the place of one written in decimal. */
static void edit_number(fuzz_file *file, dice *d)
{
    static const char *const telling[] = {
        "0", "1", "-1", "2", "255", "256", "65535", "65536", "1000000", "2147483648", "4294967294", "4294967295",
        "4294967296", "9223372036854775808", "18446744073709551615", "18446744073709551616", "00000000000000000007",
        "nan", "-inf", "1e39", "1e-400", "1.5", "", ".", "0x10",
    };
    size_t start = below(d, file->bytes), end;
    while (start < file->bytes && !is_digit(file->data[start])) start++;
    while (start > 0 && start < file->bytes && is_digit(file->data[start - 1])) start--;
    for (end = start; end < file->bytes && is_digit(file->data[end]); end++) {}
    const char *fresh = telling[below(d, sizeof telling / sizeof *telling)];
    replace(file, start, end - start, fresh, strlen(fresh));
}

/* Another number in the place of a binary one, in either byte order. */
static void edit_word(fuzz_file *file, dice *d)
{
    static const uint64_t telling[] = {0, 1, 2, 0x7f, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
        0x100000000, INT64_MAX, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 61};
    uint64_t word = telling[below(d, sizeof telling / sizeof *telling)];
    size_t length = below(d, 2) == 0 ? 4 : 8, at = below(d, file->bytes / length) * length;
    if (file->bytes < length) return;
    if (below(d, 4) == 0) word = __builtin_bswap64(word) >> (64 - 8 * length);
    memcpy(file->data + at, &word, length);
}

/* The beginning of one file and the end of another. */
static void splice(fuzz_file *file, const fuzz_file *other, dice *d)
{
    size_t at = below(d, file->bytes + 1), from = below(d, other->bytes + 1);
    size_t length = smaller(other->bytes - from, FUZZ_BYTES - at);
    memcpy(file->data + at, other->data + from, length);
    file->bytes = at + length;
}

static void mutate_once(fuzz_file *file, const fuzz_file *other, dice *d)
{
    switch (below(d, 10)) {
    case 0: flip_bits(file, d); break;
    case 1: set_bytes(file, d); break;
    case 2: truncate_file(file, d); break;
    case 3: delete_range(file, d); break;
    case 4: repeat_range(file, d); break;
    case 5: insert_noise(file, d); break;
    case 6: edit_word(file, d); break;
    case 7: splice(file, other, d); break;
    default: edit_number(file, d); break;
    }
}

void fuzz_mutate(fuzz_seed *seed, const fuzz_seed *other, uint64_t number, uint64_t attempt)
{
    dice d = {td_mix64(number) ^ td_mix64(~attempt), 0};
    size_t which = below(&d, (size_t)seed->count);
    const fuzz_file *donor = &other->files[which < (size_t)other->count ? which : 0];
    for (size_t times = 1 + below(&d, 3); times > 0; times--) mutate_once(&seed->files[which], donor, &d);
}

void fuzz_copy(fuzz_seed *to, const fuzz_seed *from)
{
    memcpy(to->stem, from->stem, sizeof to->stem);
    to->count = from->count;
    to->main = from->main;
    for (int i = 0; i < from->count; i++) {
        memcpy(to->files[i].suffix, from->files[i].suffix, FUZZ_SUFFIX);
        memcpy(to->files[i].data, from->files[i].data, from->files[i].bytes);
        to->files[i].bytes = from->files[i].bytes;
    }
}
