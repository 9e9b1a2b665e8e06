/* Files that become shorter while they are mapped: an error with the file's name, not SIGBUS. */
#include "test.h"

#include "base/mapping.h"
#include "device/emulator/sanitizer.h"
#include "store/builder.h"
#include "store/formats/format.h"
#include "store/gen.h"
#include "store/input.h"
#include "store/packed.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { LINES = 200000, LINE_BYTES = 8 };

static const char *text_file(void)
{
    const char *path = test_path("edges.txt");
    char *text = malloc(LINES * LINE_BYTES + 1);
    for (int i = 0; i < LINES; i++) memcpy(text + i * LINE_BYTES, "1 00002\n", LINE_BYTES);
    test_write_file(path, text, LINES * LINE_BYTES);
    free(text);
    return path;
}

/* Ends a child by the signal while a file is mapped. */
static int end_of_child(bool ignored)
{
    const char *path = text_file();
    td_input *input = NULL;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGBUS, ignored ? SIG_IGN : SIG_DFL);
        if (td_input_open(&input, path) != TD_OK) _exit(2);
        kill(getpid(), SIGBUS);
        _exit(truncate(path, 0) == 0 && ((const char *)td_input_data(input))[LINES * LINE_BYTES / 2] == 0 ? 3 : 4);
    }
    int ended = 0;
    CHECK(waitpid(child, &ended, 0) == child);
    return ended;
}

/* Sent by a process, the signal is no fault of a mapping: it ends the process at once, or not at all. The first test:
 * the children install the handler, over the action that they have set. */
TEST(a_signal_that_was_sent_is_not_swallowed)
{
    if (TD_ADDRESS_CHECKED || TD_THREADS_CHECKED) SKIP("a sanitizer has a handler of its own");
    int ended = end_of_child(false);
    CHECK(WIFSIGNALED(ended));
    CHECK_EQ(WTERMSIG(ended), SIGBUS);
    ended = end_of_child(true); /* and the guard holds afterwards */
    CHECK(WIFEXITED(ended));
    CHECK_EQ(WEXITSTATUS(ended), 3);
}

typedef struct cutter {
    const char *path;
    _Atomic int pieces;
} cutter;

/* The first piece makes the file shorter; all of them read their text. */
static td_status cut_and_read(void *context, const td_piece *piece, int worker)
{
    (void)worker;
    cutter *self = context;
    uint64_t sum = 0;
    if (self->pieces++ == 0 && truncate(self->path, 4096) != 0) return td_fail(TD_INTERNAL, "truncate");
    for (const char *at = piece->text; at < piece->end; at++) sum += (unsigned char)*at;
    return sum == UINT64_MAX ? TD_INTERNAL : TD_OK;
}

TEST(a_text_that_shrinks_while_it_is_read_is_an_error)
{
    for (int threads = 1; threads <= 4; threads *= 2) {
        td_input *input = NULL;
        td_pool *pool = NULL;
        cutter self = {.path = text_file()};
        CHECK_OK(td_pool_create(&pool, threads));
        CHECK_OK(td_input_open(&input, self.path));
        CHECK_STATUS(td_input_pieces(input, pool, 0, cut_and_read, &self, NULL), TD_IO);
        CHECK_CONTAINS(td_last_message(), "edges.txt became shorter");
        td_input_close(input);
        CHECK_STATUS(td_mapping_settle(TD_OK), TD_IO); /* what closed it learns of it, once */
        CHECK_OK(td_mapping_settle(TD_OK));
        td_pool_destroy(pool);
    }
}

/* A format that shrinks its own file between the head and the edges. */
static td_status read_cut(const char *path, td_edge_list *edges, td_pool *pool)
{
    td_input *input = NULL;
    cutter self = {.path = path};
    (void)edges;
    TD_CHECK(td_input_open(&input, path));
    td_status status = td_input_pieces(input, pool, 0, cut_and_read, &self, NULL);
    td_input_close(input);
    return status == TD_IO ? td_fail(TD_FORMAT, "a reader's own opinion of the zeros") : status;
}

TEST(the_reader_of_a_shrunken_file_blames_the_file_not_its_content)
{
    const td_format format = {.name = "cut", .read = read_cut};
    td_edge_list *edges = NULL;
    const char *path = text_file();
    CHECK_OK(td_edges_create(&edges, path));
    CHECK_STATUS(td_format_read(&format, path, true, edges, NULL), TD_IO);
    CHECK_CONTAINS(td_last_message(), "became shorter");
    td_edges_destroy(edges);
}

static td_graph *mapped_graph(const char *path)
{
    td_gen_spec spec = {.kind = "uniform", .vertices = 20000, .degree = 16, .seed = 3};
    td_build_options build = {0};
    td_graph *graph = NULL, *mapped = NULL;
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    CHECK_OK(td_packed_write(graph, path, NULL));
    td_graph_destroy(graph);
    CHECK_OK(td_packed_map(&mapped, path));
    return mapped;
}

TEST(a_mapped_graph_survives_a_file_that_shrinks)
{
    static const off_t lengths[] = {0, 4096, 300000, 900000};
    for (int i = 0; i < 4; i++) {
        const char *path = test_path("g.tg");
        td_graph *graph = mapped_graph(path);
        td_edge_list *edges = NULL;
        CHECK(truncate(path, lengths[i]) == 0);
        (void)td_graph_check(graph, NULL); /* whatever it thinks of zeros */
        CHECK_STATUS(td_mapping_check(graph->mapping, TD_OK), TD_IO);
        CHECK_OK(td_edges_create(&edges, path));
        (void)td_graph_deliver(graph, edges, NULL);
        td_edges_destroy(edges);
        td_graph_destroy(graph);
        CHECK_STATUS(td_mapping_settle(TD_OK), TD_IO);
        CHECK_CONTAINS(td_last_message(), "g.tg became shorter");
        CHECK(unlink(path) == 0);
    }
}

/* Written to in place, even with the same bytes, a file may have been anything while it was read; renamed or linked it
 * is the same. */
TEST(a_mapped_file_that_is_written_to_is_an_error)
{
    const char *path = test_path("g.tg"), *other = test_path("other.tg");
    td_graph *graph = mapped_graph(path);
    char byte;
    usleep(20000); /* times of files advance in steps of some milliseconds */
    CHECK(rename(path, other) == 0);
    CHECK_OK(td_mapping_check(graph->mapping, TD_OK));
    FILE *file = fopen(other, "r+");
    CHECK(fread(&byte, 1, 1, file) == 1 && fseek(file, 0, SEEK_SET) == 0 && fwrite(&byte, 1, 1, file) == 1);
    fclose(file);
    CHECK_STATUS(td_mapping_check(graph->mapping, TD_OK), TD_IO);
    CHECK_CONTAINS(td_last_message(), "g.tg was written to while it was read");
    td_graph_destroy(graph);
    CHECK_STATUS(td_mapping_settle(TD_OK), TD_IO);
    CHECK_CONTAINS(td_last_message(), "g.tg was written to while it was read");
    CHECK_OK(td_mapping_settle(TD_OK));
}

TEST(a_stripe_that_shrinks_within_its_last_page_is_noticed)
{
    td_gen_spec spec = {.kind = "uniform", .vertices = 20000, .degree = 16, .seed = 3};
    td_build_options build = {0};
    td_graph *graph = NULL, *mapped = NULL;
    const char *path = test_path("striped.tg");
    char stripe[4096];
    struct stat facts;
    CHECK_OK(td_graph_generate(&graph, &spec, &build, NULL));
    CHECK_OK(td_packed_write_striped(graph, path, test_folder(), NULL));
    td_graph_destroy(graph);
    CHECK_OK(td_packed_map(&mapped, path));
    CHECK_OK(td_mapping_check(mapped->mapping, TD_OK));
    snprintf(stripe, sizeof stripe, "%s.1of1", path);
    CHECK(stat(stripe, &facts) == 0);
    CHECK(truncate(stripe, facts.st_size - 1) == 0);
    CHECK_STATUS(td_mapping_check(mapped->mapping, TD_OK), TD_IO);
    td_graph_destroy(mapped);
    CHECK_STATUS(td_mapping_settle(TD_OK), TD_IO);
}

/* A fault outside of every guarded mapping still ends the process, as without the handler. */
TEST(a_fault_elsewhere_is_fatal_as_before)
{
    const char *path = text_file();
    td_input *input = NULL;
    CHECK_OK(td_input_open(&input, path)); /* installs the handler */
    pid_t child = fork();
    if (child == 0) {
        FILE *file = fopen(path, "r+");
        volatile char *data = mmap(NULL, LINES * LINE_BYTES, PROT_READ, MAP_SHARED, fileno(file), 0);
        if (truncate(path, 0) != 0) _exit(2);
        _exit(data[100000] == 'x' ? 3 : 4);
    }
    int ended = 0;
    CHECK(waitpid(child, &ended, 0) == child);
    td_input_close(input);
    if (TD_ADDRESS_CHECKED || TD_THREADS_CHECKED) SKIP("a sanitizer has a handler of its own");
    CHECK(WIFSIGNALED(ended));
    CHECK_EQ(WTERMSIG(ended), SIGBUS);
}

TEST_MAIN
