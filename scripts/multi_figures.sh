#!/bin/bash
# The figures of the multi engine that GUM (ICDE'23) has, as Markdown: Figures 6, 8, 9, 10, 11 and Table IV, on any
# devices; "costs", on emulated ones, judges divisions by what edges cost in fact. Times are virtual on emulated devices,
# and the run's otherwise; every result is compared with the cpu engine's.
#
#     scripts/multi_figures.sh DEVICES GRAPH [GRAPH ...]      names of GRAPHs as for `tandem gen`, or files
#
#     scripts/multi_figures.sh emu:8@dgx1 k16 web16
#     scripts/multi_figures.sh cuda:0/8 k25 web24
#
# TANDEM: the tool (default: build/tandem). FIGURES: which ones (default: "6 8 9 10 11 IV"). PROGRAMS: (default: bfs sssp
# pagerank). ITERATIONS: of pagerank (default: 10). GPUS: numbers of GPUs of Figure 6 (default: 1 2 4 8). EDGES: of iterations that
# "costs" judges (default: 50000). COSTS: which ones (default: exact model measured uniform). SETTINGS: further settings of all runs.
set -euo pipefail
exec python3 "$(dirname "$0")/multi_figures.py" "$@"
