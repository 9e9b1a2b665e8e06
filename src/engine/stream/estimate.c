/* The time to the answer on the stream engine (engine/estimate.h). */
#include "engine/stream/stream.h"

/* Preparing the lists at the host, seconds for an edge by 16 threads of machine B: ordering, packing, compressing and
 * pinning them (docs/lab/answer.md, k25 at 25%; forests and peeling were not measured, distances before lists were put in
 * order as they are read). */
static const double prepares[TD_WORKLOADS] = {
    [TD_WORKLOAD_SEARCH] = 0.83e-9, [TD_WORKLOAD_DISTANCE] = 1.06e-9, [TD_WORKLOAD_COMPONENTS] = 2.05e-9,
    [TD_WORKLOAD_FOREST] = 2.5e-9, [TD_WORKLOAD_PEEL] = 0.9e-9, [TD_WORKLOAD_GATHER] = 2.1e-9, [TD_WORKLOAD_SPREAD] = 0.9e-9,
};

/* Bytes over the link, in a pass, over those of edges that are not on the GPU: searches and samples find what they need
 * in the resident prefix, sums cross compressed (docs/performance.md). `beside`: they cross while kernels run. */
static const struct crossing {
    double share;
    bool beside;
} crossings[TD_WORKLOADS] = {
    [TD_WORKLOAD_SEARCH] = {0.03, false}, [TD_WORKLOAD_DISTANCE] = {1, false},  [TD_WORKLOAD_COMPONENTS] = {0, false},
    [TD_WORKLOAD_FOREST] = {1, true},     [TD_WORKLOAD_PEEL] = {1, true},       [TD_WORKLOAD_GATHER] = {0.47, true},
    [TD_WORKLOAD_SPREAD] = {1, false},
};

/* Bytes of edges that have no room on the GPU. What else is there is counted as in the resident engine, whatever the
 * division of the room, so that more room is never worse. */
static double missing_bytes(const td_case *of, const td_streaming_bytes *bytes, const td_gpu_bytes *need)
{
    double cap = of->options->gpu_edges, edges = (double)bytes->edges, room = edges;
    double besides = (double)(need->graph - need->edges + need->program);
    if ((double)of->gpu_room < besides + edges) room = (double)of->gpu_room - besides;
    if (room < 0) room = 0;
    double allowed = cap <= 0 ? edges : cap <= 1 ? cap * edges : cap;
    return edges - (room < allowed ? room : allowed);
}

static double processing(const td_case *of, const td_streaming_bytes *bytes, const td_gpu_bytes *need)
{
    const struct crossing *crossing = &crossings[td_workload_of(of->program)];
    double resident = td_case_processing(of, of->rates->gpu), missing = missing_bytes(of, bytes, need);
    double crosses = missing > 0 ? td_case_passes(of) * missing * crossing->share / of->rates->link : 0;
    if (!crossing->beside) return resident + crosses;
    return crosses > resident ? crosses : resident;
}

/* The lists lie beside the graph, so that its own are not loaded. */
static bool is_prepared(const td_case *of)
{
    return td_prepared_has(of->graph, &td_stream_engine, of->program, of->options);
}

/* The lists are put in order as they are read from the file, which is mapped for that. */
static bool orders_file(const td_case *of)
{
    return !of->text && of->loaded != TD_LOADED_MEMORY && !is_prepared(of) &&
           td_streaming_maps(of->program, of->graph, of->options) == TD_MAPS_ALWAYS;
}

/* Reading a layout that lies beside the graph and pinning it, over loading as many bytes (docs/lab/answer.md). */
static const double PREPARED = 3.7;

/* What goes to the GPU is counted as if
 * all edges did, so that more room on the GPU is never worse. */
static double prepare(const td_case *of, const td_streaming_bytes *bytes, const td_gpu_bytes *need)
{
    if (of->cached(of, "stream")) return 0;
    double lists = is_prepared(of)
                       ? PREPARED * (double)bytes->edges / of->rates->load
                       : td_case_edges(of) * prepares[td_workload_of(of->program)] * td_case_slower(of);
    if (orders_file(of)) lists += (double)bytes->edges / of->rates->load;
    return lists + (double)(need->graph + need->program) / of->rates->upload +
           of->graph->vertices * of->rates->tables[td_workload_of(of->program)];
}

td_status td_streaming_estimate(const td_case *of, td_plan_estimate *out)
{
    td_streaming_bytes bytes;
    td_streaming_shape shape;
    td_gpu_bytes need;
    TD_CHECK(td_streaming_check_request(of->program, of->options));
    TD_CHECK(td_streaming_plan(of->program, of->graph, of->options, of->gpu_room, &bytes, &shape));
    TD_CHECK(td_gpu_count_bytes(of->program, of->graph, of->options, &td_gpu_default_choice, &need));
    if (bytes.all) return td_fail(TD_UNSUPPORTED, "the graph fits on the GPU, so the resident engine runs it");
    bool mapped = is_prepared(of) || orders_file(of);
    out->host_graph = mapped ? of->graph->vertices * sizeof(uint64_t) : of->graph_bytes;
    out->host_program = bytes.edges + of->graph->vertices * sizeof(uint64_t); /* pinned lists, results */
    out->device = bytes.on_device + bytes.vertices;
    out->load = td_case_load(of, mapped);
    out->prepare = prepare(of, &bytes, &need);
    out->processing = processing(of, &bytes, &need);
    out->finish = td_case_finish(of);
    td_case_gpu(of, out);
    return td_case_check_host(of, out);
}
