#include "run/verify_run.h"

#include "base/alloc.h"
#include "base/machine.h"
#include "base/size.h"
#include "programs/verify/verify.h"
#include "store/checks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Maximum iterations to replay; of longer runs the last change is checked. */
enum { MOST_REPLAYED = 1000 };

enum {
    REPLAY_BYTES = 32,     /* bytes per vertex of a replay (verify/replay.h) */
    PAGES_BYTES = 6 << 20, /* memory for pages of edges on disk */
};

/* How a run of a converging program is checked: by replaying its iterations, or
 * by the change that one more step would make. */
typedef struct ending {
    uint32_t iterations; /* iterations to replay; 0: check the change */
    double change;       /* of the last iteration */
} ending;

static bool sinks_were_deferred(const td_run *run)
{
    return run->row_count > 0 && strcmp(run->rows[run->row_count - 1].direction, "sinks") == 0;
}

static bool fits(double bytes)
{
    td_memory_stats memory = td_memory();
    return memory.budget == 0 || (double)memory.now + bytes + PAGES_BYTES <= (double)memory.budget;
}

/* A converged run claims its tolerance. A stopped run is replayed, unless values were read before their iteration's end
 * (asynchronous, deferred sinks) or memory is too small: then the next change must not exceed its last one. */
static ending how_it_ended(const td_run *run)
{
    if (run->converged) return (ending){0, fmax(run->final_change, run->tolerance)};
    bool replayed = !run->async && !sinks_were_deferred(run) && run->iterations <= MOST_REPLAYED &&
                    fits(REPLAY_BYTES * (double)run->graph->vertices);
    return (ending){replayed ? run->iterations : 0, run->final_change};
}

static const char *ending_claim(const td_run *run, ending ended, const char *replayed, const char *converged,
                                const char *stopped)
{
    return ended.iterations > 0 ? replayed : run->converged ? converged : stopped;
}

static td_status verify_bfs(const td_run *run, td_pool *pool, const char **claims)
{
    *claims = run->parents != NULL ? "levels are those of shortest ways, parents are one level before"
                                   : "levels are those of shortest ways";
    return td_verify_bfs(run->graph, run->context.source, run->values, run->parents, pool);
}

static td_status verify_sssp(const td_run *run, td_pool *pool, const char **claims)
{
    static _Thread_local char text[256];
    double bound;
    TD_CHECK(td_verify_sssp(run->graph, run->context.source, run->kind, run->values, run->parents, pool, &bound));
    int used = snprintf(text, sizeof text, "no edge shortens a distance, every one is reached over tight edges%s",
                        run->parents != NULL ? ", parents too" : "");
    if (isinf(bound)) snprintf(text + used, sizeof text - (size_t)used, "; no bound on the error of so long sums");
    else if (bound > 0)
        snprintf(text + used, sizeof text - (size_t)used,
                 "; distances are within %.2g, relative, of the exact ones over the stored weights", bound);
    *claims = text;
    return TD_OK;
}

static td_status verify_components(const td_run *run, td_pool *pool, const char **claims)
{
    *claims = "no edge joins two labels, labels name the smallest vertex of their component";
    return td_verify_wcc(run->graph, run->values, pool);
}

static td_status verify_mst(const td_run *run, td_pool *pool, const char **claims)
{
    *claims = "the edges form no cycle, span every component, and none outside is lighter";
    return td_verify_mst(run->graph, run->edges, run->edge_count, run->total_weight, pool);
}

static td_status verify_kcore(const td_run *run, td_pool *pool, const char **claims)
{
    *claims = "every core holds its members, and none belongs to a higher one";
    return td_verify_kcore(run->graph, run->values, run->context.parameter[0] == 1, pool);
}

static td_status verify_pagerank(const td_run *run, td_pool *pool, const char **claims)
{
    ending ended = how_it_ended(run);
    td_pagerank_claim claim = {.damping = run->context.parameter[0], .spread_dangling = run->context.parameter[1] == 0,
                               .personal = run->inputs[0], .iterations = ended.iterations, .tolerance = ended.change};
    *claims = ending_claim(run, ended, "ranks are those of the iterations replayed in double precision",
                           "one more step stays within the tolerance",
                           "one more step changes no more than the last one did");
    if (run->kind == TD_VALUE_F64) return td_verify_pagerank_f64(run->graph, run->values, &claim, pool);
    return td_verify_pagerank(run->graph, run->values, &claim, pool);
}

static td_status verify_adsorption(const td_run *run, td_pool *pool, const char **claims)
{
    ending ended = how_it_ended(run);
    td_adsorption_claim claim = {.injection = run->context.parameter[0], .continuation = run->context.parameter[1],
                                 .seeds = run->inputs[0], .iterations = ended.iterations, .tolerance = ended.change};
    *claims = ending_claim(run, ended, "scores are those of the iterations replayed in double precision",
                           "one more step stays within the tolerance",
                           "one more step changes no more than the last one did");
    return td_verify_adsorption(run->graph, run->values, &claim, pool);
}

static td_status verify_nn(const td_run *run, td_pool *pool, const char **claims)
{
    ending ended = how_it_ended(run);
    td_nn_claim claim = {.activation = (td_activation)run->context.parameter[0], .inputs = run->inputs[0],
                         .iterations = ended.iterations, .tolerance = ended.change};
    *claims = ending_claim(run, ended, "values are those of the iterations replayed in double precision",
                           "inputs are kept, and one more step changes nothing",
                           "inputs are kept, and one more step changes no more than the last one did");
    return td_verify_nn(run->graph, run->values, &claim, pool);
}

static td_status verify_heat(const td_run *run, td_pool *pool, const char **claims)
{
    td_heat_claim claim = {.initial = run->inputs[0], .step = run->context.parameter[0], .iterations = run->iterations};
    *claims = "temperatures are those of the steps replayed in double precision, and their sum stays";
    return td_verify_heat(run->graph, run->values, &claim, pool);
}

static td_status verify_circuit(const td_run *run, td_pool *pool, const char **claims)
{
    td_circuit_claim claim = {.held = run->inputs[0], .tolerance = how_it_ended(run).change};
    *claims = run->converged ? "given voltages are kept, and currents balance within the tolerance"
                             : "given voltages are kept, and currents balance within the last iteration's change";
    return td_verify_circuit(run->graph, run->values, &claim, pool);
}

typedef struct checker {
    const char *program;
    bool only_final; /* a stopped run makes no claim */
    td_status (*verify)(const td_run *run, td_pool *pool, const char **claims);
    double vertex_bytes, edge_bytes; /* peak memory of the check */
} checker;

static const checker checkers[] = {
    {"bfs", true, verify_bfs, 0.125, 0},
    {"sssp", true, verify_sssp, 1, 0},
    {"wcc", true, verify_components, 4, 0},
    {"labels", true, verify_components, 4, 0},
    {"mst", true, verify_mst, 48, 0.125},
    {"kcore", true, verify_kcore, 8.125, 0},
    {"pagerank", false, verify_pagerank, 1, 0},
    {"adsorption", false, verify_adsorption, 0, 0},
    {"nn", false, verify_nn, 0, 0},
    {"heat", false, verify_heat, REPLAY_BYTES, 0},
    {"circuit", false, verify_circuit, 4.125, 0},
};

/* A check that ran out of memory states how much it needs. */
static td_status too_small(const checker *self, const td_run *run)
{
    char takes[TD_NUMBER_BYTES], enough[TD_NUMBER_BYTES];
    double bytes = self->vertex_bytes * run->graph->vertices + self->edge_bytes * (double)run->graph->edges +
                   PAGES_BYTES;
    td_format_size(takes, (uint64_t)bytes);
    td_refusal refusal = td_memory_refusal((uint64_t)(bytes * 65 / 64) + td_memory().now + td_machine_besides());
    td_format_size(enough, refusal.needed);
    return td_refuse(&refusal,
                     "checking the result of %s takes about %s more than is there; {memory} %s, about, would do",
                     self->program, takes, enough);
}

bool td_run_verifies(const char *program)
{
    for (size_t i = 0; i < sizeof checkers / sizeof *checkers; i++)
        if (strcmp(checkers[i].program, program) == 0) return true;
    return false;
}

td_status td_run_verify(const td_run *run, td_pool *pool, const char **claims)
{
    const char *name = run->program->info->name;
    for (size_t i = 0; i < sizeof checkers / sizeof *checkers; i++) {
        if (strcmp(checkers[i].program, name) != 0) continue;
        if (checkers[i].only_final && !run->converged)
            return td_fail(TD_UNSUPPORTED,
                           "cannot verify %s: it was stopped after %u iteration%s, before its result was complete",
                           name, run->iterations, run->iterations == 1 ? "" : "s");
        TD_CHECK(td_checks_lists(run->graph, run->program->info->weights != TD_WEIGHTS_UNUSED, pool));
        td_status status = checkers[i].verify(run, pool, claims);
        return status == TD_NO_MEMORY && td_memory().budget > 0 ? too_small(&checkers[i], run) : status;
    }
    return td_fail(TD_UNSUPPORTED, "cannot verify %s: there is no verifier for it", name);
}
