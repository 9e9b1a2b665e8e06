"""The tests' harness: a test is a function test_*, and needs no package but those that it tests with.

`python harness.py FILE ...` runs the tests of the files; pytest runs them too. Exit status 0, 1, or 77 when every test
was skipped.
"""

import contextlib
import importlib.util
import sys
import threading
import time
import traceback
import unittest
from pathlib import Path

Skip = unittest.SkipTest  # pytest knows it


def need(name):
    """A module, or the test is skipped."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Skip(f"there is no {name}") from None


@contextlib.contextmanager
def raises(kind, words=""):
    """The body raises an exception of this very kind, whose text has the words."""
    try:
        yield
    except kind as found:
        assert words in str(found), f"{found!r} does not say {words!r}"
        return
    raise AssertionError(f"nothing was raised; {kind} was expected")


def wakes(work):
    """How often other threads than this one went to sleep again in five calls."""
    def slept():
        time.sleep(0.05)
        texts = [(task / "status").read_text() for task in Path("/proc/self/task").iterdir()
                 if int(task.name) != threading.get_native_id()]
        return sum(int(text.split("\nvoluntary_ctxt_switches:")[1].split()[0]) for text in texts)
    before = slept()
    for _ in range(5):
        work()
    return slept() - before


def tests_of(path):
    spec = importlib.util.spec_from_file_location(Path(path).stem, Path(path).resolve())
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return [(name, value) for name, value in vars(module).items() if name.startswith("test_") and callable(value)]


def run(name, test):
    begun = time.perf_counter()
    try:
        test()
    except Skip as reason:
        print(f"skip {name}: {reason}", flush=True)
        return "skipped"
    except BaseException:
        traceback.print_exc()
        print(f"FAIL {name}", flush=True)
        return "failed"
    print(f"ok   {name} ({time.perf_counter() - begun:.1f} s)", flush=True)
    return "passed"


def main(paths):
    ends = {"passed": 0, "failed": 0, "skipped": 0}
    for path in paths:
        try:
            tests = tests_of(path)
        except Skip as reason:
            print(f"skip {Path(path).name}: {reason}", flush=True)
            ends["skipped"] += 1
            continue
        for name, test in tests:
            ends[run(name, test)] += 1
    print(", ".join(f"{count} {what}" for what, count in ends.items()))
    return 1 if ends["failed"] else 77 if not ends["passed"] else 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main(sys.argv[1:]))
