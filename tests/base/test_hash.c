#include "test.h"

#include "base/hash.h"
#include "base/random.h"

/* Values of other implementations (the reference's xxhsum, python-xxhash, System.IO.Hashing),
 * one for every way through the function: tail bytes, words, one stripe, several. */
static const struct {
    const char *text;
    uint64_t hash;
} known[] = {
    {"", UINT64_C(0xef46db3751d8e999)},
    {"a", UINT64_C(0xd24ec4f1a98c6e5b)},
    {"abc", UINT64_C(0x44bc2cf5ad770999)},
    {"1234", UINT64_C(0xd8316e61d84f6ba4)},
    {"12345678", UINT64_C(0xd2d02f08cf7cfd4a)},
    {"123456789012345", UINT64_C(0xc377d78ade001a3c)},
    {"1234567890123456", UINT64_C(0xb61c33dc6c59f270)},
    {"1234567890123456789012345678901", UINT64_C(0x8f367cb873a5376e)},
    {"12345678901234567890123456789012", UINT64_C(0x40fd1aa52d98274c)},
    {"Nobody inspects the spammish repetition", UINT64_C(0xfbcea83c8a378bf1)},
    {"The quick brown fox jumps over the lazy dog", UINT64_C(0x0b242d361fda71bc)},
    {"The quick brown fox jumps over the lazy dog.", UINT64_C(0x44ad33705751ad73)},
};

TEST(hashes_are_those_of_xxh64)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint64_t seen = td_hash64(known[i].text, strlen(known[i].text));
        if (seen != known[i].hash) TEST_FAIL("'%s' hashes to %016" PRIx64, known[i].text, seen);
    }
    unsigned char ascending[100];
    for (int i = 0; i < 100; i++) ascending[i] = (unsigned char)i;
    CHECK(td_hash64(ascending, 100) == UINT64_C(0x6ac1e58032166597));
}

TEST(no_data_at_all_is_hashed_like_the_empty_string)
{
    CHECK(td_hash64(NULL, 0) == td_hash64("", 0));
}

TEST(alignment_does_not_matter)
{
    unsigned char bytes[256 + 8];
    for (int shift = 1; shift < 8; shift++) {
        for (int i = 0; i < 256; i++) bytes[i] = (unsigned char)(i * 7);
        uint64_t wanted = td_hash64(bytes, 256);
        memmove(bytes + shift, bytes, 256);
        CHECK(td_hash64(bytes + shift, 256) == wanted);
    }
}

TEST(any_flipped_bit_changes_the_hash)
{
    unsigned char bytes[77];
    memset(bytes, 0x5a, sizeof bytes);
    uint64_t wanted = td_hash64(bytes, sizeof bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        CHECK(td_hash64(bytes, sizeof bytes) != wanted);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    CHECK(td_hash64(bytes, sizeof bytes) == wanted);
}

/* Four standard deviations of a fair coin thrown a million times are 2000. */
TEST(random_bits_are_fair_and_seeds_differ)
{
    enum { DRAWS = 1000000 };
    int ones[64] = {0}, same = 0;
    for (uint64_t i = 0; i < DRAWS; i++) {
        uint64_t random = td_random_at(7, i);
        for (int bit = 0; bit < 64; bit++) ones[bit] += (int)(random >> bit & 1);
        same += random == td_random_at(8, i);
    }
    for (int bit = 0; bit < 64; bit++) CHECK(abs(ones[bit] - DRAWS / 2) < 2500);
    CHECK_EQ(same, 0);
}

TEST(random_numbers_keep_their_bounds)
{
    CHECK_EQ(td_random_below(UINT64_MAX, 10), 9);
    CHECK_EQ(td_random_below(0, 10), 0);
    CHECK(td_random_below(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
    CHECK_EQ(td_random_below(UINT64_MAX, 1), 0);
    CHECK(td_random_unit(UINT64_MAX) < 1);
    CHECK(td_random_unit(0) == 0);
}

TEST_MAIN
