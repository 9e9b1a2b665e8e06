/* Programs that process vertices in an order of their own, by distance or by degree, on several emulated GPUs
 * (multi_table.h). */
#include "engine/multi_table.h"

TEST(sssp_on_several_gpus) { check_on_several("sssp"); }
TEST(kcore_on_several_gpus) { check_on_several("kcore"); }

TEST_MAIN
