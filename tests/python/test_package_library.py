"""The structs and the calls of the package are those of tandem.h."""

import ctypes
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import tandem
from tandem import _library
from harness import Skip

HEADER = Path(__file__).parents[2] / "include" / "tandem.h"


def test_every_call_is_declared_in_the_header():
    declared = set(re.findall(r"^TD_API .*[ *](td_[a-z0-9_]+)\(", HEADER.read_text(), re.M))
    assert set(_library.SIGNATURES) <= declared, set(_library.SIGNATURES) - declared


def test_status_codes_are_those_of_the_header():
    codes = re.findall(r"^    X\(([A-Z_]+), \"", HEADER.read_text(), re.M)
    assert tuple(codes) == _library.STATUS
    assert set(_library.EXCEPTIONS) == set(codes) - {"OK"}


def test_structs_have_the_sizes_and_offsets_of_the_header():
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise Skip("there is no C compiler")
    pairs = {_name(cls): cls for cls in vars(_library).values()
             if isinstance(cls, type) and issubclass(cls, ctypes.Structure)
             and cls not in (ctypes.Structure, _library.Sized)}
    lines = [f'printf("%zu\\n", sizeof({name}));' for name in pairs]
    lines += [f'printf("%zu\\n", offsetof({name}, {field}));' for name, cls in pairs.items() for field, *_ in cls._fields_]
    expected = [ctypes.sizeof(cls) for cls in pairs.values()]
    expected += [getattr(cls, field).offset for cls in pairs.values() for field, *_ in cls._fields_]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "sizes.c")
        source.write_text('#include <tandem.h>\n#include <stdio.h>\nint main(void) {' + "".join(lines) + "}")
        subprocess.run([compiler, "-I", HEADER.parent, source, "-o", f"{folder}/sizes"], check=True)
        found = subprocess.run(f"{folder}/sizes", check=True, capture_output=True, text=True).stdout.split()
    assert [int(n) for n in found] == expected


def _name(cls):
    return "td_" + re.sub(r"(?<!^)([A-Z])", r"_\1", cls.__name__).lower()


def test_the_version_is_the_builds():
    text = (HEADER.parents[1] / "CMakeLists.txt").read_text()
    assert tandem.__version__ == re.search(r"project\(tandem VERSION ([0-9.]+)", text).group(1)
