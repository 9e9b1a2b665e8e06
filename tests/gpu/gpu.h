/* What the tests on a GPU share: a device of the name in TANDEM_TEST_GPU (cuda:0), or a skip. The tables of programs
 * run on an emulated one (emu), too. */
#ifndef TD_TESTS_GPU_GPU_H
#define TD_TESTS_GPU_GPU_H

#include "device/device.h"
#include "test.h"

#include "gpu/kernels.h"

typedef struct setting {
    td_loop *loop;
    td_device *device;
    td_stream *a, *b;
} setting;

static inline const char *gpu_name(void)
{
    const char *name = getenv("TANDEM_TEST_GPU");
    return name != NULL ? name : "cuda:0";
}

static inline void need_gpu(void)
{
    const char *why;
    static char words[256];
    if (strncmp(gpu_name(), "emu", 3) == 0 || td_device_kind_present(TD_DEVICE_CUDA, &why)) return;
    snprintf(words, sizeof words, "%s", why);
    SKIP(words);
}

static inline setting start_with(const char *names, uint64_t gpu_memory)
{
    setting s = {0};
    need_gpu();
    CHECK_OK(td_loop_create(&s.loop));
    CHECK_OK(td_devices_open(&s.device, names, &(td_device_options){.loop = s.loop, .gpu_memory = gpu_memory}));
    CHECK_OK(td_stream_open(s.device, &s.a));
    CHECK_OK(td_stream_open(s.device, &s.b));
    return s;
}

static inline setting start(void) { return start_with(gpu_name(), 0); }

static inline void stop(setting *s)
{
    td_stream_close(s->a);
    td_stream_close(s->b);
    td_devices_close(s->device);
    td_loop_destroy(s->loop);
}

static inline td_status launch(td_stream *stream, const char *name, const void *code, td_launch shape,
                               const void *arguments, size_t bytes)
{
    td_kernel kernel = {name, code};
    return td_stream_launch(stream, &kernel, shape, arguments, bytes);
}

#define LAUNCH(stream, name, shape, ...) \
    CHECK_OK(launch(stream, #name, kernel_##name, shape, &(__VA_ARGS__), sizeof(__VA_ARGS__)))

typedef struct tally {
    uint64_t values[8];
    int count;
    td_status status;
    char message[TD_MESSAGE_BYTES];
} tally;

static inline void note(void *context, td_status status, uint64_t value)
{
    tally *seen = context;
    seen->values[seen->count++] = value;
    if (status == TD_OK) return;
    seen->status = status;
    snprintf(seen->message, sizeof seen->message, "%s", td_last_message());
}

#endif
