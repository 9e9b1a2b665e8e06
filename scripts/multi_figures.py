"""Measures and prints the figures of scripts/multi_figures.sh."""
import json
import os
import subprocess
import sys
import tempfile

TANDEM = os.environ.get("TANDEM", "build/tandem")
FIGURES = os.environ.get("FIGURES", "6 8 9 10 11 IV").split()
PROGRAMS = os.environ.get("PROGRAMS", "bfs sssp pagerank").split()
COUNTS = [int(n) for n in os.environ.get("GPUS", "1 2 4 8").split()]
ITERATIONS = os.environ.get("ITERATIONS", "10")
SETTINGS = os.environ.get("SETTINGS", "").split()
EXACT = int(os.environ.get("EDGES", "50000"))  # of an iteration whose division is judged by exact costs
KINDS = os.environ.get("COSTS", "exact model measured uniform").split()
LARGE = 2_000_000  # edges of the iterations in which the paper's GPUs are idle for less than 4%
PARTS = ["computing", "waiting", "packing", "deciding"]


def fail(text):
    sys.exit("multi_figures: " + text)


class Machine:
    def __init__(self, devices):
        self.devices = devices
        self.emulated = devices.startswith("emu")
        self.gpus = self.count(devices)

    @staticmethod
    def count(devices):
        if "," in devices:
            return len(devices.split(","))
        if "/" in devices.split("@")[0]:
            return int(devices.split("@")[0].split("/")[1])
        return int(devices.split("@")[0].split(":")[1])

    def some(self, n):
        """The first n of the GPUs."""
        if n == self.gpus:
            return self.devices
        if self.emulated:
            return "emu:%d%s" % (n, self.devices[self.devices.index("@"):] if "@" in self.devices else "")
        if "," in self.devices:
            return ",".join(self.devices.split(",")[:n])
        return ",".join("%s#%d" % (self.devices, i) for i in range(n))


class Bench:
    def __init__(self, machine, graph, folder):
        self.machine, self.graph, self.folder = machine, graph, folder
        self.digests, self.seen = {}, {}
        self.file = graph
        if not os.path.exists(graph):
            self.file = os.path.join(folder, graph + ".tg")
            weights = ["--weights", "1:100"]
            self.call(["gen", graph, "-o", self.file] + weights)
        self.source = self.busiest()

    def call(self, words):
        done = subprocess.run([TANDEM] + words + ["--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            fail("tandem %s: %s" % (" ".join(words), done.stderr.strip()))
        return done.stdout

    def busiest(self):
        name = os.path.join(self.folder, "info.json")
        self.call(["info", self.file, "--json", name])
        with open(name) as file:
            text = json.load(file)
        return text["out_degrees"]["max_vertex"]

    def run(self, program, gpus, settings, repeat=1):
        """One run's report; on a real device the last of three, whose graph is there."""
        repeat = repeat if self.machine.emulated else 3
        key = (program, gpus, tuple(settings))
        if key in self.seen:
            return self.seen[key]
        name = os.path.join(self.folder, "run.json")
        words = ["run", program, self.file, "--engine", "multi", "--devices", self.machine.some(gpus), "--json", name]
        if program in ("bfs", "sssp"):
            words += ["--source", str(self.source)]
        if program == "pagerank":
            words += ["--iterations", ITERATIONS]
        words += ["--repeat", str(repeat)]
        for setting in ["multi.breakdown=on"] + SETTINGS + settings:
            words += ["--set", setting]
        self.call(words)
        with open(name) as file:
            report = json.load(file)
        self.check(program, report)
        self.seen[key] = report
        return report

    def check(self, program, report):
        """bfs and sssp: the cpu engine's result bit by bit."""
        if program not in ("bfs", "sssp"):
            return
        if program not in self.digests:
            name = os.path.join(self.folder, "cpu.json")
            self.call(["run", program, self.file, "--engine", "cpu", "--source", str(self.source), "--json", name])
            with open(name) as file:
                self.digests[program] = json.load(file)["result"]["digest"]
        if report["result"]["digest"] != self.digests[program]:
            fail("%s on %s: another result than the cpu engine's" % (program, self.graph))

    def seconds(self, report):
        return report["device"]["seconds"] if self.machine.emulated else report["seconds"]


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def us(seconds):
    return "%.0f" % (seconds * 1e6)


def figure_6(bench):
    """Time and its parts over numbers of GPUs."""
    print("Figure 6, %s: us of a run, its parts, and how often one GPU's time that is\n" % bench.graph)
    rows = []
    for program in PROGRAMS:
        alone = None
        for n in [g for g in COUNTS if g <= bench.machine.gpus]:
            report = bench.run(program, n, [])
            parts = {p: sum(r[p + "_seconds"] for r in report["rows"]) for p in PARTS}
            whole = bench.seconds(report) if n == 1 and sum(parts.values()) == 0 else sum(parts.values())
            alone = alone or whole
            rows.append([program, str(n), us(whole)] + [us(parts[p]) for p in PARTS] + ["%.2f" % (alone / whole)])
    table(["", "GPUs", "us", "computing", "communication and starvation", "packing", "deciding", "speed-up"], rows)


def busiest_row(report):
    timed = [r for r in report["rows"] if len(r["load"]) > 0]
    return max(timed, key=lambda r: r["longest_seconds"]) if timed else None


def figure_8(bench):
    """Time of the GPUs in the longest iteration, without and with stealing."""
    print("Figure 8, %s: the longest iteration, us of every GPU, thousands of edges that were stolen, and how idle the GPUs "
          "were\n" % bench.graph)
    rows, n = [], bench.machine.gpus
    for program in PROGRAMS:
        for name, setting in (("off", ["multi.stealing=off", "multi.steal_edges=1"]), ("on", ["multi.steal_edges=1"]),
                              ("always", ["multi.t1=0", "multi.t2=0"])):
            row = busiest_row(bench.run(program, n, setting))
            if row is None:
                continue
            rows.append([program, name] + [us(b) for b in row["busy"]] +
                        ["%.0f" % (row["edges_stolen"] / 1e3), "%.0f%%" % (100 * row["idle_share"]), row["steal"]])
    table(["", "stealing"] + ["GPU %d" % j for j in range(n)] + ["stolen", "idle", ""], rows)


def figure_9(bench):
    """Time of an iteration with the number of GPUs that take part."""
    print("Figure 9, %s: us of a small iteration by the number of GPUs that own fragments, the host launching it\n" % bench.graph)
    rows = []
    for program in [p for p in PROGRAMS if p != "pagerank"]:
        for n in range(1, bench.machine.gpus + 1):
            report = bench.run(program, n, ["multi.loop_edges=0", "multi.ownership=off"])
            small = [r for r in report["rows"] if r["edges"] <= 65536]
            if not small:
                continue
            spent = sum(sum(r[p + "_seconds"] for p in PARTS) for r in small) / len(small)
            rows.append([program, str(n), str(len(small)), "%.1f" % (spent * 1e6),
                         "%.1f" % (sum(r["operations"] for r in small) / len(small))])
    table(["", "GPUs", "iterations", "us", "operations of the host"], rows)


def figure_10(bench):
    """The techniques one by one."""
    steps = [("none", ["multi.stealing=off", "multi.ownership=off", "multi.loop_edges=0", "multi.queue_edges=0"]),
             ("queues", ["multi.stealing=off", "multi.ownership=off", "multi.loop_edges=0"]),
             ("ownership stealing", ["multi.stealing=off", "multi.loop_edges=0"]),
             ("frontier stealing", ["multi.loop_edges=0"]), ("loops without the host", [])]
    print("Figure 10, %s: us, with one technique after another\n" % bench.graph)
    rows = []
    for program in PROGRAMS:
        whole = [bench.seconds(bench.run(program, bench.machine.gpus, strip(program, s))) for _, s in steps]
        rows.append([program] + [us(w) for w in whole] + ["%.2f" % (whole[0] / whole[-1])])
    table([""] + [name for name, _ in steps] + ["gain"], rows)


def strip(program, settings):
    """Without settings that the program does not use."""
    unused = ("multi.ownership", "multi.loop_edges", "multi.queue_edges") if program == "pagerank" else ()
    return [s for s in settings if not s.startswith(unused)] if unused else settings


def figure_11(bench):
    """Partitioners, with and without both kinds of stealing."""
    print("Figure 11, %s: us by partitioner, without and with stealing of frontiers and ownership\n" % bench.graph)
    rows = []
    for program in PROGRAMS:
        for kind in ("seg", "random", "metis"):
            setting = ["multi.partition=" + kind]
            try:
                off = bench.seconds(bench.run(program, bench.machine.gpus,
                                              strip(program, setting + ["multi.stealing=off", "multi.ownership=off"])))
                on = bench.seconds(bench.run(program, bench.machine.gpus, setting))
            except SystemExit as problem:
                if kind == "metis":
                    continue
                raise problem
            rows.append([program, kind, us(off), us(on), "%.2f" % (off / on)])
    table(["", "partitioner", "off", "on", "gain"], rows)


def table_iv(bench):
    """What deciding costs, and what it saves."""
    print("Table IV, %s: decisions of a run: us of the host, their share of the run, and what stealing saved over it; "
          "idle share in iterations above 2 M edges\n" % bench.graph)
    rows = []
    for program in PROGRAMS:
        n = bench.machine.gpus
        on, off = bench.run(program, n, []), bench.run(program, n, strip(program, ["multi.stealing=off", "multi.ownership=off"]))
        cost = sum(r["decide_seconds"] for r in on["rows"])
        saved = bench.seconds(off) - bench.seconds(on)
        large = [r for r in on["rows"] if r["edges"] >= LARGE and r["longest_seconds"] > 0]
        all_time = sum(r["longest_seconds"] for r in large)
        idle = sum(r["idle_share"] * r["longest_seconds"] for r in large)
        rows.append([program, str(len(on["rows"])), "%.0f" % (cost * 1e6), "%.1f" % (cost / len(on["rows"]) * 1e6),
                     "-" if bench.machine.emulated else "%.1f%%" % (100 * cost / bench.seconds(on)), us(saved),
                     "%.1f" % (saved / cost if cost > 0 else 0), "%.1f%%" % (100 * idle / all_time) if large else "-"])
    table(["", "iterations", "deciding, us", "an iteration, us", "of the run", "saved, us", "saved over cost", "idle"], rows)


def links(machine):
    """Bytes a second between the GPUs of an emulated machine, from its topology."""
    name = machine.devices.split("@")[1] if "@" in machine.devices else ""
    if "/" not in name:
        name = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "share", "topologies", name + ".topology")
    rates = {}
    with open(name) as file:
        for words in (line.split() for line in file):
            if len(words) > 3 and words[0] == "link":
                rate = float(words[3].replace("GB/s", "")) * 1e9
                rates[int(words[1]), int(words[2])] = rates[int(words[2]), int(words[1])] = rate
    return rates


def makespan(rows, exact, n, rates, edge_bytes):
    """Seconds of the divisions by what edges cost in fact, in the iterations that `exact` knows."""
    whole = 0
    for number, costs in exact.items():
        share = rows[number]["share"]
        whole += max(sum(share[i * n + j] * (costs[i] + (edge_bytes / rates[i, j] if i != j and share[i * n + j] > 0 else 0))
                         for i in range(n)) for j in range(n))
    return whole


def costs(bench):
    """Divisions by different costs of edges, all judged by what edges cost where nothing is stolen."""
    print("Costs of edges, %s: us of the longest GPU in iterations above %d thousand edges: by the divisions and what edges cost "
          "where nothing is stolen (without what a steal costs beside its edges), and as it was\n" % (bench.graph, EXACT // 1000))
    rows, n, rates = [], bench.machine.gpus, links(bench.machine)
    for program in PROGRAMS:
        common = strip(program, ["multi.loop_edges=0", "multi.ownership=off"]) + (["multi.direction=push"] if program == "bfs" else [])
        steal = common + ["multi.t1=0", "multi.t2=0"]
        off = bench.run(program, n, common + strip(program, ["multi.stealing=off", "multi.steal_edges=1", "multi.queue_edges=0"]))["rows"]
        exact = {r["number"]: [b / l if l > 0 else 0 for b, l in zip(r["busy"], r["load"])] for r in off
                 if r["active_edges"] >= EXACT and len(r["load"]) > 0}
        edge_bytes = 4 + (1 if program == "sssp" else 0) + 16 * len(exact) / max(1, sum(
            r["active_edges"] / max(1, r["active_vertices"]) for r in off if r["number"] in exact))
        best = 0
        rows.append([program, "none", str(len(exact)), us(makespan(off, exact, n, rates, edge_bytes)), "",
                     us(sum(off[k]["longest_seconds"] for k in exact))])
        for name in KINDS:
            got = bench.run(program, n, steal + ["multi.cost=" + name], 2)["rows"]
            same = {k: v for k, v in exact.items() if k < len(got) and got[k]["load"] == off[k]["load"]}
            judged = makespan(got, same, n, rates, edge_bytes)
            if name == "exact":
                best = judged
            rows.append([program, name, str(len(same)), us(judged), "%.2f" % (best / judged if judged > 0 else 0),
                         us(sum(got[k]["longest_seconds"] for k in same))])
    table(["", "costs", "iterations", "longest GPU", "exact over it", "as it was"], rows)


def main():
    if len(sys.argv) < 3:
        fail("usage: multi_figures.sh DEVICES GRAPH [GRAPH ...]")
    machine = Machine(sys.argv[1])
    figures = {"6": figure_6, "8": figure_8, "9": figure_9, "10": figure_10, "11": figure_11, "IV": table_iv, "costs": costs}
    with tempfile.TemporaryDirectory() as folder:
        for graph in sys.argv[2:]:
            bench = Bench(machine, graph, folder)
            for name in FIGURES:
                if name not in figures:
                    fail("FIGURES: '%s' is none of %s" % (name, " ".join(figures)))
                figures[name](bench)
                sys.stdout.flush()


main()
