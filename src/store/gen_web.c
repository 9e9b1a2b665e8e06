/* A web of hosts and pages, after the copying model (Kumar et al., FOCS 2000).
 *
 * Pages are numbered host by host, as a crawl sorted by address is; sizes of
 * hosts follow a power law. A page has a prototype among the pages just before
 * it and copies about half of its links; a fresh link goes to a page near by on
 * the same host or the index of its directory, to one of the host's front pages,
 * or to a front page of another host, popular ones first. Out-degrees follow a power law too, some pages have
 * no links at all, and some hosts are archives, long chains of "next" that make
 * a search take many steps for few pages.
 *
 * A page's list is a function of (seed, page): to copy a link, the prototype's link is
 * drawn again rather than looked up, at most COPIES times in a row.
 * Only square roots, no powers, so that every machine draws the same graph.
 */
#include "store/gen_fill.h"

#include "base/random.h"
#include "store/shuffle.h"

#include <math.h>

enum {
    PAGES_PER_HOST = 128,
    COPIES = 6,          /* depth to which prototypes of prototypes are followed */
    REACH = 16,          /* a prototype is one of this many preceding pages */
    MOST_LINKS = 65535,  /* limit per page */
    SINKS_IN_16 = 1,     /* pages that cannot have links; others may have none by chance */
    ARCHIVE_EVERY = 32,  /* one of that many hosts is an archive */
    ARCHIVE_RUN = 128,   /* pages in a chain */
    GRAIN = 1 << 14,     /* pages per chunk */
    NEAR_IN_128 = 80, FRONT_IN_128 = 16, /* of fresh links; the rest leave the host */
};

enum { DEGREES = 1, LINKS, PROTOTYPES, HOSTS, ARCHIVES, POPULARITY }; /* streams of the seed */

typedef struct web {
    uint32_t hosts;
    uint32_t *first; /* page of each host, and one past the last */
    double mean_links; /* of a page that may have some */
    uint64_t degrees, links, prototypes, archives;
    td_shuffle popularity;
} web;

/* In (0, 1]. */
static double unit(uint64_t random) { return (double)((random >> 11) + 1) * 0x1p-53; }

/* A rank below `count`; the probability falls as rank^(-3/4). */
static uint64_t front_heavy(uint64_t random, uint64_t count)
{
    double u = td_random_unit(random), u2 = u * u;
    return (uint64_t)(u2 * u2 * (double)count);
}

/* Excludes hosts so large that their chains would dominate the web. */
static bool is_archive(const web *model, uint32_t host)
{
    uint32_t pages = model->first[host + 1] - model->first[host];
    return pages <= model->first[model->hosts] / 64 && td_random_at(model->archives, host) % ARCHIVE_EVERY == 0;
}

/* A Pareto law of exponent 2 that begins at 0, rounded up or down so that the
 * mean is kept. */
static uint32_t ordinary_links(const web *model, uint64_t page)
{
    uint64_t random = td_random_at(model->degrees, page);
    if ((random & 15) < SINKS_IN_16) return 0;
    double links = model->mean_links * (1 / sqrt(unit(random)) - 1) + (double)(random >> 4 & 127) / 128;
    return links < MOST_LINKS ? (uint32_t)links : MOST_LINKS;
}

typedef struct place {
    uint32_t host, begin, end; /* its pages */
    bool archive;
} place;

static place place_of_host(const web *model, uint32_t host)
{
    return (place){host, model->first[host], model->first[host + 1], is_archive(model, host)};
}

static place place_of_page(const web *model, uint64_t page)
{
    uint32_t low = 0, high = model->hosts;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (model->first[middle] <= page) low = middle;
        else high = middle;
    }
    return place_of_host(model, low);
}

/* Chains are entered at their beginning. */
static uint32_t front_page(const place *at, uint64_t random)
{
    uint32_t rank = (uint32_t)front_heavy(random, at->end - at->begin);
    return at->begin + (at->archive ? rank / ARCHIVE_RUN * ARCHIVE_RUN : rank);
}

/* Distances of every order of magnitude are equally likely. The host must have other pages. */
static uint32_t near_page(const place *at, uint32_t page, uint64_t random)
{
    uint32_t size = at->end - at->begin, orders = 32 - (uint32_t)__builtin_clz(size - 1);
    uint32_t order = (uint32_t)td_random_below(random << 32, orders), one = UINT32_C(1) << order;
    uint32_t distance = one | ((uint32_t)(random >> 32) & (one - 1));
    if (distance >= size) distance = size - 1;
    uint32_t forward = at->end - page, back = page - at->begin;
    if (random & 1) return distance < forward ? page + distance : page - (distance <= back ? distance : back);
    return distance <= back ? page - distance : page + (distance < forward ? distance : forward - 1);
}

/* With probability 3/4 a link moves from a page to the index page of its directory, and
 * again from there upwards (directories of two pages, of four, ...). In-degrees then
 * follow a power law. */
static uint32_t index_page(const place *at, uint32_t page, uint64_t random)
{
    uint64_t up = (random | random >> 32) & UINT32_MAX; /* a bit is set three times out of four */
    int levels = __builtin_ctzll(~up);
    uint32_t position = page - at->begin;
    return at->begin + (levels < 32 ? position >> levels << levels : 0);
}

static uint32_t fresh_link(const web *model, const place *at, uint32_t page, uint64_t random)
{
    uint64_t kind = random >> 57, more = td_mix64(random);
    if (at->end - at->begin > 1) {
        if (kind < NEAR_IN_128 && !at->archive)
            return index_page(at, near_page(at, page, more), td_mix64(more));
        if (kind < NEAR_IN_128 + FRONT_IN_128) return front_page(at, more);
    }
    uint32_t rank = (uint32_t)front_heavy(more, model->hosts);
    place there = place_of_host(model, td_shuffle_at(&model->popularity, rank));
    return front_page(&there, td_mix64(more));
}

/* A page, its prototype, the prototype's prototype, ... and the number of links of each. */
typedef struct ancestry {
    uint32_t page[COPIES + 1], links[COPIES + 1];
    int known;
} ancestry;

static void look_back(const web *model, const place *at, ancestry *line)
{
    uint32_t page = line->page[line->known - 1], before = page - at->begin;
    uint64_t random = td_random_at(model->prototypes, page);
    uint32_t prototype = page - 1 - (uint32_t)td_random_below(random, before < REACH ? before : REACH);
    line->page[line->known] = prototype;
    line->links[line->known++] = ordinary_links(model, prototype);
}

static uint32_t link_at(const web *model, const place *at, ancestry *line, uint32_t index)
{
    for (int level = 0;; level++) {
        uint32_t page = line->page[level];
        uint64_t random = td_random_at(model->links, (uint64_t)page << 16 | index);
        if (random % 2 == 0 || level == COPIES || page == at->begin) return fresh_link(model, at, page, random);
        if (line->known == level + 1) look_back(model, at, line);
        if (index >= line->links[level + 1]) return fresh_link(model, at, page, random);
    }
}

/* In an archive every page but the first links to the next of its chain and to the first. */
static bool chained(const place *at, uint64_t page) { return at->archive && page > at->begin; }

static bool has_next(const place *at, uint64_t page)
{
    return page + 1 < at->end && (page + 1 - at->begin) % ARCHIVE_RUN != 0;
}

static uint32_t links_of(const web *model, const place *at, uint64_t page)
{
    return chained(at, page) ? 1 + (uint32_t)has_next(at, page) : ordinary_links(model, page);
}

static void emit_page(const web *model, const place *at, uint32_t page, td_edge_chunk *chunk)
{
    if (chained(at, page)) {
        if (has_next(at, page)) td_gen_put(chunk, page, page + 1);
        td_gen_put(chunk, page, at->begin);
        return;
    }
    uint32_t links = ordinary_links(model, page);
    ancestry line = {.page = {page}, .links = {links}, .known = 1};
    for (uint32_t i = 0; i < links; i++) td_gen_put(chunk, page, link_at(model, at, &line, i));
}

static uint64_t web_room(const td_gen_job *job, uint64_t begin, uint64_t end)
{
    const web *model = job->model;
    place at = place_of_page(model, begin);
    uint64_t room = 0;
    for (uint64_t page = begin; page < end; page++) {
        if (page == at.end) at = place_of_host(model, at.host + 1);
        room += links_of(model, &at, page);
    }
    return room;
}

static void emit_web(const td_gen_job *job, uint64_t begin, uint64_t end, td_edge_chunk *chunk)
{
    const web *model = job->model;
    place at = place_of_page(model, begin);
    for (uint64_t page = begin; page < end; page++) {
        if (page == at.end) at = place_of_host(model, at.host + 1);
        emit_page(model, &at, (uint32_t)page, chunk);
    }
}

/* Divides the pages among hosts by a Pareto law of exponent 4/3; at least one page each. */
static td_status divide_pages(const td_gen_spec *spec, web *model, uint64_t pages)
{
    uint64_t stream = td_gen_stream(spec, HOSTS);
    double *below = NULL, sum = 0;
    TD_CHECK(TD_NEW(&below, model->hosts, "host sizes"));
    for (uint32_t host = 0; host < model->hosts; host++) {
        double root = sqrt(unit(td_random_at(stream, host)));
        below[host] = sum;
        sum += 1 / (root * sqrt(root));
    }
    for (uint32_t host = 0; host < model->hosts; host++)
        model->first[host] = host + (uint32_t)((double)(pages - model->hosts) * (below[host] / sum));
    model->first[model->hosts] = (uint32_t)pages;
    td_free(below);
    return TD_OK;
}

static uint64_t hosts_of(const td_gen_spec *spec, uint64_t pages)
{
    if (spec->hosts != 0) return spec->hosts;
    return pages < PAGES_PER_HOST ? 1 : pages / PAGES_PER_HOST;
}

td_status td_gen_web_size(const td_gen_spec *spec, td_gen_size *size)
{
    TD_CHECK(td_gen_vertices(spec, &size->vertices));
    if (spec->hosts > size->vertices)
        return td_fail(TD_INVALID, "web: {hosts} %llu is above the number of pages, %llu",
                       (unsigned long long)spec->hosts, (unsigned long long)size->vertices);
    if (spec->degree > MOST_LINKS / 16)
        return td_fail(TD_LIMIT, "web: {degree} %g is above %d", spec->degree, MOST_LINKS / 16);
    return td_gen_edges(spec, size->vertices, 16, &size->edges);
}

td_status td_gen_web_fill(const td_gen_spec *spec, td_edge_list *edges, td_pool *pool)
{
    td_status status = TD_OK;
    td_gen_size size;
    web model = {.degrees = td_gen_stream(spec, DEGREES), .links = td_gen_stream(spec, LINKS),
                 .prototypes = td_gen_stream(spec, PROTOTYPES), .archives = td_gen_stream(spec, ARCHIVES)};
    TD_TRY(td_gen_check(spec, &size));
    model.hosts = (uint32_t)hosts_of(spec, size.vertices);
    model.mean_links = (spec->degree != 0 ? spec->degree : 16) * 16 / (16 - SINKS_IN_16);
    model.popularity = td_shuffle_of(td_gen_stream(spec, POPULARITY), model.hosts);
    TD_TRY(TD_NEW(&model.first, (uint64_t)model.hosts + 1, "hosts"));
    TD_TRY(divide_pages(spec, &model, size.vertices));
    td_gen_job job = {.spec = spec, .vertices = size.vertices, .items = size.vertices, .grain = GRAIN, .model = &model,
                      .room = web_room, .emit = emit_web};
    TD_TRY(td_gen_fill(&job, edges, pool));
done:
    td_free(model.first);
    return status;
}
