/* A bench to run test kernels on: a device, its stream, and some of its memory. */
#ifndef EMULATOR_BENCH_H
#define EMULATOR_BENCH_H

#include "device/emulator/debug_lines.h"
#include "emulator_kernels.h"

#include "test.h"

enum { BENCH_WORDS = 4096 };

/* Reports name file and line where libdw is installed, otherwise a function or an offset. */
#define IN_FILE(before, file, otherwise) (td_debug_lines_available() ? before file ":" : before otherwise)

typedef struct bench {
    td_loop *loop;
    td_device *device;
    td_stream *stream;
    kernel_arguments arguments; /* device memory: BENCH_WORDS of each */
} bench;

static inline bench bench_open(const char *devices, uint64_t seed)
{
    bench b = {.arguments = {.count = BENCH_WORDS}};
    CHECK_OK(td_loop_create(&b.loop));
    CHECK_OK(td_devices_open(&b.device, devices, &(td_device_options){.loop = b.loop, .seed = seed}));
    CHECK_OK(td_stream_open(b.device, &b.stream));
    CHECK_OK(td_device_new(b.device, &b.arguments.in, BENCH_WORDS, 4, "in"));
    CHECK_OK(td_device_new(b.device, &b.arguments.out, BENCH_WORDS, 4, "out"));
    CHECK_OK(td_device_new(b.device, &b.arguments.wide, BENCH_WORDS, 8, "wide"));
    CHECK_OK(td_device_new(b.device, &b.arguments.real, BENCH_WORDS, 8, "real"));
    CHECK_OK(td_device_new(b.device, &b.arguments.bytes, BENCH_WORDS, 1, "bytes"));
    uint32_t numbers[BENCH_WORDS];
    double reals[BENCH_WORDS];
    for (uint32_t i = 0; i < BENCH_WORDS; i++) {
        numbers[i] = i;
        reals[i] = i;
    }
    CHECK_OK(td_stream_copy(b.stream, b.arguments.in, numbers, sizeof numbers, TD_TO_DEVICE));
    CHECK_OK(td_stream_copy(b.stream, b.arguments.real, reals, sizeof reals, TD_TO_DEVICE));
    CHECK_OK(td_stream_fill(b.stream, b.arguments.out, 0, BENCH_WORDS * 4));
    CHECK_OK(td_stream_fill(b.stream, b.arguments.wide, 0, BENCH_WORDS * 8));
    CHECK_OK(td_stream_fill(b.stream, b.arguments.bytes, 0, BENCH_WORDS));
    return b;
}

static inline void bench_close(bench *b)
{
    td_device_free(b->device, b->arguments.in);
    td_device_free(b->device, b->arguments.out);
    td_device_free(b->device, b->arguments.wide);
    td_device_free(b->device, b->arguments.real);
    td_device_free(b->device, b->arguments.bytes);
    td_stream_close(b->stream);
    td_devices_close(b->device);
    td_loop_destroy(b->loop);
}

static inline const td_kernel *kernel_named(const char *name)
{
    const td_kernel *lists[] = {right_kernels, wrong_kernels};
    for (int i = 0; i < 2; i++)
        for (const td_kernel *kernel = lists[i]; kernel->name != NULL; kernel++)
            if (strcmp(kernel->name, name) == 0) return kernel;
    TEST_FAIL("no kernel %s", name);
}

/* Launches and waits: what the stream has to tell. */
static inline td_status bench_run(bench *b, const char *name, td_launch shape)
{
    CHECK_OK(td_stream_launch(b->stream, kernel_named(name), shape, &b->arguments, sizeof b->arguments));
    return td_stream_synchronize(b->stream);
}

static inline void bench_read(bench *b, void *to, const void *from, uint64_t bytes)
{
    CHECK_OK(td_stream_copy(b->stream, to, from, bytes, TD_TO_HOST));
    CHECK_OK(td_stream_synchronize(b->stream));
}

#endif
