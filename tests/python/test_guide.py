"""The guide's pages, line by line, as doctest reads them."""

import doctest
import os
import re
import tempfile
from pathlib import Path

from harness import Skip, need

GUIDE = Path(__file__).parents[2] / "docs" / "guide"


def follow(text, needs=()):
    """Runs the examples of a text in an empty folder; all must say what the page shows."""
    for name in needs:
        need(name)
    test = doctest.DocTestParser().get_doctest(text, {}, "guide", None, 0)
    assert len(test.examples) > 0
    said = []
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            failed = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append).failed
        finally:
            os.chdir(before)
    assert failed == 0, "".join(said)
    return len(test.examples)


def section(page, heading, until):
    text = (GUIDE / page).read_text()
    begin = text.index(f"\n{heading}\n")
    return text[begin:text.index(f"\n{until}", begin)]


def test_first_steps():
    assert follow(section("python.md", "## First steps", "### SciPy")) > 15


def test_other_libraries():
    parts = section("python.md", "### SciPy, pandas, Arrow, NetworkX", "## What").split("\n\n    >>> import ")
    skipped = []
    for part in parts[1:]:
        modules = [re.split(r"[.\s]", name)[0] for name in part.split("\n")[0].split(", ")]
        try:
            follow("\n\n    >>> import tandem\n    >>> import " + part, modules)
        except Skip as reason:
            skipped.append(str(reason))
    if skipped:
        print("     not shown:", "; ".join(skipped))
    if len(skipped) == len(parts) - 1:
        raise Skip("none of the libraries is installed")


def test_networkx_page():
    need("networkx")
    assert follow(section("networkx.md", "With the [package](python.md) installed, NetworkX 3.4 or later finds Tandem "
                          "as a backend:", "A graph is converted")) >= 3


def test_the_readme_s_first_screen():
    """The cells of the table, one after the other; the graph is smaller."""
    import gzip
    import tandem
    lines = (GUIDE.parents[1] / "README.md").read_text().split("\n")[:25]
    cells = [line.split("`")[1] for line in lines if line.startswith("| `")]
    assert cells[0] == "pip install ." and len(cells) >= 6
    names = {"tandem": tandem}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            with gzip.open("web.txt.gz", "wt") as file:
                file.write("".join(f"{i} {i * 7 % 40}\n{i} {i + 1}\n" for i in range(40)))
            for cell in cells[1:]:
                if cell.startswith("networkx"):
                    try:
                        names["networkx"] = need("networkx")
                    except Skip:
                        continue
                    names["G"] = names["networkx"].path_graph(9)
                exec(cell, names)
            assert Path("run.html").read_text().endswith("</html>\n")
        finally:
            os.chdir(before)


def test_the_modules_own_examples():
    import tandem
    failed, ran = doctest.testmod(tandem)
    assert failed == 0 and ran >= 3
