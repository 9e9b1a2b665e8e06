/* Where cost models are: names by devices, the user's folder before the files that ship. */
#include "test.h"

#include "engine/multi/cost_find.h"

#include <stdlib.h>

static td_device gpus[2];

static td_gpu_set set_of(td_device_kind kind, const char *devices, const char *model, const char *first, const char *second)
{
    td_gpu_set set = {.count = second != NULL ? 2 : 1, .gpu = {&gpus[0], &gpus[1]}};
    const char *const names[] = {first, second};
    snprintf(set.devices, sizeof set.devices, "%s", devices);
    for (int i = 0; i < set.count; i++) {
        gpus[i] = (td_device){.kind = kind};
        snprintf(gpus[i].name, sizeof gpus[i].name, "%s", names[i]);
        snprintf(gpus[i].properties.model, sizeof gpus[i].properties.model, "%s", model);
    }
    return set;
}

static const char *name_of(td_gpu_set set)
{
    static char name[TD_COST_NAME];
    CHECK_OK(td_cost_file_name(name, &set));
    return name;
}

TEST(files_are_named_by_devices)
{
    td_device_kind cuda = TD_DEVICE_CUDA, emu = TD_DEVICE_EMULATOR;
    CHECK_STR(name_of(set_of(cuda, "cuda:0/8", "NVIDIA H200", "cuda:0/8#0", "cuda:0/8#1")), "cost-cuda-nvidia-h200-8.model");
    CHECK_STR(name_of(set_of(cuda, "cuda:0,cuda:1", "NVIDIA H200", "cuda:0", "cuda:1")), "cost-cuda-nvidia-h200.model");
    CHECK_STR(name_of(set_of(cuda, "cuda:0", "A  (B)", "cuda:0", NULL)), "cost-cuda-a-b.model");
    CHECK_STR(name_of(set_of(emu, "emu:2", "emulated GPU", "emu:0", "emu:1")), "cost-emu-plain.model");
    CHECK_STR(name_of(set_of(emu, "emu:8@dgx1", "emulated GPU", "emu:0", "emu:1")), "cost-emu-dgx1.model");
    CHECK_STR(name_of(set_of(emu, "emu:8@./a/My.topology,cpu", "any", "emu:0", "emu:1")), "cost-emu-my.model");
}

TEST(devices_that_are_not_alike_have_no_model)
{
    char name[TD_COST_NAME];
    td_gpu_set set = set_of(TD_DEVICE_CUDA, "cuda:0/8#0,cuda:1", "NVIDIA H200", "cuda:0/8#0", "cuda:1");
    CHECK_STATUS(td_cost_file_name(name, &set), TD_UNSUPPORTED);
    CHECK_CONTAINS(td_last_message(), "cuda:0/8#0 and cuda:1 are not alike");
}

TEST(the_users_own_file_comes_first)
{
    char path[TD_DATA_PATH], own[TD_DATA_PATH];
    td_gpu_set set = set_of(TD_DEVICE_EMULATOR, "emu:2@dgx1", "any", "emu:0", "emu:1");
    setenv("XDG_DATA_HOME", test_path("data"), 1);
    CHECK_OK(td_cost_file_find(path, &set)); /* ships with Tandem */
    CHECK_CONTAINS(path, "models/cost-emu-dgx1.model");
    CHECK_OK(td_cost_file_own(own, &set)); /* makes the folders */
    CHECK_CONTAINS(own, "data/tandem/cost-emu-dgx1.model");
    test_write_file(own, "x", 1);
    CHECK_OK(td_cost_file_find(path, &set));
    CHECK_STR(path, own);
    setenv("XDG_DATA_HOME", "not/absolute", 1);
    setenv("HOME", test_path("home"), 1);
    CHECK(td_data_own(own));
    CHECK_CONTAINS(own, "home/.local/share/tandem");
    unsetenv("HOME");
    CHECK(!td_data_own(own));
    CHECK_STATUS(td_cost_file_own(own, &set), TD_INVALID);
}

TEST_MAIN
