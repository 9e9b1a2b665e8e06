#include "sources.h"

#include "base/alloc.h"
#include "base/size.h"
#include "base/status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char DRAWN[] = "random:";

enum { MOST_DRAWN = 1 << 30 };

static td_status read_drawn(td_sources *self)
{
    const char *number = self->given + strlen(DRAWN);
    if (td_parse_u64(number, &self->count) != TD_OK) return td_fail_context(TD_USAGE, "--sources %s", self->given);
    if (self->count == 0 || self->count > MOST_DRAWN)
        return td_fail(TD_USAGE, "--sources %s: random:1 to random:%d is allowed", self->given, MOST_DRAWN);
    return TD_OK;
}

static td_status read_all(td_sources *self, FILE *file)
{
    uint64_t room = 0, used = 0;
    for (;;) {
        if (used + 1 >= room) {
            room = room == 0 ? 4096 : room * 2;
            TD_CHECK(TD_RESIZE(&self->text, room, "sources"));
        }
        size_t got = fread(self->text + used, 1, room - used - 1, file);
        used += got;
        if (got == 0) break;
    }
    if (ferror(file)) return td_fail(TD_IO, "%s: %s", self->path, strerror(errno));
    if (memchr(self->text, '\0', used) != NULL)
        return td_fail(TD_FORMAT, "%s: it holds zero bytes: a text with a vertex per line is expected", self->path);
    self->text[used] = '\0';
    return TD_OK;
}

static td_status read_file(td_sources *self)
{
    struct stat facts;
    FILE *file = fopen(self->path, "r");
    if (file == NULL)
        return td_fail(errno == ENOENT ? TD_NOT_FOUND : TD_IO,
                       "--sources %s: %s; one vertex is given by --source, several with commas: 17,4", self->path,
                       strerror(errno));
    td_status status = fstat(fileno(file), &facts) == 0 && S_ISDIR(facts.st_mode)
                           ? td_fail(TD_IO, "--sources %s: it is a folder", self->path)
                           : read_all(self, file);
    (void)fclose(file);
    return status;
}

static td_status put_word(td_sources *self, uint64_t *room, const char *word, uint64_t line)
{
    if (self->count == *room) {
        *room = *room == 0 ? 256 : *room * 2;
        TD_CHECK(TD_RESIZE(&self->words, *room, "sources"));
        TD_CHECK(TD_RESIZE(&self->lines, *room, "sources"));
    }
    self->words[self->count] = word;
    self->lines[self->count++] = line;
    return TD_OK;
}

/* Cuts off blanks at both ends. */
static char *trim(char *word)
{
    word += strspn(word, " \t\r");
    size_t length = strlen(word);
    while (length > 0 && strchr(" \t\r", word[length - 1]) != NULL) word[--length] = '\0';
    return word;
}

/* A word per line of a file, but for empty ones and comments, or between commas. */
static td_status cut(td_sources *self, char separator)
{
    uint64_t room = 0, line = 1;
    for (char *at = self->text; at != NULL; line++) {
        char *next = strchr(at, separator), *word;
        if (next != NULL) *next++ = '\0';
        word = trim(at);
        at = next;
        bool skipped = separator == '\n' && (word[0] == '\0' || word[0] == '#' || word[0] == '%');
        if (!skipped && word[0] == '\0')
            return td_fail(TD_USAGE, "--sources %s: vertex %" PRIu64 " is missing", self->given, line);
        if (!skipped) TD_CHECK(put_word(self, &room, word, line));
    }
    return self->count > 0 ? TD_OK : td_fail(TD_FORMAT, "--sources %s: there is no vertex in it", self->given);
}

td_status td_sources_read(td_sources *self, const char *given, uint64_t seed)
{
    bool drawn = strncmp(given, DRAWN, strlen(DRAWN)) == 0, list = strchr(given, ',') != NULL;
    self->given = given;
    self->seed = seed;
    if (drawn) {
        TD_CHECK(read_drawn(self));
    } else if (list) {
        if (access(given, F_OK) == 0)
            return td_fail(TD_USAGE, "--sources %s: that is a list of vertices and the name of a file, which is ./%s",
                           given, given);
        TD_CHECK(TD_NEW(&self->text, strlen(given) + 1, "sources"));
        memcpy(self->text, given, strlen(given) + 1);
        TD_CHECK(cut(self, ','));
    } else {
        self->path = given;
        TD_CHECK(read_file(self));
        TD_CHECK(cut(self, '\n'));
    }
    return TD_NEW_ZEROED(&self->ids, self->count, "sources");
}

static td_status find(const td_graph *graph, const char *word, uint64_t *id)
{
    uint32_t vertex;
    if (td_graph_has_names(graph)) {
        TD_CHECK(td_graph_find_name(graph, word, &vertex));
    } else {
        TD_CHECK(td_parse_u64(word, id));
        TD_CHECK(td_graph_find(graph, *id, &vertex));
    }
    *id = td_graph_vertex_id(graph, vertex);
    return TD_OK;
}

td_status td_sources_find(td_sources *self, td_session *session, const td_graph *graph)
{
    if (self->text == NULL) {
        td_status status = td_graph_draw(session, graph, self->count, self->seed, self->ids);
        return status == TD_OK ? TD_OK : td_fail_context(status, "--sources %s", self->given);
    }
    for (uint64_t i = 0; i < self->count; i++) {
        if (find(graph, self->words[i], &self->ids[i]) == TD_OK) continue;
        if (self->path == NULL) return td_fail_context(TD_USAGE, "--sources");
        return td_fail_context(TD_USAGE, "--sources %s:%" PRIu64, self->path, self->lines[i]);
    }
    return TD_OK;
}

void td_sources_free(td_sources *self)
{
    td_free(self->text);
    td_free(self->words);
    td_free(self->lines);
    td_free(self->ids);
    *self = (td_sources){0};
}
