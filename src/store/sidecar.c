/* Files of prepared layouts: where they are, and how they are written, read, listed and removed. */
#include "store/sidecar_piece.h"

#include "base/alloc.h"
#include "base/data_files.h"
#include "base/hash.h"
#include "base/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MAGIC "TandemLY"
#define BYTE_ORDER_MARK UINT32_C(0x01020304)

enum { ALIGN = 4096, BLOCK = TD_SIDECAR_BLOCK };

typedef struct disk_part {
    char name[TD_SIDECAR_SECTION];
    uint64_t offset, bytes;
} disk_part;

typedef struct disk_header {
    char magic[8];
    uint32_t byte_order, version;
    uint64_t file_bytes, build_id;
    uint64_t sums_offset, sums_hash; /* the checksums of all blocks, and theirs */
    char layout[TD_SIDECAR_NAME];
    char key[TD_SIDECAR_KEY];
    uint32_t parts, zero;
    disk_part part[TD_SIDECAR_SECTIONS];
    uint8_t zeros[ALIGN - 48 - TD_SIDECAR_NAME - TD_SIDECAR_KEY - 8 - TD_SIDECAR_SECTIONS * sizeof(disk_part) - 8];
    uint64_t hash; /* of all before it */
} disk_header;

_Static_assert(sizeof(disk_header) == ALIGN, "the header fills one aligned block");

struct td_sidecar {
    int fd;
    char path[TD_SIDECAR_PATH];
    disk_header header;
    uint64_t *sums;
};

/* Places. */

static td_status check_name(const char *layout)
{
    size_t length = strlen(layout);
    bool fine = length > 0 && length < TD_SIDECAR_NAME;
    for (size_t i = 0; i < length && fine; i++)
        fine = (layout[i] >= 'a' && layout[i] <= 'z') || (layout[i] >= '0' && layout[i] <= '9') || layout[i] == '-';
    return fine ? TD_OK : td_fail(TD_USAGE, "'%s' is no name of a layout", layout);
}

static td_status beside(char path[TD_SIDECAR_PATH], const td_sidecar_id *id)
{
    int length = snprintf(path, TD_SIDECAR_PATH, "%s.%s", id->graph, id->layout);
    return length < TD_SIDECAR_PATH ? TD_OK : td_fail(TD_LIMIT, "the path %s is too long", id->graph);
}

static bool in_cache(char path[TD_SIDECAR_PATH], const td_sidecar_id *id)
{
    char folder[TD_SIDECAR_PATH];
    return td_data_cache(folder) &&
           snprintf(path, TD_SIDECAR_PATH, "%s/%016" PRIx64 ".%s", folder, id->build_id, id->layout) < TD_SIDECAR_PATH;
}

static void split_path(const char *path, char folder[TD_SIDECAR_PATH], const char **name)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) snprintf(folder, TD_SIDECAR_PATH, ".");
    else snprintf(folder, TD_SIDECAR_PATH, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    *name = slash == NULL ? path : slash + 1;
}

static bool can_write(const char *path)
{
    char folder[TD_SIDECAR_PATH];
    const char *name;
    split_path(path, folder, &name);
    return access(folder, W_OK) == 0;
}

bool td_sidecar_has_room(const char *graph, uint64_t bytes)
{
    char folder[TD_SIDECAR_PATH];
    const char *name;
    struct statvfs facts;
    split_path(graph, folder, &name);
    return can_write(graph) && statvfs(folder, &facts) == 0 && facts.f_bavail / 2 > bytes / facts.f_frsize;
}

/* Makes the folder of a path, and the folder of that. */
static td_status make_folder(const char *path)
{
    char folder[TD_SIDECAR_PATH], above[TD_SIDECAR_PATH];
    const char *name;
    split_path(path, folder, &name);
    split_path(folder, above, &name);
    mkdir(above, 0777);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return td_fail_errno(TD_IO, errno, "cannot make the cache folder %s", folder);
    return TD_OK;
}

static td_status choose_place(char path[TD_SIDECAR_PATH], const td_sidecar_id *id)
{
    TD_CHECK(beside(path, id));
    if (can_write(path)) return TD_OK;
    if (!in_cache(path, id))
        return td_fail(TD_IO, "the folder of %s cannot be written, and no cache folder is known: set XDG_CACHE_HOME or "
                       "HOME", id->graph);
    return make_folder(path);
}

/* Sections and blocks. */

static uint64_t padded(uint64_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

static uint64_t blocks_of(uint64_t bytes) { return (bytes + BLOCK - 1) / BLOCK; }

/* The number of a section's first block, counted through the file. */
static uint64_t first_block(const disk_header *header, uint32_t part)
{
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < part; i++) blocks += blocks_of(header->part[i].bytes);
    return blocks;
}

static uint64_t header_hash(const disk_header *header) { return td_hash64(header, offsetof(disk_header, hash)); }

static td_status plan_file(disk_header *header, const td_sidecar_id *id, const char *key, const td_sidecar_part *parts,
                           int count)
{
    uint64_t offset = sizeof *header;
    memcpy(header->magic, MAGIC, sizeof header->magic);
    header->byte_order = BYTE_ORDER_MARK;
    header->version = TD_SIDECAR_VERSION;
    header->build_id = id->build_id;
    if (count > TD_SIDECAR_SECTIONS || strlen(key) >= TD_SIDECAR_KEY)
        return td_fail(TD_INTERNAL, "layout %s has too many sections or too long a key", id->layout);
    snprintf(header->layout, sizeof header->layout, "%s", id->layout);
    snprintf(header->key, sizeof header->key, "%s", key);
    header->parts = (uint32_t)count;
    for (int i = 0; i < count; i++) {
        snprintf(header->part[i].name, TD_SIDECAR_SECTION, "%s", parts[i].name);
        header->part[i].offset = offset;
        header->part[i].bytes = parts[i].bytes;
        offset += padded(parts[i].bytes);
    }
    header->sums_offset = offset;
    header->file_bytes = offset + 8 * first_block(header, header->parts);
    return TD_OK;
}

/* Writing. */

typedef struct writing {
    td_outfile *file;
    const disk_part *part;
    const char *data;
    uint64_t *sums;
} writing;

static td_status write_blocks(void *context, uint64_t begin, uint64_t end, int worker)
{
    (void)worker;
    const writing *self = context;
    for (uint64_t block = begin; block < end; block++) {
        uint64_t at = block * BLOCK, bytes = self->part->bytes - at;
        if (bytes > BLOCK) bytes = BLOCK;
        self->sums[block] = td_hash64(self->data + at, bytes);
        TD_CHECK(td_outfile_write_at(self->file, self->part->offset + at, self->data + at, bytes));
    }
    return TD_OK;
}

static td_status write_parts(td_outfile *file, disk_header *header, const td_sidecar_part *parts, uint64_t *sums,
                             td_pool *pool)
{
    TD_CHECK(td_outfile_reserve(file, header->file_bytes));
    TD_CHECK(td_outfile_set_length(file, header->file_bytes));
    for (uint32_t i = 0; i < header->parts; i++) {
        writing self = {file, &header->part[i], parts[i].data, sums + first_block(header, i)};
        TD_CHECK(td_pool_for(pool, blocks_of(parts[i].bytes), 4, write_blocks, &self));
    }
    uint64_t bytes = 8 * first_block(header, header->parts);
    header->sums_hash = td_hash64(sums, bytes);
    header->hash = header_hash(header);
    if (bytes > 0) TD_CHECK(td_outfile_write_at(file, header->sums_offset, sums, bytes));
    return td_outfile_write_at(file, 0, header, sizeof *header);
}

td_status td_sidecar_write(const td_sidecar_id *id, const char *key, const td_sidecar_part *parts, int count,
                           char where[TD_SIDECAR_PATH], td_pool *pool)
{
    td_status status = TD_OK;
    td_outfile *file = NULL;
    uint64_t *sums = NULL;
    disk_header *header = NULL;
    TD_CHECK(check_name(id->layout));
    TD_TRY(choose_place(where, id));
    TD_TRY(TD_NEW_ZEROED(&header, 1, "header of a layout"));
    TD_TRY(plan_file(header, id, key, parts, count));
    TD_TRY(TD_NEW(&sums, first_block(header, header->parts), "checksums of a layout"));
    TD_TRY(td_outfile_create(&file, where, TD_OUT_BINARY));
    TD_TRY(write_parts(file, header, parts, sums, pool));
    TD_TRY(td_outfile_commit(file));
done:
    td_outfile_close(file);
    td_free(sums);
    td_free(header);
    return status;
}

/* Reading. */

static td_status read_at(const td_sidecar *self, void *into, uint64_t bytes, uint64_t offset)
{
    char *at = into;
    while (bytes > 0) {
        ssize_t got = pread(self->fd, at, bytes < (1u << 30) ? bytes : 1u << 30, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return td_fail_errno(TD_IO, errno, "cannot read %s at byte %" PRIu64, self->path, offset);
        if (got == 0) return td_fail(TD_CORRUPT, "%s ends at byte %" PRIu64 ", too early; prepare it again", self->path, offset);
        at += got;
        bytes -= (uint64_t)got;
        offset += (uint64_t)got;
    }
    return TD_OK;
}

static td_status check_parts(const td_sidecar *self)
{
    const disk_header *header = &self->header;
    uint64_t offset = sizeof *header;
    if (header->parts > TD_SIDECAR_SECTIONS) goto wrong;
    for (uint32_t i = 0; i < header->parts; i++) {
        const disk_part *part = &header->part[i];
        if (part->offset != offset || part->bytes > header->file_bytes - offset) goto wrong;
        if (memchr(part->name, 0, sizeof part->name) == NULL) goto wrong;
        offset += padded(part->bytes);
        if (offset > header->file_bytes) goto wrong;
    }
    if (header->sums_offset == offset && header->file_bytes == offset + 8 * first_block(header, header->parts)) return TD_OK;
wrong:
    return td_fail(TD_CORRUPT, "the table of sections of %s does not fit the file; prepare it again", self->path);
}

static td_status check_header(const td_sidecar *self, uint64_t length)
{
    const disk_header *header = &self->header;
    if (memcmp(header->magic, MAGIC, sizeof header->magic) != 0)
        return td_fail(TD_FORMAT, "%s is no prepared layout", self->path);
    if (header->byte_order != BYTE_ORDER_MARK || header->version != TD_SIDECAR_VERSION)
        return td_fail(TD_UNSUPPORTED, "%s has version %u of prepared layouts; this Tandem has %u. Prepare it again",
                       self->path, header->version, TD_SIDECAR_VERSION);
    if (header->hash != header_hash(header) || memchr(header->layout, 0, sizeof header->layout) == NULL ||
        memchr(header->key, 0, sizeof header->key) == NULL)
        return td_fail(TD_CORRUPT, "the header of %s is damaged; prepare it again", self->path);
    if (header->file_bytes != length)
        return td_fail(TD_CORRUPT, "%s has %" PRIu64 " bytes, not %" PRIu64 "; prepare it again", self->path, length,
                       header->file_bytes);
    return check_parts(self);
}

static td_status read_sums(td_sidecar *self)
{
    uint64_t count = first_block(&self->header, self->header.parts);
    TD_CHECK(TD_NEW(&self->sums, count, "checksums of a layout"));
    TD_CHECK(read_at(self, self->sums, 8 * count, self->header.sums_offset));
    if (td_hash64(self->sums, 8 * count) != self->header.sums_hash)
        return td_fail(TD_CORRUPT, "the checksums of %s are damaged; prepare it again", self->path);
    return TD_OK;
}

/* Opens a file and checks its header; TD_NOT_FOUND if there is none. */
static td_status open_file(td_sidecar **out, const char *path)
{
    td_status status = TD_OK;
    td_sidecar *self = NULL;
    struct stat facts;
    TD_CHECK(TD_NEW_ZEROED(&self, 1, "prepared layout"));
    snprintf(self->path, sizeof self->path, "%s", path);
    self->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe does not wait for its writer */
    if (self->fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        TD_TRY(td_fail(TD_NOT_FOUND, "there is no %s", path));
    } else if (self->fd < 0 || fstat(self->fd, &facts) != 0) {
        TD_TRY(td_fail_errno(TD_IO, errno, "cannot open %s", path));
    }
    if (!S_ISREG(facts.st_mode)) TD_TRY(td_fail(TD_FORMAT, "%s is no prepared layout", path));
    if (facts.st_size < (off_t)sizeof self->header) TD_TRY(td_fail(TD_CORRUPT, "%s has %" PRIu64 " bytes, too few for a "
                                                                   "prepared layout; prepare it again", path, (uint64_t)facts.st_size));
    TD_TRY(read_at(self, &self->header, sizeof self->header, 0));
    TD_TRY(check_header(self, (uint64_t)facts.st_size));
    *out = self;
    self = NULL;
done:
    td_sidecar_close(self);
    return status;
}

/* The file at `path`, if it was prepared from the graph as it is now. */
static td_status open_at(td_sidecar **out, const char *path, const td_sidecar_id *id)
{
    td_status status = TD_OK;
    td_sidecar *self = NULL;
    TD_TRY(open_file(&self, path));
    if (self->header.build_id != id->build_id || strcmp(self->header.layout, id->layout) != 0)
        TD_TRY(td_fail(TD_INVALID, "%s was prepared from another build of %s; prepare it again", self->path, id->graph));
    TD_TRY(read_sums(self));
    *out = self;
    self = NULL;
done:
    td_sidecar_close(self);
    return status;
}

/* A stale or damaged file beside the graph, which may lie on a disk that cannot be written, does not hide a good one in
 * the cache folder; without a good one the failure of the first is the answer. */
td_status td_sidecar_open(td_sidecar **out, const td_sidecar_id *id)
{
    char near[TD_SIDECAR_PATH], cached[TD_SIDECAR_PATH];
    TD_CHECK(check_name(id->layout));
    TD_CHECK(beside(near, id));
    td_status status = open_at(out, near, id);
    if (status == TD_OK || !in_cache(cached, id)) return status;
    if (open_at(out, cached, id) == TD_OK) return TD_OK;
    return open_at(out, status == TD_NOT_FOUND ? cached : near, id);
}

bool td_sidecar_has(const td_sidecar_id *id)
{
    td_sidecar *found = NULL;
    td_failure before;
    td_failure_keep(&before);
    td_status status = td_sidecar_open(&found, id);
    td_sidecar_close(found);
    td_failure_set(&before);
    return status == TD_OK;
}

void td_sidecar_close(td_sidecar *sidecar)
{
    if (sidecar == NULL) return;
    if (sidecar->fd >= 0) close(sidecar->fd);
    td_free(sidecar->sums);
    td_free(sidecar);
}

const char *td_sidecar_file(const td_sidecar *sidecar) { return sidecar->path; }
const char *td_sidecar_layout(const td_sidecar *sidecar) { return sidecar->header.layout; }
const char *td_sidecar_key(const td_sidecar *sidecar) { return sidecar->header.key; }
uint64_t td_sidecar_bytes(const td_sidecar *sidecar) { return sidecar->header.file_bytes; }

static td_status find_part(const td_sidecar *self, const char *name, uint32_t *out)
{
    for (uint32_t i = 0; i < self->header.parts; i++)
        if (strcmp(self->header.part[i].name, name) == 0) {
            *out = i;
            return TD_OK;
        }
    return td_fail(TD_CORRUPT, "%s has no section '%s'; prepare it again", self->path, name);
}

td_status td_sidecar_size(const td_sidecar *sidecar, const char *part, uint64_t *bytes)
{
    uint32_t number = 0;
    TD_CHECK(find_part(sidecar, part, &number));
    *bytes = sidecar->header.part[number].bytes;
    return TD_OK;
}

typedef struct reading {
    const td_sidecar *sidecar;
    const disk_part *part;
    const uint64_t *sums;
    char *into;   /* NULL: blocks are handed on and not kept */
    char *blocks; /* if so, a block for every worker */
    td_sidecar_check check;
    const void *context;
} reading;

static td_status read_blocks(void *context, uint64_t begin, uint64_t end, int worker)
{
    const reading *self = context;
    for (uint64_t block = begin; block < end; block++) {
        uint64_t at = block * BLOCK, bytes = self->part->bytes - at;
        if (bytes > BLOCK) bytes = BLOCK;
        char *into = self->into != NULL ? self->into + at : self->blocks + (uint64_t)worker * BLOCK;
        TD_CHECK(read_at(self->sidecar, into, bytes, self->part->offset + at));
        if (td_hash64(into, bytes) != self->sums[block])
            return td_fail(TD_CORRUPT, "block %" PRIu64 " of section '%s' of %s is damaged (checksum); prepare it again",
                           block, self->part->name, self->sidecar->path);
        td_status status = self->check != NULL ? self->check(self->context, at, into, bytes) : TD_OK;
        if (status != TD_OK) return td_fail_context(status, "%s", self->sidecar->path);
    }
    return TD_OK;
}

static td_status find_reading(reading *self, const char *part, uint64_t bytes)
{
    const td_sidecar *sidecar = self->sidecar;
    uint32_t number = 0;
    TD_CHECK(find_part(sidecar, part, &number));
    self->part = &sidecar->header.part[number];
    self->sums = sidecar->sums + first_block(&sidecar->header, number);
    if (self->part->bytes == bytes) return TD_OK;
    return td_fail(TD_CORRUPT, "section '%s' of %s has %" PRIu64 " bytes, not %" PRIu64 "; prepare it again", part,
                   sidecar->path, self->part->bytes, bytes);
}

td_status td_sidecar_read_checked(const td_sidecar *sidecar, const char *part, void *into, uint64_t bytes,
                                  td_sidecar_check check, const void *context, td_pool *pool)
{
    reading self = {.sidecar = sidecar, .into = into, .check = check, .context = context};
    TD_CHECK(find_reading(&self, part, bytes));
    return bytes == 0 ? TD_OK : td_pool_for(pool, blocks_of(bytes), 4, read_blocks, &self);
}

td_status td_sidecar_read_piece(const td_sidecar *sidecar, const char *part, uint64_t whole, uint64_t at, void *into,
                                uint64_t bytes, td_sidecar_check check, const void *context)
{
    reading self = {.sidecar = sidecar, .into = (char *)into - at, .check = check, .context = context};
    TD_CHECK(find_reading(&self, part, whole));
    return read_blocks(&self, at / BLOCK, blocks_of(at + bytes), 0);
}

td_status td_sidecar_read(const td_sidecar *sidecar, const char *part, void *into, uint64_t bytes, td_pool *pool)
{
    return td_sidecar_read_checked(sidecar, part, into, bytes, NULL, NULL, pool);
}

td_status td_sidecar_take(const td_sidecar *sidecar, const char *part, uint64_t bytes, td_sidecar_check take,
                          const void *context, td_pool *pool)
{
    reading self = {.sidecar = sidecar, .check = take, .context = context};
    TD_CHECK(find_reading(&self, part, bytes));
    TD_CHECK(TD_NEW(&self.blocks, (uint64_t)td_pool_threads(pool) * BLOCK, "blocks of a layout"));
    td_status status = td_pool_for(pool, blocks_of(bytes), 4, read_blocks, &self);
    td_free(self.blocks);
    return status;
}

/* Listing. */

/* Whether a file is a prepared layout, be it damaged. */
static bool is_layout(const char *path)
{
    char magic[8] = "";
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return false;
    bool found = pread(fd, magic, sizeof magic, 0) == sizeof magic && memcmp(magic, MAGIC, sizeof magic) == 0;
    close(fd);
    return found;
}

typedef struct listing {
    td_sidecar_entry *entries;
    int count, room;
    uint64_t build_id;
} listing;

static td_status add_entry(listing *list, const char *path, const char *layout)
{
    td_sidecar *found = NULL;
    td_status status = open_file(&found, path);
    struct stat facts;
    if (status == TD_NO_MEMORY) return status;
    if (!is_layout(path) || stat(path, &facts) != 0) {
        td_sidecar_close(found);
        return TD_OK;
    }
    if (list->count == list->room) {
        list->room = 2 * list->room + 8;
        status = TD_RESIZE(&list->entries, (uint64_t)list->room, "list of layouts");
        if (status != TD_OK) goto done;
    }
    td_sidecar_entry *entry = &list->entries[list->count++];
    *entry = (td_sidecar_entry){.bytes = (uint64_t)facts.st_size,
                                .matches = found != NULL && found->header.build_id == list->build_id};
    snprintf(entry->layout, sizeof entry->layout, "%s", layout);
    snprintf(entry->path, sizeof entry->path, "%s", path);
    snprintf(entry->key, sizeof entry->key, "%s", found != NULL ? found->header.key : "damaged");
    status = TD_OK;
done:
    td_sidecar_close(found);
    return status;
}

/* All files of a folder whose names begin with `prefix` and a dot; "." is left out of their paths, as it is where they are
 * written. */
static td_status list_folder(listing *list, const char *folder, const char *prefix)
{
    td_status status = TD_OK;
    DIR *directory = opendir(folder);
    size_t length = strlen(prefix);
    if (directory == NULL) return TD_OK;
    for (struct dirent *entry; status == TD_OK && (entry = readdir(directory)) != NULL;) {
        char path[2 * TD_SIDECAR_PATH];
        const char *layout = entry->d_name + length + 1;
        if (strncmp(entry->d_name, prefix, length) != 0 || entry->d_name[length] != '.') continue;
        if (strcmp(folder, ".") == 0) snprintf(path, sizeof path, "%s", entry->d_name);
        else snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strlen(path) >= TD_SIDECAR_PATH || check_name(layout) != TD_OK) continue;
        status = add_entry(list, path, layout);
    }
    closedir(directory);
    return status;
}

static int compare_entries(const void *a, const void *b)
{
    const td_sidecar_entry *one = a, *other = b;
    int order = strcmp(one->layout, other->layout);
    return order != 0 ? order : strcmp(one->path, other->path);
}

td_status td_sidecar_list(const char *graph, uint64_t build_id, td_sidecar_entry **out, int *count)
{
    td_status status = TD_OK;
    listing list = {.build_id = build_id};
    char folder[TD_SIDECAR_PATH], prefix[32];
    const char *name;
    split_path(graph, folder, &name);
    TD_TRY(list_folder(&list, folder, name));
    snprintf(prefix, sizeof prefix, "%016" PRIx64, build_id);
    if (td_data_cache(folder)) TD_TRY(list_folder(&list, folder, prefix));
    if (list.count > 1) qsort(list.entries, (size_t)list.count, sizeof *list.entries, compare_entries);
    *out = list.entries;
    *count = list.count;
    list.entries = NULL;
done:
    td_free(list.entries);
    return status;
}

static td_status remove_file(const char *path, int *removed)
{
    if (!is_layout(path)) return TD_OK;
    if (unlink(path) != 0) return td_fail_errno(TD_IO, errno, "cannot remove %s", path);
    ++*removed;
    return TD_OK;
}

td_status td_sidecar_remove(const td_sidecar_id *id, int *removed)
{
    char path[TD_SIDECAR_PATH];
    *removed = 0;
    TD_CHECK(check_name(id->layout));
    TD_CHECK(beside(path, id));
    TD_CHECK(remove_file(path, removed));
    return in_cache(path, id) ? remove_file(path, removed) : TD_OK;
}
