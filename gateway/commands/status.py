"""``vigia status``: what the running gateway sees, asked over its control socket."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dashboards.ports import Answer, Ask, DetectorView, MonthView, Snapshot
from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, json_option, load_or_exit

if TYPE_CHECKING:
    from gateway.depot import Depot

ANSWERS_WITHIN_S = 10.0
"""Thousands of heads are put together in a second or more, on a machine that has other work."""


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def status(file: Path, *, as_json: bool) -> None:
        loaded = load_or_exit(talk, file, as_json=as_json)
        import msgspec

        from gateway.commands.figures import month_lines
        from gateway.control import ControlError, ask

        try:
            answer = ask(loaded.depot.socket, Ask(ref=1, what="snapshot"), ANSWERS_WITHIN_S)
        except ControlError as error:
            answer = Answer(ref=1, ok=False, detail=str(error))
        if answer.snapshot is None:
            if as_json:
                talk.put_json({"ok": False, "error": answer.error or "not-running", "detail": answer.detail})
            said = "status.no_picture" if answer.error else "status.not_running"
            talk.say(said, reason=answer.detail or answer.error, file=file)
            click.get_current_context().exit(EXIT_FAILED)
        from gateway.commands.upkeep import due_lines, due_rows

        if as_json:
            rows = {"upkeep": due_rows(loaded.depot), "months": msgspec.to_builtins(_months(loaded.depot))}
            talk.put_json({**msgspec.to_builtins(answer.snapshot), **rows})
        else:
            _print(talk, answer.snapshot)
            for line in due_lines(talk, loaded.depot):
                talk.put(line)
            for line in month_lines(talk, _months(loaded.depot)):
                talk.put(line)
            if answer.snapshot.depot.vkey:
                talk.put(talk.text("status.vkey", vkey=answer.snapshot.depot.vkey))

    params: list[click.Parameter] = [file_argument(), json_option(talk)]
    return click.Command("status", callback=status, help=talk.text("command.status"), params=params)


def _months(depot: "Depot") -> "tuple[MonthView, ...]":
    """This month's watched time; none where the journal cannot be read just now."""
    from gateway.journal.errors import StoreError
    from gateway.watchbook import ledger

    now_ms = time.time_ns() // 1_000_000
    try:
        return ledger(depot.journal, depot.timezone, None, now_ms, now_ms).months
    except StoreError:
        return ()


def _print(talk: Talk, snapshot: Snapshot) -> None:
    name, watching = snapshot.depot.name, sum(1 for detector in snapshot.detectors if detector.watching)
    talk.put(talk.text("status.head", name=name, at=snapshot.at, watching=watching, count=len(snapshot.detectors)))
    for alarm in snapshot.alarms:
        over = alarm.suppression
        if over is None:
            talk.put(talk.text("status.alarm", text=alarm.text, state=alarm.state, since=alarm.since))
        else:
            kind = talk.text(f"status.{over.kind}")
            talk.put(
                talk.text("status.quiet", kind=kind, text=alarm.text, by=over.by or "?", until=over.until, why=over.why)
            )
        if alarm.likely_cause:
            talk.put(talk.text("status.guide", cause=alarm.likely_cause, action=alarm.next_action))
    if not snapshot.alarms:
        talk.put(talk.text("status.no_alarms"))
    for area in _alone(snapshot):
        talk.put(talk.text("status.alone", area=area))
    width = max((len(detector.id) for detector in snapshot.detectors), default=0)
    for detector in snapshot.detectors:
        told = (_value(detector), _age(talk, detector))
        talk.put(f"{detector.id:<{width}}  {told[0]:>12}  {told[1]:>12}  {_state(talk, detector)}")
    for output in snapshot.outputs:
        confirmed = {True: "on", False: "off", None: "?"}[output.confirmed]
        talk.put(
            talk.text(
                "status.output",
                id=output.id,
                wanted=talk.text(f"state.{'on' if output.wanted else 'off'}"),
                confirmed=talk.text(f"state.{confirmed}" if confirmed != "?" else "state.unknown"),
            )
        )
    for link in snapshot.links:
        talk.put(talk.text(f"status.link_{'up' if link.up else 'down'}", id=link.id, reason=link.reason))


def _value(detector: DetectorView) -> str:
    if detector.lel_pct is not None:
        return f"{detector.lel_pct:.1f} %LEL"
    return "—" if detector.at_least is None else f"≥ {detector.at_least:.1f} %LEL"


def _age(talk: Talk, detector: DetectorView) -> str:
    return talk.text("status.never") if detector.age_s is None else talk.text("status.age", age=f"{detector.age_s:.1f}")


def _state(talk: Talk, detector: DetectorView) -> str:
    state = " ".join(part for part in (detector.quality, detector.status, detector.reason) if part)
    over = detector.window
    if over is None:
        return state
    kind = talk.text(f"status.{over.kind}")
    return f"{state}  {talk.text('status.window', kind=kind, by=over.by or '?', until=over.until, why=over.why)}"


def _alone(snapshot: Snapshot) -> list[str]:
    """Areas in which no detector watches, as people call them."""
    areas: dict[str, bool] = {}
    for detector in snapshot.detectors:
        area = detector.area_name or detector.area
        areas[area] = areas.get(area, False) or detector.watching
    return [area for area, watched in areas.items() if not watched]
