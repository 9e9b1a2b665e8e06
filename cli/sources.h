/* The sources of a batch, --sources: a file with a vertex per line, a list with commas, or random:N. */
#ifndef TD_CLI_SOURCES_H
#define TD_CLI_SOURCES_H

#include "tandem.h"

typedef struct td_sources {
    const char *given;   /* the option's text */
    const char *path;    /* of the file; NULL: a list, or drawn */
    char *text;          /* of file or list, cut into words; NULL: drawn */
    const char **words;  /* ids or names */
    uint64_t *lines;     /* of the file that they stand in */
    uint64_t *ids;       /* once they are found in the graph; zeros before */
    uint64_t count;
    uint64_t seed;
} td_sources;

/* Reads the option, before the graph is there. */
td_status td_sources_read(td_sources *sources, const char *given, uint64_t seed);

/* Finds the vertices in the graph, or draws them. A word that is no vertex is named with its line. */
td_status td_sources_find(td_sources *sources, td_session *session, const td_graph *graph);

void td_sources_free(td_sources *sources);

#endif
