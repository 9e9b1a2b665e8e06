/* Prepared layouts for commands: a list of names, "paths,stream:sssp,wcc,coop", is checked, made and reported. */
#ifndef TD_CLI_LAYOUTS_H
#define TD_CLI_LAYOUTS_H

#include "report.h"

enum { TD_LAYOUT_WORD = 48, TD_LAYOUTS_MOST = 48 };

typedef struct td_layouts_made {
    td_prepared *of[TD_LAYOUTS_MOST];
    int count;
} td_layouts_made;

/* TD_USAGE naming the layouts that exist. */
td_status td_layouts_check(const char *list);

/* Opens the .tg, makes the layouts that are not there, and says what was made. `made` is to be freed in any case. */
td_status td_layouts_make(td_session *session, const char *path, const char *list, const char *const *settings,
                          td_layouts_made *made);
void td_layouts_json(td_json *json, const td_layouts_made *made); /* the array "prepared" */
void td_layouts_free(td_layouts_made *made);

#endif
