"""Counts the chat templates of llama.cpp for which a dialect is found, by rendering and by reading them. Fails if a count is below
its minimum.

    templates.py FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from libaside import AsideError, Dialect

FLOORS = {"rendered": 66, "read": 67}


def main(folder: Path) -> None:
    files = sorted(folder.glob("*.jinja"))
    ways: dict[str, Callable[[str], object]] = {
        "rendered": lambda template: Dialect.find_for_rendered_template(template, {}),
        "read": Dialect.find_for_template,
    }
    for name, find in ways.items():
        lost = []
        for file in files:
            try:
                find(file.read_text())
            except AsideError as error:
                lost.append(f"  {file.name}: {error}")
        found = len(files) - len(lost)
        print(f"templates {name}: {found} of {len(files)} find their dialect; not found:", *lost, sep="\n")
        if found < FLOORS[name]:
            sys.exit(f"{name}: {found} are fewer than {FLOORS[name]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
