/* Files of cost models and of samples: lines of words, in a fixed order; lines that begin with # are skipped.
 *
 *     tandem-cost-model 1                     tandem-cost-samples 1
 *     label TEXT                              work push | gather | sweep
 *     work push | gather | sweep              FAMILY METRICS EDGES SECONDS
 *     kind polynomial | exponential | tree    ...
 *     samples COUNT
 *     error RMSRE
 *     held-out-error RMSRE
 *     cost LEAST MOST
 *     metric NAME LOW HIGH                    (one for each, in the order of td_metric)
 *     degree D, then "weight W" for every term    |    nodes N, then "split NAME LIMIT LOW" or "leaf SECONDS" each
 *     end
 *
 * Several models, each with such lines, give a file of models. */
#include "engine/multi/cost_inside.h"

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/outfile.h"
#include "base/size.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_BYTES = 512, MOST_WORDS = 12 };

static const char *const kind_names[] = {[TD_COST_POLYNOMIAL] = "polynomial", [TD_COST_TREE] = "tree",
                                         [TD_COST_EXPONENTIAL] = "exponential"};
const char *const td_cost_work_names[TD_COST_WORKS] = {"push", "gather", "sweep"};

typedef struct reader {
    const char *path;
    FILE *file;
    int number; /* of the line */
    char line[LINE_BYTES], text[LINE_BYTES]; /* cut into words, and as it was */
    char *word[MOST_WORDS];
    int words;
} reader;

static td_status wrong(const reader *r, const char *seen, const char *wanted)
{
    return td_fail(TD_FORMAT, "%s:%d: '%s' instead of %s", r->path, r->number, seen, wanted);
}

/* Reading lines. */

static td_status open_file(reader *r, const char *path)
{
    *r = (reader){.path = path, .file = fopen(path, "rb")};
    return r->file != NULL ? TD_OK : td_fail_errno(TD_IO, errno, "cannot open %s", path);
}

static void close_file(reader *r)
{
    if (r->file != NULL) fclose(r->file);
}

/* One line without its end; *ended at the end of the file. */
static td_status read_text(reader *r, bool *ended)
{
    int used = 0, c;
    r->number++;
    while ((c = getc(r->file)) != EOF && c != '\n') {
        if (c == '\0') return td_fail(TD_FORMAT, "%s:%d: a byte of zero; the file is text", r->path, r->number);
        if (used == LINE_BYTES - 1)
            return td_fail(TD_FORMAT, "%s:%d: longer than %d characters", r->path, r->number, LINE_BYTES - 1);
        r->text[used++] = (char)c;
    }
    if (ferror(r->file)) return td_fail_errno(TD_IO, errno, "%s:%d: cannot read", r->path, r->number);
    if (used > 0 && r->text[used - 1] == '\r') used--;
    r->text[used] = '\0';
    *ended = c == EOF && used == 0;
    return TD_OK;
}

static td_status split(reader *r)
{
    char *rest = NULL;
    memcpy(r->line, r->text, sizeof r->line);
    r->words = 0;
    for (char *word = strtok_r(r->line, " \t", &rest); word != NULL; word = strtok_r(NULL, " \t", &rest)) {
        if (r->words == MOST_WORDS)
            return td_fail(TD_FORMAT, "%s:%d: more than %d words", r->path, r->number, MOST_WORDS);
        r->word[r->words++] = word;
    }
    return TD_OK;
}

/* The next line that is not empty and no comment, cut into words. */
static td_status next_line(reader *r, bool *ended)
{
    do {
        TD_CHECK(read_text(r, ended));
        TD_CHECK(split(r));
    } while (!*ended && (r->words == 0 || r->word[0][0] == '#'));
    return TD_OK;
}

/* The next line must begin with `keyword` and have so many values (-1: any number). */
static td_status expect(reader *r, const char *keyword, int values)
{
    bool ended = false;
    TD_CHECK(next_line(r, &ended));
    if (ended) return td_fail(TD_FORMAT, "%s:%d: ends before '%s'; the file was cut off", r->path, r->number, keyword);
    if (strcmp(r->word[0], keyword) != 0) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "'%s'", keyword);
        return wrong(r, r->word[0], wanted);
    }
    if (values >= 0 && r->words != values + 1)
        return td_fail(TD_FORMAT, "%s:%d: '%s' has %d values instead of %d", r->path, r->number, keyword, r->words - 1,
                       values);
    return TD_OK;
}

static td_status version(reader *r, const char *keyword)
{
    TD_CHECK(expect(r, keyword, 1));
    return strcmp(r->word[1], "1") == 0 ? TD_OK : wrong(r, r->word[1], "version 1, the only one there is");
}

/* Reading values. */

static td_status real(const reader *r, int word, double least, double most, double *out)
{
    char wanted[80];
    if (td_parse_double(r->word[word], out) == TD_OK && *out >= least && *out <= most) return TD_OK;
    snprintf(wanted, sizeof wanted, "a number from %g to %g", least, most);
    return wrong(r, r->word[word], wanted);
}

static td_status whole(const reader *r, int word, uint64_t least, uint64_t most, uint64_t *out)
{
    char wanted[80];
    if (td_parse_u64(r->word[word], out) == TD_OK && *out >= least && *out <= most) return TD_OK;
    snprintf(wanted, sizeof wanted, "a whole number from %llu to %llu", (unsigned long long)least,
             (unsigned long long)most);
    return wrong(r, r->word[word], wanted);
}

#define HIGHEST 1e100     /* of any figure in a file: products of them stay finite */
#define LOWEST_COST 1e-30 /* seconds an edge */

/* Models. */

static td_status read_label(reader *r, td_cost_model *m)
{
    TD_CHECK(expect(r, "label", -1));
    const char *text = r->text + strspn(r->text, " \t") + strlen("label");
    text += strspn(text, " \t");
    if (strlen(text) >= sizeof m->label)
        return td_fail(TD_FORMAT, "%s:%d: the label has %zu characters; %zu are allowed", r->path, r->number,
                       strlen(text), sizeof m->label - 1);
    for (const char *c = text; *c != '\0'; c++)
        if (iscntrl((unsigned char)*c))
            return td_fail(TD_FORMAT, "%s:%d: the label has a control character (%d)", r->path, r->number, *c);
    snprintf(m->label, sizeof m->label, "%s", text);
    return TD_OK;
}

/* The value of a line "work". */
static td_status read_work(const reader *r, td_cost_work *out)
{
    for (int work = 0; work < TD_COST_WORKS; work++) {
        if (strcmp(r->word[1], td_cost_work_names[work]) != 0) continue;
        *out = (td_cost_work)work;
        return TD_OK;
    }
    return wrong(r, r->word[1], "push, gather or sweep");
}

static td_status read_head(reader *r, td_cost_model *m)
{
    TD_CHECK(read_label(r, m));
    TD_CHECK(expect(r, "work", 1));
    TD_CHECK(read_work(r, &m->work));
    TD_CHECK(expect(r, "kind", 1));
    int kind = TD_COST_EXPONENTIAL;
    while (kind >= 0 && strcmp(r->word[1], kind_names[kind]) != 0) kind--;
    if (kind < 0) return wrong(r, r->word[1], "polynomial, exponential or tree");
    m->kind = (td_cost_kind)kind;
    TD_CHECK(expect(r, "samples", 1));
    TD_CHECK(whole(r, 1, 1, UINT64_MAX, &m->samples));
    TD_CHECK(expect(r, "error", 1));
    TD_CHECK(real(r, 1, 0, HIGHEST, &m->error));
    TD_CHECK(expect(r, "held-out-error", 1));
    TD_CHECK(real(r, 1, 0, HIGHEST, &m->held_out_error));
    TD_CHECK(expect(r, "cost", 2));
    TD_CHECK(real(r, 1, LOWEST_COST, HIGHEST, &m->least));
    TD_CHECK(real(r, 2, m->least, HIGHEST, &m->most));
    for (int i = 0; i < TD_METRICS; i++) {
        TD_CHECK(expect(r, "metric", 3));
        if (strcmp(r->word[1], td_metric_names[i]) != 0) return wrong(r, r->word[1], td_metric_names[i]);
        TD_CHECK(real(r, 2, 0, HIGHEST, &m->low[i]));
        TD_CHECK(real(r, 3, m->low[i], HIGHEST, &m->high[i]));
    }
    return TD_OK;
}

static td_status read_polynomial(reader *r, td_cost_model *m)
{
    uint64_t degree = 0;
    TD_CHECK(expect(r, "degree", 1));
    TD_CHECK(whole(r, 1, 1, TD_COST_DEGREE, &degree));
    m->degree = (int)degree;
    for (int i = 0; i < td_cost_terms(m->degree); i++) {
        TD_CHECK(expect(r, "weight", 1));
        TD_CHECK(real(r, 1, -HIGHEST, HIGHEST, &m->weight[i]));
    }
    return TD_OK;
}

/* Both parts of a split come behind it, so that a walk ends. */
static td_status read_split(reader *r, td_cost_model *m, int at)
{
    uint64_t low = 0;
    td_cost_node *node = &m->node[at];
    for (node->metric = TD_METRICS - 1; node->metric >= 0; node->metric--)
        if (strcmp(r->word[1], td_metric_names[node->metric]) == 0) break;
    if (node->metric < 0) return wrong(r, r->word[1], "the name of a metric");
    TD_CHECK(real(r, 2, -1, 1, &node->limit));
    TD_CHECK(whole(r, 3, (uint64_t)at + 1, (uint64_t)(m->nodes > 1 ? m->nodes - 2 : 0), &low));
    node->low = (int)low;
    return TD_OK;
}

static td_status read_tree(reader *r, td_cost_model *m)
{
    uint64_t nodes = 0;
    TD_CHECK(expect(r, "nodes", 1));
    TD_CHECK(whole(r, 1, 1, TD_COST_NODES, &nodes));
    m->nodes = (int)nodes;
    for (int i = 0; i < m->nodes; i++) {
        bool ended = false;
        TD_CHECK(next_line(r, &ended));
        if (ended)
            return td_fail(TD_FORMAT, "%s:%d: ends after %d of %d nodes; the file was cut off", r->path, r->number, i,
                           m->nodes);
        if (strcmp(r->word[0], "split") == 0 && r->words == 4) {
            TD_CHECK(read_split(r, m, i));
        } else if (strcmp(r->word[0], "leaf") == 0 && r->words == 2) {
            m->node[i].metric = -1;
            TD_CHECK(real(r, 1, LOWEST_COST, HIGHEST, &m->node[i].seconds));
        } else {
            return wrong(r, r->text, "'split METRIC LIMIT LOW' or 'leaf SECONDS'");
        }
    }
    return TD_OK;
}

/* What follows a model's first line. */
static td_status read_model(reader *r, td_cost_model *out)
{
    TD_CHECK(read_head(r, out));
    TD_CHECK(out->kind == TD_COST_TREE ? read_tree(r, out) : read_polynomial(r, out));
    return expect(r, "end", 0);
}

td_status td_cost_model_read(td_cost_model *out, const char *path)
{
    td_status status = TD_OK;
    reader r;
    bool ended = false;
    memset(out, 0, sizeof *out);
    TD_TRY(open_file(&r, path));
    TD_TRY(version(&r, "tandem-cost-model"));
    TD_TRY(read_model(&r, out));
    TD_TRY(next_line(&r, &ended));
    if (!ended) status = wrong(&r, r.text, "the end of the file");
done:
    close_file(&r);
    return status;
}

static td_status read_models(reader *r, td_cost_models *out)
{
    bool ended = false;
    TD_CHECK(version(r, "tandem-cost-model"));
    for (td_cost_model next; !ended;) {
        memset(&next, 0, sizeof next);
        TD_CHECK(read_model(r, &next));
        td_cost_model *to = &out->of[next.work];
        if (to->samples > 0)
            return td_fail(TD_FORMAT, "%s:%d: the second model of work '%s'; one is allowed", r->path, r->number,
                           td_cost_work_names[next.work]);
        *to = next;
        TD_CHECK(next_line(r, &ended));
        if (ended) return TD_OK;
        if (strcmp(r->word[0], "tandem-cost-model") != 0 || r->words != 2)
            return wrong(r, r->text, "'tandem-cost-model 1' or the end of the file");
        if (strcmp(r->word[1], "1") != 0) return wrong(r, r->word[1], "version 1, the only one there is");
    }
    return TD_OK;
}

td_status td_cost_models_read(td_cost_models *out, const char *path)
{
    td_status status = TD_OK;
    reader r;
    memset(out, 0, sizeof *out);
    TD_TRY(open_file(&r, path));
    TD_TRY(read_models(&r, out));
done:
    close_file(&r);
    return status;
}

static td_status write_model(const td_cost_model *m, td_outfile *file)
{
    char label[TD_COST_LABEL];
    snprintf(label, sizeof label, "%s", m->label);
    for (char *c = label; *c != '\0'; c++)
        if (iscntrl((unsigned char)*c)) *c = ' ';
    TD_CHECK(td_outfile_print(file, "tandem-cost-model 1\nlabel %s\nwork %s\nkind %s\nsamples %llu\n", label,
                              td_cost_work_names[m->work], kind_names[m->kind], (unsigned long long)m->samples));
    TD_CHECK(td_outfile_print(file, "error %.17g\nheld-out-error %.17g\n", m->error, m->held_out_error));
    TD_CHECK(td_outfile_print(file, "cost %.17g %.17g\n", m->least, m->most));
    for (int i = 0; i < TD_METRICS; i++)
        TD_CHECK(td_outfile_print(file, "metric %s %.17g %.17g\n", td_metric_names[i], m->low[i], m->high[i]));
    if (m->kind != TD_COST_TREE) {
        TD_CHECK(td_outfile_print(file, "degree %d\n", m->degree));
        for (int i = 0; i < td_cost_terms(m->degree); i++)
            TD_CHECK(td_outfile_print(file, "weight %.17g\n", m->weight[i]));
    } else {
        TD_CHECK(td_outfile_print(file, "nodes %d\n", m->nodes));
        for (int i = 0; i < m->nodes; i++) {
            const td_cost_node *n = &m->node[i];
            if (n->metric < 0) TD_CHECK(td_outfile_print(file, "leaf %.17g\n", n->seconds));
            else TD_CHECK(td_outfile_print(file, "split %s %.17g %d\n", td_metric_names[n->metric], n->limit, n->low));
        }
    }
    return td_outfile_print(file, "end\n");
}

td_status td_cost_model_write(const td_cost_model *model, const char *path)
{
    td_status status = TD_OK;
    td_outfile *file = NULL;
    TD_TRY(td_outfile_create(&file, path, TD_OUT_TEXT));
    TD_TRY(write_model(model, file));
    TD_TRY(td_outfile_commit(file));
done:
    td_outfile_close(file);
    return status;
}

td_status td_cost_models_write(const td_cost_models *models, const char *path)
{
    td_status status = TD_OK;
    td_outfile *file = NULL;
    TD_TRY(td_outfile_create(&file, path, TD_OUT_TEXT));
    for (int work = 0; work < TD_COST_WORKS; work++)
        if (models->of[work].samples > 0) TD_TRY(write_model(&models->of[work], file));
    TD_TRY(td_outfile_commit(file));
done:
    td_outfile_close(file);
    return status;
}

/* Samples. */

static td_status read_sample(const reader *r, td_cost_sample *out)
{
    if (r->words != TD_METRICS + 3)
        return td_fail(TD_FORMAT, "%s:%d: %d words instead of %d: family, seven metrics, edges, seconds", r->path,
                       r->number, r->words, TD_METRICS + 3);
    if (strlen(r->word[0]) >= sizeof out->family) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "a family of at most %zu characters", sizeof out->family - 1);
        return wrong(r, r->word[0], wanted);
    }
    *out = (td_cost_sample){.edges = 0};
    memcpy(out->family, r->word[0], strlen(r->word[0]));
    for (int m = 0; m < TD_METRICS; m++) TD_CHECK(real(r, 1 + m, 0, m < TD_GINI ? HIGHEST : 1, &out->metrics.value[m]));
    TD_CHECK(real(r, TD_METRICS + 1, 1, 1e18, &out->edges));
    return real(r, TD_METRICS + 2, 1e-12, 1e9, &out->seconds);
}

static td_status read_samples(reader *r, td_cost_sample **samples, uint64_t *count, uint64_t *room)
{
    bool ended = false;
    td_cost_work work = TD_COST_PUSH;
    TD_CHECK(version(r, "tandem-cost-samples"));
    for (;;) {
        TD_CHECK(td_cancel_check());
        TD_CHECK(next_line(r, &ended));
        if (ended) return TD_OK;
        if (r->words == 2 && strcmp(r->word[0], "work") == 0) {
            TD_CHECK(read_work(r, &work));
            continue;
        }
        if (*count == *room) {
            uint64_t more = *room < 512 ? 1024 : 2 * *room;
            TD_CHECK(TD_RESIZE(samples, more, "samples of the cost model"));
            *room = more;
        }
        TD_CHECK(read_sample(r, &(*samples)[*count]));
        (*samples)[*count].work = work;
        ++*count;
    }
}

td_status td_cost_samples_read(td_cost_sample **samples, uint64_t *count, const char *path)
{
    td_status status = TD_OK;
    reader r;
    uint64_t before = *count, room = *samples != NULL ? td_block_bytes(*samples) / sizeof **samples : 0;
    TD_TRY(open_file(&r, path));
    TD_TRY(read_samples(&r, samples, count, &room));
done:
    if (status != TD_OK) *count = before;
    close_file(&r);
    return status;
}

typedef struct text {
    char *bytes;
    uint64_t used, room;
} text;

static td_status add_text(text *to, const char *line, uint64_t length)
{
    if (to->room - to->used < length) {
        uint64_t room = 2 * to->room + length + 4096;
        TD_CHECK(TD_RESIZE(&to->bytes, room, "a log of samples"));
        to->room = room;
    }
    memcpy(to->bytes + to->used, line, length);
    to->used += length;
    return TD_OK;
}

static td_status check_family(const td_cost_sample *s)
{
    for (const char *c = s->family; *c != '\0'; c++)
        if (isspace((unsigned char)*c) || iscntrl((unsigned char)*c))
            return td_fail(TD_INVALID, "the family '%s' of a sample of the cost model is not one word", s->family);
    if (s->family[0] == '\0' || s->family[0] == '#')
        return td_fail(TD_INVALID, "a sample of the cost model has the family '%s'; a word is needed", s->family);
    return TD_OK;
}

static td_status print_samples(text *to, const td_cost_sample *samples, uint64_t count, bool first)
{
    char line[LINE_BYTES];
    if (first) {
        int length = snprintf(line, sizeof line, "tandem-cost-samples 1\n# family");
        for (int m = 0; m < TD_METRICS; m++)
            length += snprintf(line + length, sizeof line - (size_t)length, " %s", td_metric_names[m]);
        length += snprintf(line + length, sizeof line - (size_t)length, " edges seconds\n");
        TD_CHECK(add_text(to, line, (uint64_t)length));
    }
    for (uint64_t i = 0; i < count; i++) {
        const td_cost_sample *s = &samples[i];
        int length = 0;
        TD_CHECK(check_family(s));
        td_cost_work before = i > 0 ? s[-1].work : first ? TD_COST_PUSH : TD_COST_WORKS; /* what a reader takes it for */
        if (s->work != before) length = snprintf(line, sizeof line, "work %s\n", td_cost_work_names[s->work]);
        length += snprintf(line + length, sizeof line - (size_t)length, "%s", s->family);
        for (int m = 0; m < TD_METRICS; m++)
            length += snprintf(line + length, sizeof line - (size_t)length, " %.17g", s->metrics.value[m]);
        length += snprintf(line + length, sizeof line - (size_t)length, " %.17g %.17g\n", s->edges, s->seconds);
        TD_CHECK(add_text(to, line, (uint64_t)length));
    }
    return TD_OK;
}

td_status td_cost_samples_write(const td_cost_sample *samples, uint64_t count, const char *path)
{
    td_status status = TD_OK;
    td_outfile *file = NULL;
    text all = {0};
    TD_TRY(print_samples(&all, samples, count, true));
    TD_TRY(td_outfile_create(&file, path, TD_OUT_TEXT));
    TD_TRY(td_outfile_write(file, all.bytes, all.used));
    TD_TRY(td_outfile_commit(file));
done:
    td_outfile_close(file);
    td_free(all.bytes);
    return status;
}

/* One write, so that the lines of several processes do not mix. */
static td_status append(int file, const text *all, const char *path)
{
    ssize_t written = write(file, all->bytes, all->used);
    if (written < 0) return td_fail_errno(TD_IO, errno, "cannot append to %s", path);
    if ((uint64_t)written == all->used) return TD_OK;
    return td_fail(TD_IO, "%s: only %zd of %llu bytes were appended; is the disk full?", path, written,
                   (unsigned long long)all->used);
}

td_status td_cost_samples_append(const td_cost_sample *samples, uint64_t count, const char *path)
{
    td_status status = TD_OK;
    text all = {0};
    struct stat about;
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return td_fail_errno(TD_IO, errno, "cannot open %s", path);
    bool first = fstat(file, &about) == 0 && about.st_size == 0;
    TD_TRY(print_samples(&all, samples, count, first));
    status = append(file, &all, path);
done:
    close(file);
    td_free(all.bytes);
    return status;
}
