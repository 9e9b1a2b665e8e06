/* Libraries that are loaded by name: all of their functions, or none. */
#include "base/library.h"
#include "test.h"

#include <math.h>

typedef struct mathematics {
    double (*hypot)(double, double);
    double (*sqrt)(double);
} mathematics;

TEST(functions_are_found_by_name_and_in_order)
{
    mathematics math = {0};
    CHECK(td_library_load("libm.so.6", (const char *const[]){"hypot", "sqrt", NULL}, &math));
    CHECK(math.hypot(3, 4) == 5);
    CHECK(math.sqrt(9) == 3);
}

TEST(a_missing_library_or_function_is_no_error)
{
    mathematics math = {0};
    CHECK(!td_library_load("libtandem-does-not-exist.so.1", (const char *const[]){"hypot", NULL}, &math));
    CHECK(!td_library_load("libm.so.6", (const char *const[]){"hypot", "no_such_function_of_libm", NULL}, &math));
}

TEST_MAIN
