"""NetworkX's own test suite through its harness, with Tandem as the backend: nx_suite.py COUNTS VERSION

VERSION is the NetworkX that is wanted: 3.4 is any 3.4.x, 3.6+ is 3.6 or a later one; with another nothing is run.
Every test that Tandem takes part in passes, or is on the list below with its reason. COUNTS gets the calls of every
function as JSON, COUNTS.txt in words; a function of the table that was never called is a failure.
"""

import importlib.metadata
import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

#: Tests that may fail, and why; at most ten.
ALLOWED: dict = {
    name: "prints cycles as another of several shortest paths by weight would not begin them; the cycles are the same"
    for name in ("TestMinimumCycleBasis.test_unweighted_diamond", "TestMinimumCycleBasis.test_weighted_diamond",
                 "TestMinimumCycleBasis.test_petersen_graph",
                 "TestMinimumCycleBasis.test_gh6787_and_edge_attribute_names")
}


def wanted(version, rule):
    """Whether a version of NetworkX is one that was asked for."""
    found, least = (tuple(map(int, re.match(r"(\d+)\.(\d+)", text).groups())) for text in (version, rule))
    return found >= least if rule.endswith("+") else found == least


def main(counts, rule):
    version = importlib.metadata.version("networkx")
    if not wanted(version, rule):
        print(f"NetworkX {rule} is wanted, and this is {version}")
        return 1
    with tempfile.NamedTemporaryFile(suffix=".xml") as report:
        subprocess.run([sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-p", "nx_counts",
                        "--nx-counts", counts, f"--junit-xml={report.name}", "--pyargs", "networkx"])
        cases = [case for case in xml.parse(report.name).iter("testcase")]
    bad = [f"{case.get('classname')}.{case.get('name')}" for case in cases
           if case.find("failure") is not None or case.find("error") is not None]
    unknown = [name for name in bad if not any(name.endswith(allowed) for allowed in ALLOWED)]
    with open(counts) as file:
        found = json.load(file)
    assert wanted(found["networkx"], rule), found["networkx"]  # what pytest imported
    from tandem_networkx import FUNCTIONS
    never = [name for name in FUNCTIONS if not found["calls"].get(name)]
    words = (f"NetworkX {found['networkx']}: {len(cases)} tests, {len(bad)} failed ({len(unknown)} not on the list), "
             f"{sum(found['calls'].values())} calls of {len(found['calls'])} functions")
    with open(counts + ".txt", "w") as file:
        print(words, file=file)
        for name, count in sorted(found["calls"].items(), key=lambda item: -item[1]):
            print(f"  {count:7} {name}", file=file)
    print(words, "failed:", *unknown, "never called:", *never, sep="\n")
    assert len(ALLOWED) <= 10
    return 1 if unknown or never else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
