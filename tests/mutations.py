"""Puts each deliberate bug of mutations.toml into a copy of the tree and sees that it is caught. Run it from anywhere.

    python tests/mutations.py [NAME ...]

Exit 1 if one was not caught, or cannot be put in.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDERS: Final = ("sensors", "compliance", "alerts", "dashboards", "gateway", "simulator", "tests")
SWARM: Final = "swarm"
SEEDS: Final = 60
HOURS: Final = 1.0
LONGEST_S: Final = 600.0

HUNT: Final = f"""
import sys
from simulator import swarm
for seed in range(1, {SEEDS} + 1):
    verdict = swarm.judge(seed, {HOURS})
    if verdict.broken:
        print(f"seed {{seed}}: {{verdict.broken[0].promise}}: {{verdict.broken[0].detail}}"[:160])
        sys.exit(1)
"""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One deliberate bug."""

    name: str
    file: str
    find: str
    replace: str
    by: str


def mutations() -> tuple[Mutation, ...]:
    """Return the whole list."""
    table = tomllib.loads((ROOT / "tests" / "mutations.toml").read_text(encoding="utf-8"))
    return tuple(Mutation(**entry) for entry in table["mutation"])


def mutated(mutation: Mutation, text: str) -> str:
    """Return the file with the bug in it.

    Raises:
        ValueError: what is to be replaced does not stand in it exactly once.
    """
    count = text.count(mutation.find)
    if count != 1:
        raise ValueError(f"{mutation.file}: {mutation.find!r} stands in it {count} times, not once")
    return text.replace(mutation.find, mutation.replace)


def caught(mutation: Mutation) -> tuple[bool, str]:
    """Try one mutation; return whether it was caught, and by what."""
    with tempfile.TemporaryDirectory(prefix="vigia-mutation-") as folder:
        tree = Path(folder)
        for name in FOLDERS:
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", tree)
        file = tree / mutation.file
        file.write_text(mutated(mutation, file.read_text(encoding="utf-8")), encoding="utf-8")
        python = [sys.executable, "-P"]
        ask = (
            ["-c", HUNT]
            if mutation.by == SWARM
            else ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", mutation.by]
        )
        command = [*python, *ask]
        try:
            run = subprocess.run(
                command,
                cwd=tree,
                env=_environment(tree),
                capture_output=True,
                text=True,
                timeout=LONGEST_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return True, f"runs for more than {LONGEST_S:g} s"
        said = [line for line in (run.stdout + run.stderr).splitlines() if line.strip()]
        return run.returncode != 0, said[-1] if said else ""


def _environment(tree: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}


def main(wanted: list[str]) -> int:
    missed = 0
    for mutation in mutations():
        if wanted and mutation.name not in wanted:
            continue
        began = time.monotonic()
        found, by = caught(mutation)
        missed += not found
        word = "caught" if found else "NOT CAUGHT"
        sys.stdout.write(f"{word} in {time.monotonic() - began:5.1f} s: {mutation.name}: {by}\n")
        sys.stdout.flush()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
