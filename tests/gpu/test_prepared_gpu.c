/* Every program on stream and coop on a real GPU, with and without prepared layouts. */
#include "engine/prepared_scene.h"
#include "gpu/gpu.h"

TEST(every_program_gives_the_same_with_and_without_prepared_layouts_on_the_gpu)
{
    static const shape *const shapes[] = {&both_ways, &one_way, &real_weights, &wide_weights};
    need_gpu();
    prepared_devices = gpu_name();
    for (int i = 0; i < 4; i++) {
        int used[2] = {0};
        write_file("gpu.tg", shapes[i]);
        td_graph *graph = load_file("gpu.tg");
        prepare_all(graph, NULL);
        for (int e = 0; e < 2; e++)
            for (int p = 0; td_programs[p] != NULL; p++)
                if (strcmp(td_programs[p]->info->name, "circuit") != 0) /* needs a network */
                    compare(engines[e], graph, td_programs[p], i, &used[e]);
        CHECK(used[0] >= 5 && used[1] >= 7);
        td_graph_destroy(graph);
    }
}

TEST_MAIN
