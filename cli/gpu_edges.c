#include "gpu_edges.h"

#include "base/size.h"

#include <string.h>

td_status td_gpu_edges_parse(const char *text, double *out)
{
    uint64_t bytes, whole = UINT64_C(1) << 52;
    if (text == NULL) return TD_OK;
    bool share = strchr(text, '%') != NULL;
    if (td_parse_size_or_share(text, whole, &bytes) != TD_OK) return td_fail_context(TD_USAGE, "option --gpu-edges");
    if (bytes < (share ? 2 : 1))
        return td_fail(TD_USAGE, "option --gpu-edges %s: more than 0%%, or a size, is allowed", text);
    if (!share && bytes <= 100)
        return td_fail(TD_USAGE, "option --gpu-edges %s: that is %s bytes; a share is written %s%%", text, text, text);
    if (share && bytes > whole) bytes = whole; /* 100% is no limit */
    *out = share ? (double)bytes / (double)whole : (double)bytes;
    return TD_OK;
}
