# Traces in Chrome's format, strictly: every event has what its phase needs, slices of a track nest, every track has a
# name, counters are the report's figures, and every device has a track.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || { echo 'skip: there is no python3'; exit 77; }

cat >check.py <<'END'
import json, math, sys
trace, report = (json.load(open(name), parse_constant=lambda c: sys.exit(f"{c} is no JSON")) for name in sys.argv[1:3])
assert trace["displayTimeUnit"] in ("ms", "ns")
slices, names, counters = {}, {}, {}

def number(value):
    return type(value) in (int, float) and math.isfinite(value)

for event in trace["traceEvents"]:
    phase = event["ph"]
    assert type(event["name"]) is str and event["name"], event
    assert type(event["pid"]) is int and type(event["tid"]) is int and type(event["args"]) is dict, event
    keys = {"name", "ph", "pid", "tid", "args"} | {"X": {"ts", "dur"}, "C": {"ts"}, "M": set()}[phase]
    assert set(event) == keys, event
    assert phase == "M" or number(event["ts"]) and event["ts"] >= 0, event
    if phase == "X":
        assert number(event["dur"]) and event["dur"] >= 0, event
        slices.setdefault(event["tid"], []).append(event)
    elif phase == "C":
        assert event["args"] and all(number(v) and v >= 0 for v in event["args"].values()), event
        counters.setdefault(event["name"], []).append(event)
    else:
        assert event["name"] in ("process_name", "thread_name") and set(event["args"]) == {"name"}, event
        if event["name"] == "thread_name":
            assert event["tid"] not in names, event
            names[event["tid"]] = event["args"]["name"]

for track, events in slices.items():
    assert track in names, (track, "has no name")
    open_ends = []
    for event in sorted(events, key=lambda e: (round(e["ts"] * 1000), -e["dur"])):
        begin, end = round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)
        assert abs(begin - event["ts"] * 1000) < 1e-3 and abs(end - (event["ts"] + event["dur"]) * 1000) < 1e-3, event
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1], (names[track], event, "overlaps", open_ends[-1])  # or Perfetto drops it
        open_ends.append(end)

rows = report["rows"]
for name, key in (("active vertices", "active_vertices"), ("edges processed", "edges")):
    found = counters[name]
    assert [e["ts"] for e in found] == sorted(e["ts"] for e in found)
    assert [list(e["args"].values()) for e in found] == [[r[key]] for r in rows] + [[0]], name
moved = ("bytes_whole", "bytes_extracted", "bytes_direct", "bytes_synchronised", "bytes_exchanged", "disk_bytes")
bytes_of = [sum(r.get(k, 0) for k in moved) for r in rows]
assert [e["args"]["moved"] for e in counters.get("bytes moved", [])] == (bytes_of + [0] if any(bytes_of) else [])
for row, event in zip(rows, counters.get("bytes moved", [])):
    assert event["args"].get("useful", 0) == row.get("bytes_useful", 0)

# One track per device, with a slice per iteration that is no longer than it.
tracks = {name: track for track, name in names.items()}
for i, device in enumerate(report["devices"]):
    done = slices[tracks[device["name"]]]
    assert [e["name"] for e in done] == [f"{r['number']} {r['direction']}" for r in rows], device
    for row, event in zip(rows, done):
        assert event["dur"] <= row["seconds"] * 1e6 + 0.01
        if row.get("busy"):
            assert event["args"]["measured"]
            assert abs(event["dur"] - min(row["busy"][i], row["seconds"]) * 1e6) < 0.01, (row, event)
if len(sys.argv) > 3:
    assert any(sum(r.get(sys.argv[3], [0])) for r in rows), f"no row has {sys.argv[3]}: the test needs another graph"
END

check() { # NAME OPTIONS: a run with a trace, and what the trace must be
    local name=$1
    shift
    succeeds run "$@" --json report.json --trace trace.json --quiet --verify
    if python3 check.py trace.json report.json ${need:-} >.check 2>&1; then good
    else bad "$name: $(tail -n 1 .check)"; fi
}

succeeds gen rmat --scale 8 --degree 8 --weights 1:63 -o g.tg
check cpu sssp g.tg --source 1
check 'an order' wcc g.tg --order indegree
check resident bfs g.tg --source 1 --engine resident --devices emu:1
check stream sssp g.tg --source 1 --engine stream --devices emu:1 --gpu-edges 25% --set stream.variant=hvsp
check coop pagerank g.tg --engine coop --devices emu:1 --gpu-edges 40% --iterations 4
check hybrid pagerank g.tg --engine hybrid --iterations 3
need=busy check multi pagerank g.tg --engine multi --devices emu:3 --iterations 3 --set multi.t1=0 --set multi.t2=0
finish
