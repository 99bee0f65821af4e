"""The bench: ``python -m bench [NAME...] [--seconds N] [--runs N] [--quick] [--results FILE]``."""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from platform import python_version

from bench.cases import Case, cases
from bench.figures import Figure, medians
from bench.machine import FIELD_CORE, allow_many_sockets, description, pin, revision
from bench.processes import BenchError
from bench.results import write

RESULTS = Path(__file__).parent / "RESULTS.md"


def main(arguments: Sequence[str]) -> int:
    """Run the named cases, or all. Returns 0 if they could be measured, targets met or not; 1 if not."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measures the watch on this machine.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases; all when none is named")
    parser.add_argument("--seconds", type=float, help="length of each main window")
    parser.add_argument("--runs", type=int, default=1, help="repeat each case, take medians")
    parser.add_argument("--quick", action="store_true", help="only show that the bench works; figures mean nothing")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures go")
    options = parser.parse_args(arguments)
    known = cases(quick=options.quick, seconds=options.seconds)
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)}; there are {', '.join(known)}")
    allow_many_sockets()
    pin(0, FIELD_CORE)
    failed = False
    for name in options.names or known:
        try:
            measured = _measure(name, known[name], options.runs)
        except BenchError as error:
            sys.stderr.write(f"{name}: {error}\n")
            failed = True
            continue
        _show(measured)
        how = f"{'quick' if options.quick else f'median of {options.runs}'}, {revision()}, Python {python_version()}"
        write(options.results, measured, description(), datetime.now(UTC), how)
    return 1 if failed else 0


def _measure(name: str, case: Case, runs: int) -> list[Figure]:
    results: list[list[Figure]] = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory(prefix="vigia-bench-") as folder:
            results.append(asyncio.run(case(name, Path(folder))))
    return medians(results)


def _show(figures: Sequence[Figure]) -> None:
    for figure in figures:
        print(f"{figure.case:14} {figure.name:52} {figure.value:12,.3f} {figure.unit:12} {figure.verdict}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
