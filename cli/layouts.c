#include "layouts.h"

#include "info_paths.h"
#include "standard_input.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/size.h"

#include <stdio.h>
#include <string.h>

/* The words of a list in turn: a word without a layout's name is a program of the layout before it. */
typedef struct words {
    const char *list, *at;
    char layout[TD_LAYOUT_WORD]; /* of the word before */
    char name[2 * TD_LAYOUT_WORD]; /* "stream:sssp" or "stream" */
    bool all;                    /* of the layout's programs: no word names one */
} words;

static bool is_program(const char *text, size_t length)
{
    char name[TD_LAYOUT_WORD];
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    return length > 0 && length < sizeof name && td_program_summary(name) != NULL;
}

static td_status no_layout(const char *name)
{
    return td_fail(TD_USAGE, "there is no layout '%s' to prepare; there are: paths, stream, coop, multi", name);
}

/* The colon before a word's program, or NULL. Before it, "multi:metis:8" has two of its own. */
static char *colon_in(char *word)
{
    char *colon = strchr(word, ':');
    if (strncmp(word, "multi:", strlen("multi:")) != 0) return colon;
    char *number = strchr(colon + 1, ':');
    return number != NULL ? strchr(number + 1, ':') : NULL;
}

/* A layout by itself, "stream" or "multi:metis:8". */
static td_status check_layout(const char *layout)
{
    char name[TD_LAYOUT_WORD];
    const char *colon = strchr(layout, ':');
    snprintf(name, sizeof name, "%.*s", (int)strcspn(layout, ":"), layout);
    if (td_layout_summary(name) == NULL) return no_layout(layout);
    if (strcmp(name, "multi") != 0) return TD_OK;
    if (colon == NULL || strchr(colon + 1, ':') == NULL)
        return td_fail(TD_USAGE, "'%s' does not say how the graph is cut and for how many GPUs: write multi:metis:8 or "
                       "multi:random:8 for 8", layout);
    td_status status = td_partition_check(colon + 1);
    return status == TD_OK ? TD_OK : td_fail_context(status, "%s", layout);
}

static bool divides_by_program(const char *layout) { return strcmp(layout, "paths") != 0; }

/* *more is false at the end of the list. */
static td_status next_word(words *self, bool *more)
{
    *more = self->at != NULL;
    if (!*more) return TD_OK;
    size_t length = strcspn(self->at, ",");
    char word[TD_LAYOUT_WORD];
    if (length == 0 || length >= sizeof word) return td_fail(TD_USAGE, "'%s' is no list of layouts", self->list);
    snprintf(word, sizeof word, "%.*s", (int)length, self->at);
    const char *after = self->at + length;
    self->at = *after == ',' ? after + 1 : NULL;
    char *colon = colon_in(word);
    if (colon == NULL && is_program(word, length) && self->layout[0] != 0 && divides_by_program(self->layout)) {
        snprintf(self->name, sizeof self->name, "%s:%s", self->layout, word);
        self->all = false;
        return TD_OK;
    }
    snprintf(self->name, sizeof self->name, "%s", word);
    if (colon != NULL) *colon = 0;
    snprintf(self->layout, sizeof self->layout, "%s", word);
    TD_CHECK(check_layout(word));
    if (colon != NULL && !divides_by_program(word))
        return td_fail(TD_USAGE, "'%s': the layout %s is the same for all programs", self->name, word);
    if (colon != NULL && !is_program(colon + 1, strlen(colon + 1)))
        return td_fail(TD_USAGE, "'%s' names no program: a layout of %s is for one of them ('tandem help programs')",
                       self->name, word);
    self->all = colon == NULL && divides_by_program(word);
    return TD_OK;
}

td_status td_layouts_check(const char *list)
{
    words self = {.list = list, .at = list};
    for (bool more = true; more;) TD_CHECK(next_word(&self, &more));
    return TD_OK;
}

typedef struct making {
    td_session *session;
    td_graph *graph;
    const char *const *settings;
    td_layouts_made *made;
    bool found; /* some program reads the layout */
} making;

/* Programs share files: one that was reported already is not reported again. */
static bool is_known(const td_layouts_made *made)
{
    const td_prepared *last = made->of[made->count - 1];
    for (int i = 0; i < made->count - 1; i++)
        if (strcmp(made->of[i]->path, last->path) == 0) return true;
    return false;
}

static void say(const td_prepared *made)
{
    char bytes[TD_NUMBER_BYTES];
    if (made->made)
        td_info("%s: %s, made in %.3f s, written in %.3f s", td_shown_path(made->path),
                td_format_size(bytes, made->bytes), made->make_seconds, made->write_seconds);
    else
        td_info("%s: %s, prepared already", td_shown_path(made->path), td_format_size(bytes, made->bytes));
}

static td_status make_one(making *self, const char *name, bool named)
{
    td_layouts_made *made = self->made;
    if (made->count == TD_LAYOUTS_MOST) return td_fail(TD_USAGE, "--for names more than %d layouts", TD_LAYOUTS_MOST);
    TD_CHECK(TD_NEW_ZEROED(&made->of[made->count], 1, "layout"));
    td_prepared *it = made->of[made->count++];
    it->size = sizeof *it;
    td_status status = td_graph_prepare(self->session, self->graph, name, self->settings, it);
    self->found = self->found || status == TD_OK;
    bool drops = status == TD_NOT_FOUND || (status == TD_OK && is_known(made));
    if (status == TD_NOT_FOUND && named) td_info("%s: %s", name, td_last_message());
    if (status == TD_OK && !drops) say(it);
    if (drops) td_free(made->of[--made->count]);
    return status == TD_NOT_FOUND ? TD_OK : status;
}

static td_status make_all(making *self, const char *layout)
{
    char name[2 * TD_LAYOUT_WORD];
    self->found = false;
    for (int i = 0; td_program_name(i) != NULL; i++) {
        snprintf(name, sizeof name, "%s:%s", layout, td_program_name(i));
        TD_CHECK(make_one(self, name, false));
    }
    if (!self->found) td_info("%s: %s", layout, td_last_message()); /* why the last program reads none */
    return TD_OK;
}

/* Whether the next word is a program of this layout, so that it stands for that alone. */
static bool names_programs(const words *self)
{
    return self->all && self->at != NULL && is_program(self->at, strcspn(self->at, ","));
}

static td_status make_list(making *self, const char *list)
{
    words it = {.list = list, .at = list};
    bool more = true;
    for (;;) {
        TD_CHECK(next_word(&it, &more));
        if (!more) return TD_OK;
        if (names_programs(&it)) continue;
        TD_CHECK(it.all ? make_all(self, it.layout) : make_one(self, it.name, true));
    }
}

td_status td_layouts_make(td_session *session, const char *path, const char *list, const char *const *settings,
                          td_layouts_made *made)
{
    making self = {.session = session, .settings = settings, .made = made};
    td_graph_options as_it_is = {.size = sizeof as_it_is, .edges = TD_PLACE_MEMORY};
    TD_CHECK(td_graph_open(session, path, &as_it_is, &self.graph));
    td_status status = make_list(&self, list);
    td_graph_destroy(self.graph);
    return status;
}

void td_layouts_json(td_json *json, const td_layouts_made *made)
{
    td_json_array(json, "prepared");
    for (int i = 0; i < made->count; i++) {
        td_json_row(json, NULL);
        td_prepared_entry_json(json, made->of[i]);
        td_json_bool(json, "made", made->of[i]->made);
        td_json_real(json, "make_seconds", made->of[i]->make_seconds);
        td_json_real(json, "write_seconds", made->of[i]->write_seconds);
        td_json_end_object(json);
    }
    td_json_end_array(json);
}

void td_layouts_free(td_layouts_made *made)
{
    for (int i = 0; i < made->count; i++) td_free(made->of[i]);
    made->count = 0;
}
