"""Independent references in plain Python, and graphs to compare on."""

import heapq
import random


def drawn(seed, vertices=60, edges=240):
    """Sources, targets and whole weights of a random graph."""
    draw = random.Random(seed)
    ends = [(draw.randrange(vertices), draw.randrange(vertices)) for _ in range(edges)]
    return [a for a, _ in ends], [b for _, b in ends], [draw.randrange(1, 20) for _ in ends]


def rows(vertices, source, target, weight=None):
    out = [[] for _ in range(vertices)]
    for i, (a, b) in enumerate(zip(source, target)):
        out[a].append((b, 1 if weight is None else weight[i]))
    return out


def distances(out, start):
    """Dijkstra's algorithm; None: not reached."""
    found, heap = [None] * len(out), [(0, start)]
    while heap:
        length, v = heapq.heappop(heap)
        if found[v] is not None:
            continue
        found[v] = length
        for w, step in out[v]:
            if found[w] is None:
                heapq.heappush(heap, (length + step, w))
    return found


def components(vertices, source, target):
    """The lowest vertex of each one's component."""
    above = list(range(vertices))

    def root(v):
        while above[v] != v:
            v = above[v]
        return v
    for a, b in zip(source, target):
        a, b = root(a), root(b)
        above[max(a, b)] = min(a, b)
    return [root(v) for v in range(vertices)]


def pagerank(vertices, source, target, damping=0.85, rounds=200):
    degree = [0] * vertices
    for a in source:
        degree[a] += 1
    rank = [1 / vertices] * vertices
    for _ in range(rounds):
        fresh = [(1 - damping) / vertices + damping * sum(r for r, d in zip(rank, degree) if d == 0) / vertices] * vertices
        for a, b in zip(source, target):
            fresh[b] += damping * rank[a] / degree[a]
        rank = fresh
    return rank


def forest_weight(vertices, source, target, weight):
    above, total = list(range(vertices)), 0

    def root(v):
        while above[v] != v:
            v = above[v]
        return v
    for w, a, b in sorted(zip(weight, source, target)):
        a, b = root(a), root(b)
        if a != b:
            above[a] = b
            total += w
    return total
