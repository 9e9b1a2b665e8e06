#include "base/processors.h"

#ifdef TANDEM_HAVE_HWLOC

#include "base/library.h"

#include <hwloc.h>
#include <pthread.h>

#define FUNCTIONS(F)                                                                                      \
    F(hwloc_topology_init) F(hwloc_topology_destroy) F(hwloc_topology_load) F(hwloc_topology_set_flags)   \
    F(hwloc_topology_set_synthetic) F(hwloc_topology_set_all_types_filter) F(hwloc_topology_set_type_filter) \
    F(hwloc_topology_set_cache_types_filter) F(hwloc_get_type_depth) F(hwloc_get_nbobjs_by_depth)         \
    F(hwloc_get_obj_by_depth)
#define POINTER(name) __typeof__(name) *name;
#define NAME(name) #name,

/* The hwloc functions in use. */
static struct {
    FUNCTIONS(POINTER)
} hw;
static bool hw_loaded;

/* Loads the library; all versions 2 have this name. */
static void load_library(void)
{
    static const char *const names[] = {FUNCTIONS(NAME) NULL};
    hw_loaded = td_library_load("libhwloc.so.15", names, &hw);
}

bool td_processors_available(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_library);
    return hw_loaded;
}

/* Leaves out I/O devices, which take longer to find than all the rest. Includes processors that a control group denies
 * to this process. */
static bool choose_parts(hwloc_topology_t topology)
{
    return hw.hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) == 0 &&
           hw.hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL) == 0 &&
           hw.hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL) == 0 &&
           hw.hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0;
}

/* The number of objects of a type, 0 if there are none. */
static int count(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    return (int)hw.hwloc_get_nbobjs_by_depth(topology, hw.hwloc_get_type_depth(topology, type));
}

static uint64_t largest_cache(hwloc_topology_t topology)
{
    uint64_t largest = 0;
    for (hwloc_obj_type_t type = HWLOC_OBJ_L1CACHE; type <= HWLOC_OBJ_L5CACHE; type++) {
        int depth = hw.hwloc_get_type_depth(topology, type);
        for (int i = 0; i < count(topology, type); i++) {
            uint64_t bytes = hw.hwloc_get_obj_by_depth(topology, depth, (unsigned)i)->attr->cache.size;
            if (bytes > largest) largest = bytes;
        }
    }
    return largest;
}

bool td_processors_read(td_processors *out, const char *synthetic)
{
    hwloc_topology_t topology;
    *out = (td_processors){0};
    if (!td_processors_available() || hw.hwloc_topology_init(&topology) != 0) return false;
    bool loaded = choose_parts(topology) &&
                  (synthetic == NULL || hw.hwloc_topology_set_synthetic(topology, synthetic) == 0) &&
                  hw.hwloc_topology_load(topology) == 0;
    if (loaded) {
        out->cores = count(topology, HWLOC_OBJ_CORE);
        out->nodes = count(topology, HWLOC_OBJ_NUMANODE);
        out->cache_bytes = largest_cache(topology);
    }
    hw.hwloc_topology_destroy(topology);
    return loaded;
}

#else

bool td_processors_available(void) { return false; }

bool td_processors_read(td_processors *out, const char *synthetic)
{
    (void)synthetic;
    *out = (td_processors){0};
    return false;
}

#endif
