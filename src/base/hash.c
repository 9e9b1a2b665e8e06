#include "base/hash.h"

#include <string.h>

static const uint64_t P1 = UINT64_C(0x9E3779B185EBCA87), P2 = UINT64_C(0xC2B2AE3D27D4EB4F),
                      P3 = UINT64_C(0x165667B19E3779F9), P4 = UINT64_C(0x85EBCA77C2B2AE63),
                      P5 = UINT64_C(0x27D4EB2F165667C5);

static uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

static uint64_t load64(const unsigned char *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

static uint64_t load32(const unsigned char *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

static uint64_t lane(uint64_t accumulator, uint64_t input) { return rotate(accumulator + input * P2, 31) * P1; }

static uint64_t merge(uint64_t hash, uint64_t accumulator) { return (hash ^ lane(0, accumulator)) * P1 + P4; }

uint64_t td_hash64(const void *data, size_t bytes)
{
    const unsigned char *p = bytes == 0 ? (const unsigned char *)"" : data, *end = p + bytes; /* `data` may be NULL */
    uint64_t hash = P5;
    if (bytes >= 32) {
        uint64_t a = P1 + P2, b = P2, c = 0, d = 0 - P1;
        for (; end - p >= 32; p += 32) {
            a = lane(a, load64(p));
            b = lane(b, load64(p + 8));
            c = lane(c, load64(p + 16));
            d = lane(d, load64(p + 24));
        }
        hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
        hash = merge(merge(merge(merge(hash, a), b), c), d);
    }
    hash += bytes;
    for (; end - p >= 8; p += 8) hash = rotate(hash ^ lane(0, load64(p)), 27) * P1 + P4;
    for (; end - p >= 4; p += 4) hash = rotate(hash ^ load32(p) * P1, 23) * P2 + P3;
    for (; p < end; p++) hash = rotate(hash ^ *p * P5, 11) * P1;
    hash = (hash ^ hash >> 33) * P2;
    hash = (hash ^ hash >> 29) * P3;
    return hash ^ hash >> 32;
}
