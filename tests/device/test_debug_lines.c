/* Lines of addresses as libdw finds them: in this program, in a library that has a symbol table alone, and in files that
 * are no programs. */
#include "device/emulator/debug_lines.h"
#include "test.h"

#include <dlfcn.h>

static void needs_libdw(void)
{
#ifdef TANDEM_HAVE_LIBDW
    CHECK(td_debug_lines_available());
#else
    SKIP("this build has no libdw");
#endif
}

/* The file and base address of the module that has the address. */
static Dl_info module_of(const void *code)
{
    Dl_info module;
    CHECK(dladdr(code, &module) != 0);
    return module;
}

static int first_line, last_line;

static __attribute__((noinline)) int marked(int value)
{
    first_line = __LINE__ - 2;
    for (int i = 0; i < value; i++) value ^= i << 3;
    last_line = __LINE__ + 2;
    return value;
}

TEST(an_address_of_this_program_has_file_and_line)
{
    char name[64];
    int line = 0;
    needs_libdw();
    Dl_info own = module_of((const void *)marked);
    CHECK(marked(3) >= 0);
    CHECK(td_debug_line("/proc/self/exe", (uintptr_t)own.dli_fbase, (uintptr_t)marked, name, sizeof name, &line));
    CHECK_STR(name, "test_debug_lines.c");
    if (line < first_line || line > last_line) TEST_FAIL("line %d, not %d to %d", line, first_line, last_line);
}

TEST(a_name_is_cut_to_its_room)
{
    char name[5] = "";
    int line = 0;
    needs_libdw();
    Dl_info own = module_of((const void *)marked);
    CHECK(td_debug_line("/proc/self/exe", (uintptr_t)own.dli_fbase, (uintptr_t)marked, name, sizeof name, &line));
    CHECK_STR(name, "test");
}

/* A C library that was built with debugging information names its own file. */
TEST(a_symbol_table_alone_gives_the_function)
{
    char name[64];
    int line = -1;
    needs_libdw();
    const void *code = dlsym(RTLD_DEFAULT, "getenv");
    Dl_info library = module_of(code);
    CHECK(td_debug_line(library.dli_fname, (uintptr_t)library.dli_fbase, (uintptr_t)code + 1, name, sizeof name, &line));
    if (line == 0) CHECK_STR(name, "getenv+0x1");
    else CHECK(line > 0 && strstr(name, "getenv") != NULL);
}

TEST(files_that_tell_nothing_are_no_error)
{
    static const char words[] = "\177ELF and then no more of it";
    char name[64];
    int line = 7;
    const char *path = test_path("cut");
    test_write_file(path, words, sizeof words - 1);
    CHECK(!td_debug_line(path, 0, 4096, name, sizeof name, &line));
    CHECK(!td_debug_line(test_path("missing"), 0, 4096, name, sizeof name, &line));
    CHECK(!td_debug_line("/proc/self/exe", 0, 1, name, sizeof name, &line));
    CHECK_EQ(line, 7);
}

TEST_MAIN
