#include "base/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

/* Whether all these bits are set in register C of a cpuid leaf: for features that __builtin_cpu_supports of some
 * compilers does not know. */
static bool leaf_has(unsigned leaf, unsigned bits)
{
    unsigned a, b, c = 0, d;
    return __get_cpuid(leaf, &a, &b, &c, &d) != 0 && (c & bits) == bits;
}

#define EXTENDED 0x80000001u
enum { CX16 = 1 << 13, MOVBE = 1 << 22, OSXSAVE = 1 << 27, F16C = 1 << 29 }; /* of leaf 1 */
enum { LAHF = 1 << 0, LZCNT = 1 << 5 };                                      /* of leaf EXTENDED */

/* The features of each level, as the x86-64 psABI lists them. */
static bool has_v2(void)
{
    return __builtin_cpu_supports("sse3") && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
           __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") && leaf_has(1, CX16) &&
           leaf_has(EXTENDED, LAHF);
}

static bool has_v3(void)
{
    return has_v2() && __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
           leaf_has(1, MOVBE | OSXSAVE | F16C) && leaf_has(EXTENDED, LZCNT);
}

static bool has_v4(void)
{
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

typedef struct level {
    const char *suffix, *name;
} level;

static const level levels[] = {
#define TD_ISA(suffix, name) {#suffix, name},
#include "isa_levels.def"
#undef TD_ISA
};
enum { LEVELS = sizeof levels / sizeof *levels };

int td_isa_count(void) { return LEVELS; }
const char *td_isa_name(int which) { return levels[which].name; }

bool td_isa_usable(int which)
{
#if defined(__x86_64__)
    const char *name = levels[which].name;
    __builtin_cpu_init(); /* needed before constructors have run */
    if (strcmp(name, "x86-64-v2") == 0) return has_v2();
    if (strcmp(name, "x86-64-v3") == 0) return has_v3();
    if (strcmp(name, "x86-64-v4") == 0) return has_v4();
#endif
    return which == 0; /* level 0: ordinary code is compiled for it */
}

/* The level of that name or suffix, LEVELS if there is none. */
static int find(const char *word)
{
    int which = 0;
    while (which < LEVELS && strcmp(word, levels[which].name) != 0 && strcmp(word, levels[which].suffix) != 0) which++;
    return which;
}

/* The value of TANDEM_ISA; NULL: not set. */
static const char *wished(void)
{
    const char *wish = getenv("TANDEM_ISA");
    return wish != NULL && wish[0] != '\0' ? wish : NULL;
}

static int choose(void)
{
    const char *wish = wished();
    int named = wish != NULL ? find(wish) : LEVELS, best = LEVELS - 1;
    if (named < LEVELS && td_isa_usable(named)) return named;
    while (best > 0 && !td_isa_usable(best)) best--;
    return best;
}

int td_isa_level(void)
{
    static int chosen = -1; /* registry.c calls this before the process has a second thread */
    int known = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (known < 0) __atomic_store_n(&chosen, known = choose(), __ATOMIC_RELAXED);
    return known;
}

td_status td_isa_check(void)
{
    const char *wish = wished();
    int named = wish != NULL ? find(wish) : LEVELS;
    if (wish == NULL || (named < LEVELS && td_isa_usable(named))) return TD_OK;
    char allowed[256] = "";
    for (int i = 0, used = 0; i < LEVELS && used < (int)sizeof allowed; i++)
        if (td_isa_usable(i))
            used += snprintf(allowed + used, sizeof allowed - (size_t)used, "%s%s", used > 0 ? ", " : "",
                             levels[i].name);
    return td_fail(TD_UNSUPPORTED, "TANDEM_ISA is '%s', which this %s does not have; allowed are %s; unset it to use the "
                   "highest", wish, named < LEVELS ? "processor" : "build", allowed);
}
