#include "device/emulator/debug_lines.h"

#ifdef TANDEM_HAVE_LIBDW

#include "base/library.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FUNCTIONS(F)                                                                                             \
    F(dwfl_begin) F(dwfl_end) F(dwfl_report_elf) F(dwfl_report_end) F(dwfl_module_nextcu) F(dwfl_module_addrinfo) \
    F(dwarf_haspc) F(dwarf_getsrc_die) F(dwarf_linesrc) F(dwarf_lineno)
#define POINTER(name) __typeof__(name) *name;
#define NAME(name) #name,

/* libdw's functions, by their own names. */
static struct {
    FUNCTIONS(POINTER)
} dw;
static bool dw_loaded;

static void load_library(void)
{
    static const char *const names[] = {FUNCTIONS(NAME) NULL};
    dw_loaded = td_library_load("libdw.so.1", names, &dw);
}

bool td_debug_lines_available(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_library);
    return dw_loaded;
}

typedef struct search {
    const char *path;
    uintptr_t base, address;
    char *name;
    size_t room;
    int *line;
    bool found;
} search;

/* Only the program's own file is read: libdw's own search would look through folders of debugging packages and ask
 * servers on the network in the middle of a report. */
static int no_other_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
                         const char *link, GElf_Word checksum, char **out)
{
    (void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)checksum, (void)out;
    return -1;
}

/* Asks every unit for its range of addresses, because clang writes no table of all ranges (.debug_aranges). */
static bool find_line(search *self, Dwfl_Module *module)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = NULL;
    while ((unit = dw.dwfl_module_nextcu(module, unit, &bias)) != NULL) {
        if (dw.dwarf_haspc(unit, self->address - bias) <= 0) continue;
        Dwarf_Line *line = dw.dwarf_getsrc_die(unit, self->address - bias);
        const char *path = line != NULL ? dw.dwarf_linesrc(line, NULL, NULL) : NULL;
        if (path == NULL || dw.dwarf_lineno(line, self->line) != 0) return false;
        const char *slash = strrchr(path, '/');
        snprintf(self->name, self->room, "%s", slash != NULL ? slash + 1 : path);
        return true;
    }
    return false;
}

static bool find_function(search *self, Dwfl_Module *module)
{
    GElf_Off offset;
    GElf_Sym symbol;
    const char *name = dw.dwfl_module_addrinfo(module, self->address, &offset, &symbol, NULL, NULL, NULL);
    if (name == NULL || GELF_ST_TYPE(symbol.st_info) != STT_FUNC) return false;
    snprintf(self->name, self->room, "%s+0x%zx", name, (size_t)offset);
    *self->line = 0;
    return true;
}

static void *look_up(void *context)
{
    search *self = context;
    static const Dwfl_Callbacks callbacks = {.find_debuginfo = no_other_file};
    if (!td_debug_lines_available()) return NULL;
    Dwfl *session = dw.dwfl_begin(&callbacks);
    if (session == NULL) return NULL;
    Dwfl_Module *module = dw.dwfl_report_elf(session, "", self->path, -1, self->base, true);
    if (module != NULL && dw.dwfl_report_end(session, NULL, NULL) == 0)
        self->found = find_line(self, module) || find_function(self, module);
    dw.dwfl_end(session);
    return NULL;
}

/* The caller runs on the small stack of a fiber, part of which its kernel has used. libdw promises no limit, so it gets
 * a thread with a stack of the usual size. */
bool td_debug_line(const char *path, uintptr_t base, uintptr_t address, char *name, size_t room, int *line)
{
    search self = {.path = path, .base = base, .address = address, .name = name, .room = room, .line = line};
    pthread_t thread;
    if (pthread_create(&thread, NULL, look_up, &self) != 0) return false;
    pthread_join(thread, NULL);
    return self.found;
}

#else

bool td_debug_lines_available(void) { return false; }

bool td_debug_line(const char *path, uintptr_t base, uintptr_t address, char *name, size_t room, int *line)
{
    (void)path, (void)base, (void)address, (void)name, (void)room, (void)line;
    return false;
}

#endif
