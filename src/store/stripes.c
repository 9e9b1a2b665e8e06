/* Stripes: the targets and weights of a packed graph spread over one file per
 * directory, by a hash (Garaph, section "secondary storage"). The sections are
 * divided into units of 1 MiB, numbered through all of them. N consecutive units are
 * a group; a permutation drawn from the group's number assigns each unit of a group
 * to another stripe. The place of a unit in its stripe is the group's number. So the
 * stripes are equally long, and scans and other access patterns keep all of them
 * busy. */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/random.h"
#include "store/packed_file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED UINT64_C(0x7374726970657321)

static bool is_striped(const td_packed_info *info, td_section_kind kind)
{
    return info->stripes > 0 && (kind == TD_SECTION_OUT_TARGETS || kind == TD_SECTION_OUT_WEIGHTS ||
                                 kind == TD_SECTION_IN_TARGETS || kind == TD_SECTION_IN_WEIGHTS);
}

static uint64_t units_before(const td_packed_info *info, td_section_kind kind)
{
    uint64_t units = 0;
    for (td_section_kind k = 0; k < kind; k++)
        if (is_striped(info, k)) units += (info->sections[k].bytes + TD_STRIPE_UNIT - 1) / TD_STRIPE_UNIT;
    return units;
}

/* The permutation by Fisher and Yates; 16! orders are few enough for one random number. */
static uint32_t stripe_of(uint32_t stripes, uint64_t unit)
{
    uint8_t order[TD_MOST_STRIPES];
    uint64_t random = td_random_at(SEED, unit / stripes);
    for (uint32_t i = 0; i < stripes; i++) order[i] = (uint8_t)i;
    for (uint32_t i = stripes; i > 1; i--) {
        uint64_t j = random % i;
        random /= i;
        uint8_t kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
    return order[unit % stripes];
}

/* The .tg itself has the sections that are not striped, one after another. */
static uint64_t main_offset(const td_packed_info *info, td_section_kind kind)
{
    uint64_t offset = TD_PACKED_ALIGN;
    for (td_section_kind k = 0; k < kind; k++)
        if (!is_striped(info, k)) offset += td_packed_padded(info->sections[k].bytes);
    return offset;
}

td_packed_spot td_packed_locate(const td_packed_info *info, td_section_kind kind, uint64_t offset)
{
    uint64_t left = td_packed_padded(info->sections[kind].bytes) - offset;
    if (!is_striped(info, kind)) return (td_packed_spot){0, main_offset(info, kind) + offset, left};
    uint64_t unit = units_before(info, kind) + offset / TD_STRIPE_UNIT, inside = offset % TD_STRIPE_UNIT;
    uint64_t rest = TD_STRIPE_UNIT - inside;
    return (td_packed_spot){
        .file = 1 + stripe_of(info->stripes, unit),
        .offset = TD_PACKED_ALIGN + unit / info->stripes * TD_STRIPE_UNIT + inside,
        .bytes = left < rest ? left : rest,
    };
}

uint64_t td_packed_main_bytes(const td_packed_info *info) { return main_offset(info, TD_SECTIONS); }

uint64_t td_stripe_bytes(const td_packed_info *info)
{
    uint64_t units = units_before(info, TD_SECTIONS);
    return TD_PACKED_ALIGN + (units + info->stripes - 1) / info->stripes * TD_STRIPE_UNIT;
}

/* A name that is not absolute is relative to the directory that holds the .tg itself, links resolved. */
static td_status full_name(char full[PATH_MAX], const td_packed *packed, const char *name)
{
    char folder[PATH_MAX] = "";
    if (name[0] != '/') {
        if (realpath(packed->path, folder) == NULL)
            return td_fail(TD_IO, "cannot find the directory of %s", packed->path);
        strrchr(folder, '/')[1] = '\0';
    }
    if (snprintf(full, PATH_MAX, "%s%s", folder, name) >= PATH_MAX)
        return td_fail(TD_IO, "the name of a stripe of %s is too long: %s%s", packed->path, folder, name);
    return TD_OK;
}

static td_status check_stripe(const td_packed *packed, uint32_t number, uint64_t bytes)
{
    const td_packed_file *file = &packed->files[number];
    const td_packed_info *info = &packed->info;
    td_stripe_header header;
    uint64_t got = 0, wanted = td_stripe_bytes(info);
    TD_CHECK(td_packed_file_read(file, 0, &header, sizeof header, &got));
    if (got < sizeof header)
        return td_fail(TD_CORRUPT, "%s, stripe %" PRIu32 " of %s, is truncated: %" PRIu64 " bytes of %" PRIu64,
                       file->path, number, packed->path, bytes, wanted);
    if (memcmp(header.magic, TD_STRIPE_MAGIC, sizeof header.magic) != 0)
        return td_fail(TD_FORMAT, "%s is not stripe %" PRIu32 " of %s: it does not start with \"%s\"", file->path,
                       number, packed->path, TD_STRIPE_MAGIC);
    if (header.header_hash != td_hash64(&header, offsetof(td_stripe_header, header_hash)))
        return td_fail(TD_CORRUPT, "%s: its header (bytes 0 to %zu) is damaged: the checksum does not fit", file->path,
                       sizeof header - 1);
    if (header.version > TD_STRIPE_VERSION)
        return td_fail(TD_FORMAT, "%s was written by a newer Tandem: version %" PRIu32 ", this one reads up to %u",
                       file->path, header.version, TD_STRIPE_VERSION);
    if (header.build_id != info->build_id || header.number != number || header.stripes != info->stripes ||
        header.stripe_unit != TD_STRIPE_UNIT)
        return td_fail(TD_CORRUPT, "%s is stripe %" PRIu32 " of %" PRIu32 " of build %016" PRIx64 "; %s needs stripe %"
                       PRIu32 " of %" PRIu32 " of build %016" PRIx64 ": convert the graph again", file->path,
                       header.number, header.stripes, header.build_id, packed->path, number, info->stripes,
                       info->build_id);
    if (bytes != wanted)
        return td_fail(TD_CORRUPT, "%s, stripe %" PRIu32 " of %s, %s: %" PRIu64 " bytes, not %" PRIu64, file->path,
                       number, packed->path, bytes < wanted ? "is truncated" : "is too long", bytes, wanted);
    return TD_OK;
}

td_status td_stripes_open(td_packed *packed, const td_disk_header *header)
{
    const char *name = header->stripe_names, *end = name + sizeof header->stripe_names;
    for (uint32_t number = 1; number <= packed->info.stripes; number++) {
        char full[PATH_MAX];
        uint64_t bytes = 0;
        size_t length = strnlen(name, (size_t)(end - name));
        if (length == 0 || name + length == end)
            return td_fail(TD_CORRUPT, "%s: its header does not name stripe %" PRIu32, packed->path, number);
        TD_CHECK(full_name(full, packed, name));
        td_status status = td_packed_file_open(&packed->files[number], full, &bytes);
        if (status != TD_OK)
            return td_fail_context(status, "stripe %" PRIu32 " of %" PRIu32 " of %s", number, packed->info.stripes,
                                   packed->path);
        TD_CHECK(check_stripe(packed, number, bytes));
        name += length + 1;
    }
    return TD_OK;
}
