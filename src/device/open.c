/* Devices by name: "cpu", "cuda:0/8#3", "emu:8@dgx1", and lists of them. A name is parsed once into the options of the
 * kinds' openers; an error names the wrong part and what is allowed. */
#include "device/kinds.h"

#include "base/size.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 64, MOST_NAMES = 64, MOST_GPUS = 64, MOST_SLICES = 1024 };

typedef struct wanted {
    td_device_kind kind;
    char text[NAME]; /* as it was written */
    int index;       /* of a GPU */
    int slices;      /* 0: the whole GPU */
    int slice;       /* -1: all of them */
    int count;       /* emulated devices */
    char topology[NAME]; /* "": none */
} wanted;

typedef struct wanted_list {
    wanted items[MOST_NAMES];
    int count;
} wanted_list;

/* Takes the digits at *at, which stand for `what` in a device's name. */
static td_status take_number(const wanted *name, const char **at, const char *what, int least, int most, int *out)
{
    char digits[NAME];
    uint64_t value = 0;
    int length = (int)strspn(*at, "0123456789");
    snprintf(digits, sizeof digits, "%.*s", length, *at);
    if (length == 0) return td_fail(TD_USAGE, "device '%s': %s should be a number, not '%s'", name->text, what, *at);
    if (td_parse_u64(digits, &value) != TD_OK || value < (uint64_t)least || value > (uint64_t)most)
        return td_fail(TD_USAGE, "device '%s': %s is %s, allowed are %d to %d", name->text, what, digits, least, most);
    *at += length;
    *out = (int)value;
    return TD_OK;
}

static td_status check_end(const wanted *name, const char *at, const char *forms)
{
    if (*at == '\0') return TD_OK;
    return td_fail(TD_USAGE, "device '%s': '%s' at its end is not understood; there are %s", name->text, at, forms);
}

/* cuda, cuda:N, cuda:N/S, cuda:N/S#I */
static td_status parse_cuda(wanted *name, const char *at)
{
    name->slice = -1;
    if (*at == ':') {
        at++;
        TD_CHECK(take_number(name, &at, "the GPU's number", 0, MOST_GPUS - 1, &name->index));
    }
    if (*at == '/') {
        at++;
        TD_CHECK(take_number(name, &at, "the number of slices", 1, MOST_SLICES, &name->slices));
    }
    if (*at == '#' && name->slices > 0) {
        at++;
        TD_CHECK(take_number(name, &at, "the slice", 0, name->slices - 1, &name->slice));
    }
    return check_end(name, at, "cuda:N, cuda:N/SLICES and cuda:N/SLICES#SLICE");
}

/* emu, emu:COUNT, emu:COUNT@TOPOLOGY */
static td_status parse_emulator(wanted *name, const char *at)
{
    name->count = 1;
    if (*at == ':') {
        at++;
        TD_CHECK(take_number(name, &at, "the number of emulated devices", 1, TD_EMULATED_DEVICES, &name->count));
    }
    if (*at == '@') {
        if (at[1] == '\0') return td_fail(TD_USAGE, "device '%s': no topology is named behind '@'", name->text);
        snprintf(name->topology, sizeof name->topology, "%s", at + 1);
        return TD_OK;
    }
    return check_end(name, at, "emu, emu:COUNT and emu:COUNT@TOPOLOGY");
}

static td_status parse_name(wanted *name)
{
    const char *text = name->text;
    size_t length = strcspn(text, ":/#@");
    if (strcmp(text, "cpu") == 0) {
        name->kind = TD_DEVICE_CPU;
        return TD_OK;
    }
    if (length == 4 && strncmp(text, "cuda", 4) == 0) {
        name->kind = TD_DEVICE_CUDA;
        return parse_cuda(name, text + length);
    }
    if (length == 3 && strncmp(text, "emu", 3) == 0) {
        name->kind = TD_DEVICE_EMULATOR;
        return parse_emulator(name, text + length);
    }
    if (length == 3 && strncmp(text, "cpu", 3) == 0)
        return td_fail(TD_USAGE, "device '%s': the cpu has no parts; {threads} says how much of it is used", text);
    return td_fail(TD_USAGE, "there is no device '%s'; there are cpu, cuda:N (a GPU), cuda:N/S (its slices), emu:COUNT "
                   "(emulated GPUs)", text);
}

/* Two names that stand for the same hardware. */
static bool overlap(const wanted *a, const wanted *b)
{
    if (a->kind != b->kind) return false;
    if (a->kind != TD_DEVICE_CUDA) return true;
    if (a->index != b->index) return false;
    return a->slices != b->slices || a->slice < 0 || b->slice < 0 || a->slice == b->slice;
}

static td_status check_overlap(const wanted_list *list, const wanted *next)
{
    for (int i = 0; i < list->count; i++)
        if (overlap(&list->items[i], next))
            return td_fail(TD_USAGE, "devices '%s' and '%s' overlap; a device can be named once", list->items[i].text,
                           next->text);
    return TD_OK;
}

static td_status parse_list(wanted_list *out, const char *list)
{
    out->count = 0;
    for (const char *at = list;; at++) {
        wanted name = {0};
        int length = (int)strcspn(at, ",");
        if (length == 0) return td_fail(TD_USAGE, "a name is missing in the list of devices '%s'", list);
        if (length >= NAME) return td_fail(TD_USAGE, "there is no device '%.*s...'", NAME - 1, at);
        if (out->count == MOST_NAMES) return td_fail(TD_USAGE, "more than %d names in the list of devices", MOST_NAMES);
        snprintf(name.text, sizeof name.text, "%.*s", length, at);
        TD_CHECK(parse_name(&name));
        TD_CHECK(check_overlap(out, &name));
        out->items[out->count++] = name;
        at += length;
        if (*at == '\0') return TD_OK;
    }
}

static _Atomic uint32_t times_asked;
uint32_t td_devices_cuda_asks(void) { return times_asked; }

bool td_device_kind_present(td_device_kind kind, const char **why)
{
    if (kind == TD_DEVICE_CUDA) times_asked++;
    if (kind == TD_DEVICE_CUDA) return td_cuda_present(why);
    if (why != NULL) *why = "";
    return kind == TD_DEVICE_CPU || kind == TD_DEVICE_EMULATOR;
}

static td_status check_present(const wanted *name)
{
    const char *why;
    if (!td_device_kind_present(name->kind, &why)) return td_fail(TD_UNSUPPORTED, "device '%s': %s", name->text, why);
    if (name->kind != TD_DEVICE_CUDA || name->index < td_cuda_count()) return TD_OK;
    return td_fail(TD_UNSUPPORTED, "device '%s': the GPUs of this machine are cuda:0 to cuda:%d", name->text,
                   td_cuda_count() - 1);
}

td_status td_devices_check(const char *list)
{
    wanted_list names;
    td_status status = parse_list(&names, list);
    for (int i = 0; status == TD_OK && i < names.count; i++) status = check_present(&names.items[i]);
    return status == TD_OK ? TD_OK : td_fail_context(status, "{devices} %.200s", list);
}

int td_devices_cuda(const char *list, int *gpus, int most)
{
    wanted_list names;
    int count = 0;
    if (parse_list(&names, list) != TD_OK) return 0;
    for (int i = 0; i < names.count && count < most; i++) {
        bool again = names.items[i].kind != TD_DEVICE_CUDA;
        for (int j = 0; j < count; j++) again = again || gpus[j] == names.items[i].index;
        if (!again) gpus[count++] = names.items[i].index;
    }
    return count;
}

uint64_t td_devices_memory(const char *list)
{
    int gpu;
    return td_devices_cuda(list, &gpu, 1) == 1 ? td_cuda_memory(gpu) : 0;
}

static td_status open_one(td_device **out, const wanted *name, const td_device_options *options)
{
    if (name->kind == TD_DEVICE_CPU) return td_cpu_device_open(out, options);
    if (name->kind == TD_DEVICE_CUDA) return td_cuda_open(out, name->index, name->slices, name->slice, options);
    return td_emulator_open(out, name->count, name->topology[0] != '\0' ? name->topology : NULL, options);
}

static char lost_for_good[NAME]; /* "": none */

void td_device_lose_for_good(const char *name) { snprintf(lost_for_good, sizeof lost_for_good, "%s", name); }

static td_status refuse_lost(td_device *first, bool keeps)
{
    for (td_device *device = first; device != NULL; device = device->next) {
        if (lost_for_good[0] == '\0' || strcmp(device->name, lost_for_good) != 0) continue;
        if (!keeps) return td_fail(TD_DEVICE, "%s: this process has lost the GPU (injected by a test)", device->name);
        device->lost = true;
    }
    return TD_OK;
}

td_status td_devices_open(td_device **out, const char *list, const td_device_options *options)
{
    td_device *first = NULL, **last = &first;
    wanted_list names;
    td_status status = parse_list(&names, list);
    for (int i = 0; status == TD_OK && i < names.count; i++) {
        status = open_one(last, &names.items[i], options);
        while (*last != NULL) last = &(*last)->next;
    }
    if (status == TD_OK) status = refuse_lost(first, options->keep_lost);
    if (status == TD_OK) {
        *out = first;
        return TD_OK;
    }
    td_fail_context(status, "{devices} %.200s", list);
    td_devices_close(first);
    return status;
}

td_status td_devices_host_bytes(const char *list, uint64_t device_bytes, bool cooperative, uint64_t *out)
{
    wanted_list names;
    int gpu = 0;
    *out = 0;
    TD_CHECK(parse_list(&names, list));
    while (gpu < names.count && names.items[gpu].kind == TD_DEVICE_CPU) gpu++;
    if (gpu == names.count || names.items[gpu].kind != TD_DEVICE_EMULATOR) return TD_OK;
    const char *topology = names.items[gpu].topology;
    td_status status = td_emulator_host_bytes(topology[0] != '\0' ? topology : NULL, device_bytes, cooperative, out);
    return status == TD_OK ? TD_OK : td_fail_context(status, "{devices} %.200s", list);
}
