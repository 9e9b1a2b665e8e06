#include "base/log.h"

#include "base/clock.h"
#include "base/size.h"
#include "base/names.h"
#include "base/status.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int level = TD_LOG_WARN;
static td_log_sink sink;
static void *sink_context;
static td_log_editor edit;
static bool line_drawn;
static _Atomic uint64_t next_draw;

#define DRAW_EVERY_NS UINT64_C(100000000)

void td_log_set_level(td_log_level new_level) { level = (int)new_level; }
td_log_level td_log_get_level(void) { return (td_log_level)level; }

void td_log_set_sink(td_log_sink new_sink, void *context)
{
    pthread_mutex_lock(&lock);
    sink = new_sink;
    sink_context = context;
    pthread_mutex_unlock(&lock);
}

void td_log_set_editor(td_log_editor editor)
{
    pthread_mutex_lock(&lock);
    edit = editor;
    pthread_mutex_unlock(&lock);
}

static void wipe_line(void)
{
    if (line_drawn) fputs("\r\033[K", stderr);
    line_drawn = false;
}

static void say(td_log_level of, const char *prefix, const char *format, va_list list)
{
    if ((int)of > level) return;
    char text[TD_MESSAGE_BYTES], named[TD_MESSAGE_BYTES];
    vsnprintf(text, sizeof text, td_names_in(format, named, sizeof named), list);
    td_mask(text);
    pthread_mutex_lock(&lock);
    if (edit != NULL) edit(text, sizeof text);
    if (sink != NULL) {
        sink(sink_context, of, text);
    } else {
        wipe_line();
        fprintf(stderr, "tandem: %s%s\n", prefix, text);
    }
    pthread_mutex_unlock(&lock);
}

#define SAY(of, prefix)         \
    va_list list;               \
    va_start(list, format);     \
    say(of, prefix, format, list); \
    va_end(list)

void td_warn(const char *format, ...) { SAY(TD_LOG_WARN, "warning: "); }
void td_info(const char *format, ...) { SAY(TD_LOG_INFO, ""); }
void td_debug(const char *format, ...) { SAY(TD_LOG_DEBUG, ""); }

bool td_progress_visible(void)
{
    static _Atomic int visible = -1;
    int known = visible;
    if (known < 0) visible = known = isatty(STDERR_FILENO);
    return known && level >= TD_LOG_INFO;
}

static bool time_to_draw(void)
{
    if (!td_progress_visible()) return false;
    uint64_t now = td_clock_ns(), due = next_draw;
    return now >= due && atomic_compare_exchange_strong(&next_draw, &due, now + DRAW_EVERY_NS);
}

static void draw(const char *text)
{
    pthread_mutex_lock(&lock);
    if (sink == NULL) {
        fprintf(stderr, "\r\033[K%.120s", text);
        fflush(stderr);
        line_drawn = true;
    }
    pthread_mutex_unlock(&lock);
}

void td_progress(const char *what, uint64_t done, uint64_t total)
{
    if (!time_to_draw()) return;
    char text[256], a[TD_NUMBER_BYTES], b[TD_NUMBER_BYTES];
    if (total == 0)
        snprintf(text, sizeof text, "%s %s", what, td_format_count(a, done));
    else
        snprintf(text, sizeof text, "%s %3.0f%%  %s of %s", what, 100.0 * (double)done / (double)total,
                 td_format_count(a, done), td_format_count(b, total));
    draw(text);
}

void td_progress_text(const char *format, ...)
{
    if (!time_to_draw()) return;
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    draw(td_mask(text));
}

void td_progress_end(void)
{
    pthread_mutex_lock(&lock);
    wipe_line();
    fflush(stderr);
    pthread_mutex_unlock(&lock);
    next_draw = 0;
}
