#include "device/emulator/code_line.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

td_site td_code_line(const void *code, char *name, size_t room)
{
    Dl_info found;
    if (dladdr(code, &found) == 0 || found.dli_fname == NULL) snprintf(name, room, "unknown code");
    else snprintf(name, room, "%s+0x%zx", found.dli_fname, (size_t)((const char *)code - (const char *)found.dli_fbase));
    return (td_site){name, 0};
}

typedef struct constant_search {
    uintptr_t begin, end;
} constant_search;

/* Segments that cannot be written, and those that the loader writes once. */
static int look_in_module(struct dl_phdr_info *module, size_t bytes, void *context)
{
    (void)bytes;
    const constant_search *search = context;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        bool constant = (part->p_type == PT_LOAD && (part->p_flags & PF_W) == 0) || part->p_type == PT_GNU_RELRO;
        uintptr_t begin = module->dlpi_addr + part->p_vaddr;
        if (constant && search->begin >= begin && search->end <= begin + part->p_memsz) return 1;
    }
    return 0;
}

bool td_code_constant(uintptr_t at, uint64_t bytes)
{
    constant_search search = {at, at + bytes};
    return dl_iterate_phdr(look_in_module, &search) != 0;
}
