/* The instantaneous codes: what the tests' encoder writes is read, from the
 * shortest code to the longest, at every alignment; anything else is refused. */
#include "bv_encoder.h"

#include "store/formats/bits.h"

static bv_bits bits;

/* The code behind `shift` other bits, alone and followed by ones or zeros. */
static void check_code(int code, unsigned k, uint64_t value, unsigned shift)
{
    for (int tail = 0; tail < 3; tail++) {
        bits.count = 0;
        for (unsigned i = 0; i < shift; i++) bv_bit(&bits, i % 3 == 0);
        bv_code(&bits, code, code, k, value);
        uint64_t end = bits.count;
        for (int i = 0; tail > 0 && i < 100; i++) bv_bit(&bits, tail == 1);
        td_bits reader = {bits.bytes, (bits.count + 7) / 8, shift};
        uint64_t seen = td_bits_code(&reader, (td_code)code, k);
        if (seen != value || reader.at != end)
            TEST_FAIL("code %d, k %u: %" PRIu64 " at bit %u reads as %" PRIu64 ", %d bits too far", code, k, value,
                      shift, seen, (int)(reader.at - end));
        CHECK(!td_bits_over(&reader));
    }
}

static void check_values(int code, unsigned k, uint64_t largest)
{
    for (uint64_t value = 0; value < 300 && value <= largest; value++) check_code(code, k, value, value % 8);
    for (unsigned power = 8; power < 62; power++)
        for (int64_t near = -2; near <= 2; near++) {
            uint64_t value = (UINT64_C(1) << power) + (uint64_t)near;
            for (unsigned shift = 0; value <= largest && shift < 8; shift++) check_code(code, k, value, shift);
        }
}

TEST(universal_codes_are_read_up_to_their_longest)
{
    check_values(BV_GAMMA, 0, UINT64_MAX);
    check_values(BV_DELTA, 0, UINT64_MAX);
    check_values(BV_NIBBLE, 0, UINT64_MAX);
    check_values(BV_UNARY, 0, 100000);
}

/* No number of more than 62 bits is asked of a zeta code. */
TEST(zeta_codes_are_read_for_every_k)
{
    for (unsigned k = 1; k <= 31; k++) check_values(BV_ZETA, k, (UINT64_C(1) << 62 / k * k) - 2);
}

TEST(golomb_codes_are_read_for_any_modulus)
{
    static const unsigned moduli[] = {1, 2, 3, 4, 5, 7, 8, 100, 1000, 65535, 65536, 1u << 30, INT32_MAX};
    for (size_t i = 0; i < sizeof moduli / sizeof *moduli; i++) {
        check_values(BV_GOLOMB, moduli[i], UINT64_C(20000) * moduli[i]);
        check_values(BV_SKEWED_GOLOMB, moduli[i], ((UINT64_C(1) << 30) - 1) * moduli[i]);
    }
}

TEST(what_is_cut_is_never_taken_for_a_value_within_the_stream)
{
    for (int code = BV_DELTA; code <= BV_NIBBLE; code++)
        for (uint64_t value = 0; value < 400; value += 1 + value / 5) {
            bits.count = 0;
            bv_code(&bits, code, code, 3, value);
            for (uint64_t bytes = 0; 8 * bytes < bits.count; bytes++) {
                td_bits reader = {bits.bytes, bytes, 0};
                uint64_t seen = td_bits_code(&reader, (td_code)code, 3);
                CHECK(seen == TD_BITS_BAD || td_bits_over(&reader));
            }
        }
}

TEST(zeros_without_end_are_no_code)
{
    static const uint8_t zeros[4096];
    for (int code = BV_DELTA; code <= BV_NIBBLE; code++)
        for (uint64_t bytes = 0; bytes <= sizeof zeros; bytes += 1 + bytes) {
            td_bits reader = {zeros, bytes, 0};
            CHECK(td_bits_code(&reader, (td_code)code, 3) == TD_BITS_BAD);
        }
}

/* Any bits at all: a value or none, and no step backwards. */
TEST(noise_is_read_or_refused)
{
    static uint8_t noise[256];
    for (uint64_t trial = 0; trial < 3000; trial++) {
        for (size_t i = 0; i < sizeof noise; i++)
            noise[i] = (uint8_t)(td_random_at(trial, i) & td_random_at(trial + 1, i) & td_random_at(trial + 2, i));
        for (int code = BV_DELTA; code <= BV_NIBBLE; code++) {
            td_bits reader = {noise, trial % sizeof noise, 0};
            while (!td_bits_over(&reader)) {
                uint64_t before = reader.at;
                if (td_bits_code(&reader, (td_code)code, 1 + (unsigned)trial % 31) == TD_BITS_BAD) break;
                CHECK(reader.at > before);
            }
        }
    }
}

TEST_MAIN
