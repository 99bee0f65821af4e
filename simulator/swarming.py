"""``vigia swarm``: drawn depots in virtual time, held against the promises; says what broke them, and by how little."""

import logging
import os
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click
import structlog

from alerts.messages.catalogue import Catalogue
from gateway.commands.numbers import Number
from gateway.commands.talk import EXIT_FAILED, Talk, json_option
from simulator import draws, swarm
from simulator.swarm import Upshot

MOST_HOURS: Final = 24.0 * 31
GIT_S: Final = 5.0


def command(talk: Talk) -> click.Command:
    """Build the command; `talk` chooses the language."""
    words = Catalogue.load("simulator.words", talk.words.language)

    def run(seeds: int, hours: float, first: int, jobs: int, as_json: bool) -> None:
        began, failed, kept = time.monotonic(), 0, dict[str, int]()
        commit = _commit()
        told: list[dict[str, Any]] = []
        with _unheard():
            for upshot in _upshots(range(first, first + seeds), hours, jobs):
                _add(kept, upshot.kept)
                failed += bool(upshot.broken)
                shown = swarm.shortest(upshot) if upshot.broken else upshot
                if as_json:
                    told.append(_document(shown))
                elif shown.broken:
                    _explain(talk, words, shown, commit)
                else:
                    talk.put(words.text("swarm.well", seed=shown.seed, trace=shown.trace, events=shown.events))
        spent_s = time.monotonic() - began
        if as_json:
            figures = {"failed": failed, "depot_hours": seeds * hours, "spent_s": round(spent_s, 1), "kept": kept}
            talk.put_json({"commit": commit, **figures, "seeds": told})
        else:
            counts = ", ".join(f"{name} {count}" for name, count in sorted(kept.items()))
            sums = {"seeds": seeds, "hours": f"{seeds * hours:g}", "failed": failed, "spent": f"{spent_s:.0f}"}
            click.echo(words.text("swarm.sum", **sums, kept=counts), err=True)
        if failed:
            raise SystemExit(EXIT_FAILED)

    def option(names: list[str], kind: click.IntRange | Number, usual: float, key: str) -> click.Option:
        return click.Option(names, type=kind, default=usual, show_default=True, help=words.text(f"swarm.{key}"))

    return click.Command(
        "swarm",
        callback=run,
        help=words.text("swarm.help"),
        params=[
            option(["--seeds"], click.IntRange(1), 20, "seeds"),
            option(["--hours"], Number(0.1, MOST_HOURS), 1.0, "hours"),
            option(["--seed", "first"], click.IntRange(0), 1, "first"),
            option(["--jobs"], click.IntRange(1, 64), 1, "jobs"),
            json_option(talk),
        ],
    )


@contextmanager
def _unheard() -> Iterator[None]:
    """What the parts of drawn depots log is for nobody: they fail on purpose. So for workers begun within, too."""
    usual = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        yield
    finally:
        structlog.configure(**usual)


def _upshots(seeds: range, hours: float, jobs: int) -> Iterator[Upshot]:
    """Yield an upshot for each seed, in their order."""
    if jobs == 1:
        yield from (swarm.judge(seed, hours) for seed in seeds)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(swarm.judge, seeds, [hours] * len(seeds))


def _explain(talk: Talk, words: Catalogue, upshot: Upshot, commit: str) -> None:
    broken = upshot.broken[0]
    said = {"promise": broken.promise, "at": f"{broken.at:.3f}", "detail": broken.detail}
    talk.put(words.text("swarm.broken", seed=upshot.seed, commit=commit, hours=f"{upshot.hours:g}", **said))
    drawn = draws.depot(upshot.seed)
    for bus in drawn.buses:
        talk.put(f"  {bus}")
    for thing in (*drawn.heads, *drawn.sirens):
        talk.put(f"  {thing}")
    talk.put(words.text("swarm.shortest", count=len(upshot.timeline)))
    for each in upshot.timeline:
        talk.put(f"  {each.at:10.3f} s  {each.what} {each.target}  {each.lasts:g} s  {each.size:g}")


def _document(upshot: Upshot) -> dict[str, Any]:
    document = asdict(upshot)
    if not upshot.broken:
        del document["timeline"]
    return document


def _add(sums: dict[str, int], more: dict[str, int]) -> None:
    for name, count in more.items():
        sums[name] = sums.get(name, 0) + count


def _commit() -> str:
    """The commit of the source tree; "?" where there is none."""
    ask = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=12", "HEAD"]
    try:
        found = subprocess.run(ask, capture_output=True, text=True, timeout=GIT_S, check=True)  # noqa: S603 - fixed words
    except (OSError, subprocess.SubprocessError):
        return "?"
    return found.stdout.strip()


swarm_command = command(Talk.of(os.environ))
"""What the entry point ``vigia.commands`` names."""
