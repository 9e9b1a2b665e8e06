#include "device/emulator/code_line.h"

#include "device/emulator/debug_lines.h"

#include <link.h>
#include <stdio.h>

/* What is looked for in the modules of the process, and the one that has it. */
typedef struct module_search {
    uintptr_t begin, end;
    bool constants;         /* among what cannot be written */
    const char *path;       /* "": the program itself */
    uintptr_t base;
    uintptr_t part, part_end;
} module_search;

/* Constants are in segments that cannot be written and in those that the loader writes once. */
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

/* The address is where a call returns to: the call stands before it. */
td_site td_code_line(const void *code, char *name, size_t room)
{
    uintptr_t at = (uintptr_t)code - 1;
    module_search search = {.begin = at, .end = at};
    int line = 0;
    if (dl_iterate_phdr(look_in_module, &search) == 0) {
        snprintf(name, room, "unknown code");
        return (td_site){name, 0};
    }
    const char *path = search.path[0] != '\0' ? search.path : "/proc/self/exe";
    if (!td_debug_line(path, at - search.base, name, room, &line))
        snprintf(name, room, "%s+0x%zx", path, (size_t)(at - search.base));
    return (td_site){name, line};
}

/* Most constants lie together: the last part found is asked first. */
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
