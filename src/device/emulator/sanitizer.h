/* Which sanitizer this is compiled with: TD_ADDRESS_CHECKED, TD_THREADS_CHECKED, 0 or 1. */
#ifndef TD_DEVICE_EMULATOR_SANITIZER_H
#define TD_DEVICE_EMULATOR_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__)
#define TD_ADDRESS_CHECKED 1
#elif defined(__SANITIZE_THREAD__)
#define TD_THREADS_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TD_ADDRESS_CHECKED 1
#elif __has_feature(thread_sanitizer)
#define TD_THREADS_CHECKED 1
#endif
#endif

#ifndef TD_ADDRESS_CHECKED
#define TD_ADDRESS_CHECKED 0
#endif
#ifndef TD_THREADS_CHECKED
#define TD_THREADS_CHECKED 0
#endif

/* Marks memory as inaccessible for the address sanitizer. */
#if TD_ADDRESS_CHECKED
#include <sanitizer/asan_interface.h>
#define TD_FORBID(memory, bytes) ASAN_POISON_MEMORY_REGION(memory, bytes)
#define TD_ALLOW(memory, bytes) ASAN_UNPOISON_MEMORY_REGION(memory, bytes)
#else
#define TD_FORBID(memory, bytes) ((void)(memory), (void)(bytes))
#define TD_ALLOW(memory, bytes) ((void)(memory), (void)(bytes))
#endif

#endif
