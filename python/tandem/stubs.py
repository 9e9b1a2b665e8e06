"""`python -m tandem.stubs [FOLDER]` writes _programs.pyi, the types of the methods that are made from the tables."""

from __future__ import annotations

import sys
from pathlib import Path

from ._programs import stub


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    (folder / "_programs.pyi").write_text(stub())


if __name__ == "__main__":
    main()
