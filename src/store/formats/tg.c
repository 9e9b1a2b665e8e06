/* The packed file in the table of formats. It contains a built graph:
 * td_graph_read loads it with td_packed_load. */
#include "store/formats/format.h"
#include "store/packed.h"

#include <string.h>

enum { CERTAIN = 100, BY_NAME = 90 };

/* Also accepts the name: a damaged .tg is refused as such instead of being read as text. */
static int recognise(const td_probe *probe)
{
    if (td_packed_recognise(probe->head, probe->head_bytes)) return CERTAIN;
    return strcmp(probe->suffix, "tg") == 0 ? BY_NAME : 0;
}

const td_format td_format_tg = {
    .name = "tg",
    .description = "Tandem's packed graph",
    .suffixes = "tg",
    .recognise = recognise,
    .write = td_packed_write,
};
