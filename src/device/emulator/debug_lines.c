#include "device/emulator/debug_lines.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct bytes {
    const uint8_t *at, *end;
} bytes; /* at > end never; reading past the end gives zeros and stays there */

typedef struct program_file {
    bytes all, lines, line_strings, strings;
} program_file;

/* The numbers of DWARF (version 5, section 6.2 and 7.5) that matter here. */
enum { FORM_DATA2 = 0x05, FORM_STRING = 0x08, FORM_BLOCK = 0x09, FORM_DATA1 = 0x0b, FORM_STRP = 0x0e, FORM_UDATA = 0x0f,
       FORM_DATA16 = 0x1e, FORM_LINE_STRP = 0x1f };
enum { CONTENT_PATH = 1 };
enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, NEGATE_STATEMENT, SET_BASIC_BLOCK, CONST_ADD_PC,
       FIXED_ADVANCE_PC };
enum { END_SEQUENCE = 1, SET_ADDRESS = 2 };

static uint64_t left(const bytes *in) { return (uint64_t)(in->end - in->at); }

static bytes take(bytes *in, uint64_t count)
{
    if (count > left(in)) count = left(in);
    bytes taken = {in->at, in->at + count};
    in->at += count;
    return taken;
}

static uint64_t number(bytes *in, int size)
{
    uint64_t value = 0;
    bytes taken = take(in, (uint64_t)size);
    memcpy(&value, taken.at, left(&taken)); /* of this machine, so in its order */
    return value;
}

static uint64_t uleb(bytes *in)
{
    uint64_t value = 0;
    for (int shift = 0; in->at < in->end; shift += 7) {
        uint8_t byte = *in->at++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) break;
    }
    return value;
}

static int64_t sleb(bytes *in)
{
    uint64_t value = 0;
    int shift = 0;
    uint8_t byte = 0x80;
    while (in->at < in->end && (byte & 0x80) != 0) {
        byte = *in->at++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    }
    if (shift < 64 && (byte & 0x40) != 0) value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

/* Text up to its zero; "" where it does not end. */
static const char *text(bytes *in)
{
    const char *begin = (const char *)in->at;
    const uint8_t *end = memchr(in->at, 0, left(in));
    if (end == NULL) {
        in->at = in->end;
        return "";
    }
    in->at = end + 1;
    return begin;
}

static const char *text_at(bytes section, uint64_t offset)
{
    take(&section, offset);
    return text(&section);
}

typedef struct unit {
    int version, offset_size;
    uint8_t least_step, line_range, opcode_base;
    int8_t line_base;
    uint8_t operands[256];
    bytes tables, program; /* of folders and files; of opcodes */
} unit;

static unit read_unit(bytes *in)
{
    unit u = {.offset_size = 4};
    uint64_t length = number(in, 4);
    if (length == UINT32_MAX) {
        u.offset_size = 8;
        length = number(in, 8);
    }
    bytes body = take(in, length);
    u.version = (int)number(&body, 2);
    if (u.version >= 5) take(&body, 2); /* sizes of addresses and segments */
    uint64_t header = number(&body, u.offset_size);
    u.program = body;
    take(&u.program, header);
    u.least_step = (uint8_t)number(&body, 1);
    if (u.version >= 4) take(&body, 1); /* operations of an instruction */
    take(&body, 1);
    u.line_base = (int8_t)number(&body, 1);
    u.line_range = (uint8_t)number(&body, 1);
    u.opcode_base = (uint8_t)number(&body, 1);
    for (int i = 1; i < u.opcode_base; i++) u.operands[i] = (uint8_t)number(&body, 1);
    u.tables = body;
    return u;
}

static const char *read_form(bytes *in, uint64_t form, const unit *u, const program_file *file)
{
    switch (form) {
    case FORM_STRING: return text(in);
    case FORM_LINE_STRP: return text_at(file->line_strings, number(in, u->offset_size));
    case FORM_STRP: return text_at(file->strings, number(in, u->offset_size));
    case FORM_UDATA: uleb(in); break;
    case FORM_DATA1: take(in, 1); break;
    case FORM_DATA2: take(in, 2); break;
    case FORM_DATA16: take(in, 16); break;
    case FORM_BLOCK: take(in, uleb(in)); break;
    default: in->at = in->end; break;
    }
    return "";
}

/* One of the two tables of version 5; gives the path of its entry `wanted`. */
static const char *read_table(bytes *in, uint64_t wanted, const unit *u, const program_file *file)
{
    const char *path = "";
    uint64_t fields = number(in, 1);
    bytes form = *in;
    for (uint64_t i = 0; i < fields * 2; i++) uleb(in);
    uint64_t entries = uleb(in);
    for (uint64_t entry = 0; entry < entries && left(in) > 0; entry++) {
        bytes fields_form = form;
        for (uint64_t i = 0; i < fields; i++) {
            uint64_t content = uleb(&fields_form);
            const char *value = read_form(in, uleb(&fields_form), u, file);
            if (content == CONTENT_PATH && entry == wanted) path = value;
        }
    }
    return path;
}

static const char *file_name(const unit *u, uint64_t wanted, const program_file *file)
{
    bytes in = u->tables;
    if (u->version >= 5) {
        read_table(&in, UINT64_MAX, u, file); /* folders */
        return read_table(&in, wanted, u, file);
    }
    while (left(&in) > 0 && *text(&in) != '\0') {}
    for (uint64_t i = 1; left(&in) > 0; i++) {
        const char *path = text(&in);
        if (*path == '\0' || i == wanted) return path;
        for (int k = 0; k < 3; k++) uleb(&in);
    }
    return "";
}

typedef struct row {
    uint64_t address, file;
    int64_t line;
} row;

typedef struct line_machine {
    row now, before;
    bool has_before; /* a row of the same sequence came before */
} line_machine;

/* A row ends the stretch of the one before it; says whether that has the address. */
static bool emit(line_machine *machine, uint64_t address)
{
    bool found = machine->has_before && machine->before.address <= address && address < machine->now.address;
    if (found) return true;
    machine->before = machine->now;
    machine->has_before = true;
    return false;
}

static bool extended(line_machine *machine, bytes *in, uint64_t address)
{
    bytes body = take(in, uleb(in));
    uint64_t opcode = number(&body, 1);
    if (opcode == SET_ADDRESS) machine->now.address = number(&body, (int)(left(&body) < 8 ? left(&body) : 8));
    if (opcode != END_SEQUENCE) return false;
    if (emit(machine, address)) return true;
    *machine = (line_machine){.now = {.file = 1, .line = 1}};
    return false;
}

static bool standard(line_machine *machine, const unit *u, uint8_t opcode, bytes *in, uint64_t address)
{
    switch (opcode) {
    case COPY: return emit(machine, address);
    case ADVANCE_PC: machine->now.address += uleb(in) * u->least_step; break;
    case ADVANCE_LINE: machine->now.line += sleb(in); break;
    case SET_FILE: machine->now.file = uleb(in); break;
    case CONST_ADD_PC:
        machine->now.address += (uint64_t)((255 - u->opcode_base) / u->line_range) * u->least_step;
        break;
    case FIXED_ADVANCE_PC: machine->now.address += number(in, 2); break;
    default:
        for (int i = 0; i < u->operands[opcode]; i++) uleb(in);
        break;
    }
    return false;
}

static bool search_unit(const unit *u, uint64_t address, row *out)
{
    line_machine machine = {.now = {.file = 1, .line = 1}};
    bytes in = u->program;
    if (u->version < 2 || u->version > 5 || u->line_range == 0) return false;
    while (left(&in) > 0) {
        uint8_t opcode = (uint8_t)number(&in, 1);
        bool found;
        if (opcode == 0) {
            found = extended(&machine, &in, address);
        } else if (opcode < u->opcode_base) {
            found = standard(&machine, u, opcode, &in, address);
        } else {
            int special = opcode - u->opcode_base;
            machine.now.address += (uint64_t)(special / u->line_range) * u->least_step;
            machine.now.line += u->line_base + special % u->line_range;
            found = emit(&machine, address);
        }
        *out = machine.before;
        if (found) return true;
    }
    return false;
}

static bytes section_named(bytes all, const char *name)
{
    Elf64_Ehdr header;
    Elf64_Shdr names, section;
    bytes none = {all.at, all.at}, in = all;
    if (left(&all) < sizeof header) return none;
    memcpy(&header, all.at, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return none;
    take(&in, header.e_shoff);
    if (header.e_shentsize != sizeof section || left(&in) / sizeof section < header.e_shnum ||
        header.e_shstrndx >= header.e_shnum)
        return none;
    memcpy(&names, in.at + header.e_shstrndx * sizeof names, sizeof names);
    for (int i = 0; i < header.e_shnum; i++) {
        memcpy(&section, in.at + (size_t)i * sizeof section, sizeof section);
        bool usable = section.sh_type != SHT_NOBITS && (section.sh_flags & SHF_COMPRESSED) == 0;
        bytes content = all;
        if (!usable || strcmp(text_at(all, names.sh_offset + section.sh_name), name) != 0) continue;
        take(&content, section.sh_offset);
        return take(&content, section.sh_size);
    }
    return none;
}

static bool map_file(const char *path, program_file *out)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    void *all = MAP_FAILED;
    if (fstat(file, &about) == 0 && about.st_size > 0)
        all = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (all == MAP_FAILED) return false;
    out->all = (bytes){all, (uint8_t *)all + about.st_size};
    out->lines = section_named(out->all, ".debug_line");
    out->line_strings = section_named(out->all, ".debug_line_str");
    out->strings = section_named(out->all, ".debug_str");
    return true;
}

static void copy_name(const char *path, char *name, size_t room)
{
    const char *slash = strrchr(path, '/');
    snprintf(name, room, "%s", slash != NULL ? slash + 1 : path);
}

bool td_debug_line(const char *path, uint64_t address, char *name, size_t room, int *line)
{
    program_file file;
    row place;
    bool found = false;
    if (!map_file(path, &file)) return false;
    for (bytes in = file.lines; left(&in) > 0 && !found;) {
        unit u = read_unit(&in);
        found = search_unit(&u, address, &place);
        if (found) copy_name(file_name(&u, place.file, &file), name, room);
        if (found) *line = (int)place.line;
    }
    munmap((void *)(uintptr_t)file.all.at, left(&file.all));
    return found;
}
