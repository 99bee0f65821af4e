"""``vigia bump``: a guided bump test of one head, timed from its register to every recipient, kept signed."""

import sys
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.commands.numbers import Number
from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, json_option, load_or_exit

if TYPE_CHECKING:  # the journal and the keys, which `--help` does not need
    from gateway.commissioning.bump_course import Course
    from gateway.commissioning.bumping import Kept

USUAL_MINUTES = 10.0
MOST_MINUTES = 30.0
MOST_NAME = 80
MOST_NOTE = 500


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def bump(file: Path, head: str, *, by: str, minutes: float, note: str, as_json: bool) -> None:
        depot = load_or_exit(talk, file, as_json=as_json, secrets=False).depot
        detector = next((one for one in depot.detectors if one.id == head), None)
        if detector is None:
            known = ", ".join(str(one.id) for one in depot.detectors)
            raise click.UsageError(talk.text("probe.unknown", ids=head, known=known))
        if not 0 < len(by.strip()) <= MOST_NAME or len(note) > MOST_NOTE:
            raise click.UsageError(talk.text("bump.too_long", name=MOST_NAME, note=MOST_NOTE))
        from gateway.commissioning.bumping import BumpError, Order
        from gateway.commissioning.bumping import bump as test
        from gateway.journal import StoreError
        from gateway.journal.errors import AbsentError
        from gateway.sealing.keys import KeyFileError

        try:
            kept = test(depot, Order(detector, by.strip(), minutes, note), _Progress(talk, head, minutes).tell)
        except BumpError as error:
            detail = why(talk, error.__cause__ or error.detail)
            talk.say(f"bump.{error.reason}", detector=head, detail=detail, minutes=f"{minutes:g}", file=file)
            click.get_current_context().exit(EXIT_FAILED)
        except (KeyFileError, StoreError) as error:
            never_run = isinstance(error, AbsentError) or isinstance(error.__cause__, FileNotFoundError)
            talk.say("bump.not-running" if never_run else "bump.no-file", detail=why(talk, error), file=file)
            click.get_current_context().exit(EXIT_FAILED)
        _give(talk, kept, as_json=as_json)
        if not kept.record["passed"]:
            click.get_current_context().exit(EXIT_FAILED)

    params: list[click.Parameter] = [
        file_argument(),
        click.Argument(["head"], metavar="ID"),
        click.Option(["--by"], required=True, metavar=talk.text("bump.name"), help=talk.text("bump.by")),
        click.Option(
            ["--minutes"],
            type=Number(min=0, min_open=True, max=MOST_MINUTES),
            default=USUAL_MINUTES,
            help=talk.text("bump.minutes"),
        ),
        click.Option(["--note"], default="", help=talk.text("bump.note")),
        json_option(talk),
    ]
    return click.Command("bump", callback=bump, help=talk.text("command.bump"), params=params)


class _Progress:
    """Says each step once; on a terminal also the value, as it moves."""

    def __init__(self, talk: Talk, head: str, minutes: float) -> None:
        self._talk = talk
        self._values = {"detector": head, "minutes": f"{minutes:g}"}
        self._said = ""
        self._moving = sys.stderr.isatty()

    def tell(self, course: "Course") -> None:
        gas, peak = _percent(self._talk, course.gas), _percent(self._talk, course.peak)
        step = course.step.value
        if step != self._said:
            self._said = step
            if f"bump.step_{step}" in self._talk.words:
                self._wipe()
                self._talk.say(f"bump.step_{step}", **self._values, gas=gas, peak=peak)
        if self._moving:
            click.echo(
                "\r\x1b[K" + self._talk.text("bump.moving", **self._values, gas=gas, peak=peak), nl=False, err=True
            )

    def _wipe(self) -> None:
        if self._moving:
            click.echo("\r\x1b[K", nl=False, err=True)


def _give(talk: Talk, kept: "Kept", *, as_json: bool) -> None:
    files = {"file": str(kept.file), "signature": str(kept.signature), "public_key": str(kept.public_key)}
    if as_json:
        talk.put_json({**kept.record, **files})
        return
    if sys.stderr.isatty():
        click.echo("", err=True)
    for line in _lines(talk, kept.record):
        talk.put(line)
    talk.put(talk.text("bump.kept", **files))


def _lines(talk: Talk, record: Mapping[str, Any]) -> Iterator[str]:
    verdict = talk.text("bump.passed" if record["passed"] else "bump.failed")
    why = ", ".join(talk.text(f"bump.objection_{one}") for one in record["objections"])
    yield f"{record['detector']}  {verdict}" + (f": {why}" if why else "")
    yield talk.text("bump.peak", value=_percent(talk, record["peak_lel_pct"]))
    yield talk.text("bump.until_a1", time=_seconds(talk, record["until_a1_ms"]))
    yield talk.text("bump.until_first_output", time=_seconds(talk, record["until_first_output_ms"]))
    yield talk.text("bump.until_siren", time=_seconds(talk, record["until_siren_ms"]))
    for name, elapsed in record["until_told_ms"].items():
        yield talk.text("bump.until_told", name=name, time=_seconds(talk, elapsed))
    due = record["next_due"]
    days = {name.replace("-", "_"): _day(talk, day) for name, day in due.items()}
    yield talk.text("bump.next", **days)


def _seconds(talk: Talk, milliseconds: int | None) -> str:
    return talk.text("bump.never") if milliseconds is None else f"{_figure(talk, milliseconds / 1000, 2)} s"


def _percent(talk: Talk, value: float | None) -> str:
    return "—" if value is None else _figure(talk, value, 1)


def _figure(talk: Talk, value: float, places: int) -> str:
    return f"{value:.{places}f}".replace(".", "," if talk.words.language == "pt-BR" else ".")


def _day(talk: Talk, day: str | None) -> str:
    """A day as people write it; what was never done has none."""
    return talk.day(date.fromisoformat(day)) if day else talk.text("due.unknown")
