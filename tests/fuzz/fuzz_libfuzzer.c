/* The same attempts driven by libFuzzer (clang): coverage decides what to keep.
 * TANDEM_FUZZ_FORMAT names the reader, edgelist if unset. Formats of several
 * files are left to fuzz_readers. */
#include "fuzz.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static fuzz_seed *seed;
    static const td_format *format;
    bool made;
    if (seed == NULL) {
        const char *name = getenv("TANDEM_FUZZ_FORMAT");
        format = td_format_named(name != NULL ? name : "edgelist");
        seed = calloc(1, sizeof *seed);
        td_log_set_level(TD_LOG_QUIET);
        if (format == NULL || seed == NULL || !fuzz_open_folder()) exit(1);
        atexit(fuzz_close_folder);
        seed->count = 1;
        snprintf(seed->files[0].suffix, FUZZ_SUFFIX, "%.*s", (int)strcspn(format->suffixes, " "), format->suffixes);
    }
    if (bytes > FUZZ_BYTES) return 0;
    memcpy(seed->files[0].data, data, bytes);
    seed->files[0].bytes = bytes;
    if (!fuzz_attempt(seed, format, false, NULL, &made)) abort();
    return 0;
}
