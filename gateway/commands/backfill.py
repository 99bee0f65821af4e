"""``vigia backfill``: send readings of the past to the database again, beside a running watch."""

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.commands.moments import moment
from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_CONFIG, EXIT_FAILED, Talk, file_argument, load_or_exit

if TYPE_CHECKING:
    from gateway.depot import Depot


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def backfill(file: Path, start: str | None, end: str | None, *, dry: bool) -> None:
        depot = load_or_exit(talk, file).depot
        influx = depot.influx
        if influx is None:
            talk.say("backfill.no_influx", file=file)
            click.get_current_context().exit(EXIT_CONFIG)
        from gateway.journal.errors import StoreError
        from gateway.recording import readings_path
        from gateway.store.backfill import backfill as carry
        from gateway.store.history import ReadingsHistory
        from gateway.store.lines import GasLines

        lines = GasLines(depot.id, {detector.id: detector.area for detector in depot.detectors})

        def told(first: int, last: int, points: int) -> None:
            talk.say("backfill.stretch", start=_when(first), end=_when(last), points=points)

        try:
            stretches = _stretches(talk, depot, start, end)
            with ReadingsHistory(readings_path(depot)) as history:
                sent = asyncio.run(carry(history, lines, influx, stretches, send=not dry, told=told))
        except StoreError as error:
            talk.say("readings.none", reason=why(talk, error))
            click.get_current_context().exit(EXIT_FAILED)
        if sent.gone:
            talk.say("backfill.left", count=sent.gone)
        if sent.reason:
            talk.say("backfill.refused", reason=sent.reason, points=sent.points, until=_when(sent.until_s))
            click.get_current_context().exit(EXIT_FAILED)
        talk.say("backfill.counted" if dry else "backfill.done", points=sent.points)

    params: list[click.Parameter] = [
        file_argument(),
        click.Option(["--from", "start"], help=talk.text("backfill.from")),
        click.Option(["--to", "end"], help=talk.text("backfill.to")),
        click.Option(["--dry-run", "dry"], is_flag=True, help=talk.text("backfill.dry")),
    ]
    return click.Command("backfill", callback=backfill, help=talk.text("command.backfill"), params=params)


def _stretches(talk: Talk, depot: "Depot", start: str | None, end: str | None) -> list[tuple[int, int]]:
    """What to send: the stretch that was asked for, or every stretch on record as lost."""
    from gateway.recording import spool_path
    from gateway.store.spool import losses_on_record

    if start is None and end is None:
        lost = [(loss.first_ms // 1000, loss.last_ms // 1000 + 1) for loss in losses_on_record(spool_path(depot))]
        if not lost:
            talk.say("backfill.nothing_lost")
        return lost
    if start is None:
        raise click.MissingParameter(ctx=click.get_current_context(), param_hint="--from", param_type="option")
    first = moment(talk, start, depot.timezone)
    last = int(time.time()) + 1 if end is None else moment(talk, end, depot.timezone)
    if last <= first:
        raise click.UsageError(talk.text("readings.backwards"))
    return [(first, last)]


def _when(seconds: int) -> str:
    from sensors.stamps import SECOND, UtcNanos, rfc3339

    return rfc3339(UtcNanos(seconds * SECOND))
