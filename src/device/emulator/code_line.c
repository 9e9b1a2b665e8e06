#include "device/emulator/code_line.h"

#include "device/emulator/debug_lines.h"
#include "device/emulator/machine.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

/* A search through the modules of the process, and its result. */
typedef struct module_search {
    uintptr_t begin, end;
    bool constants;         /* search read-only segments only */
    const char *path;       /* "": the program itself */
    uintptr_t base;
    uintptr_t part, part_end;
} module_search;

/* Constants are in read-only segments and in those that the loader writes once. */
static int look_in_module(struct dl_phdr_info *module, size_t bytes, void *context)
{
    (void)bytes;
    module_search *search = context;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        bool constant = (part->p_type == PT_LOAD && (part->p_flags & PF_W) == 0) || part->p_type == PT_GNU_RELRO;
        if (search->constants ? !constant : part->p_type != PT_LOAD) continue;
        uintptr_t begin = module->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        if (search->begin < begin || search->end > end) continue;
        search->path = module->dlpi_name;
        search->base = module->dlpi_addr;
        search->part = begin;
        search->part_end = end;
        return 1;
    }
    return 0;
}

static const char *path_of(const module_search *module)
{
    return module->path[0] != '\0' ? module->path : "/proc/self/exe";
}

/* Without debugging information and symbol table: a function that the module exports, or else the distance from the
 * kernel's first instruction, which a disassembler shows. */
static void name_function(uintptr_t at, const module_search *module, bool in_kernel, char *name, size_t room)
{
    Dl_info exported;
    if (dladdr((void *)at, &exported) != 0 && exported.dli_sname != NULL) {
        snprintf(name, room, "%s+0x%zx", exported.dli_sname, (size_t)(at - (uintptr_t)exported.dli_saddr));
        return;
    }
    uintptr_t kernel = td_emu_now != NULL ? (uintptr_t)td_emu_now->code : 0;
    bool same_module = in_kernel && kernel >= module->part && kernel < module->part_end;
    if (same_module && at >= kernel) snprintf(name, room, "%s+0x%zx", td_emu_now->kernel, (size_t)(at - kernel));
    else if (same_module) snprintf(name, room, "%s-0x%zx", td_emu_now->kernel, (size_t)(kernel - at));
    else snprintf(name, room, "%s+0x%zx", path_of(module), (size_t)(at - module->base));
}

/* `code` is the return address of a call: the call itself stands before it. */
static td_site find_line(const void *code, bool in_kernel, char *name, size_t room)
{
    uintptr_t at = (uintptr_t)code - 1;
    module_search module = {.begin = at, .end = at};
    int line = 0;
    if (dl_iterate_phdr(look_in_module, &module) == 0)
        snprintf(name, room, "unknown code");
    else if (!td_debug_line(path_of(&module), module.base, at, name, room, &line))
        name_function(at, &module, in_kernel, name, room);
    return (td_site){name, line};
}

td_site td_code_line(const void *code, char *name, size_t room) { return find_line(code, true, name, room); }

td_site td_host_line(const void *code, char *name, size_t room) { return find_line(code, false, name, room); }

const char *td_site_words(td_site site, char words[TD_SITE_WORDS])
{
    if (site.line > 0) snprintf(words, TD_SITE_WORDS, "%s:%d", td_emu_file(site.file), site.line);
    else snprintf(words, TD_SITE_WORDS, "%s", td_emu_file(site.file));
    return words;
}

/* Most constants are adjacent: the last segment found is tried first. */
bool td_code_constant(uintptr_t at, uint64_t bytes)
{
    static module_search last;
    if (at >= last.part && bytes <= last.part_end - last.part && at - last.part <= last.part_end - last.part - bytes)
        return true;
    module_search search = {.begin = at, .end = at + bytes, .constants = true};
    if (dl_iterate_phdr(look_in_module, &search) == 0) return false;
    last = search;
    return true;
}
