"""``vigia status``: what the running gateway sees, asked over its control socket."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dashboards.past import MonthView
from dashboards.ports import AlarmView, Answer, Ask, DetectorView, Snapshot
from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, json_option, load_or_exit

if TYPE_CHECKING:
    from dashboards.wording import Locale
    from gateway.depot import Depot

ANSWERS_WITHIN_S = 10.0
"""Thousands of heads are put together in a second or more, on a machine that has other work."""


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def status(file: Path, *, as_json: bool) -> None:
        loaded = load_or_exit(talk, file, as_json=as_json, secrets=False)
        import msgspec

        from gateway.asking import ask
        from gateway.commands.figures import month_lines
        from gateway.machine.sockets import ControlError

        try:
            answer = ask(loaded.depot.socket, Ask(ref=1, what="snapshot"), ANSWERS_WITHIN_S)
        except ControlError as error:
            answer = Answer(ref=1, ok=False, detail=f"{loaded.depot.socket}: {why(talk, error)}")
        if answer.snapshot is None:
            if as_json:
                talk.put_json({"ok": False, "error": answer.error or "not-running", "detail": answer.detail})
            said = "status.no_picture" if answer.error else "status.not_running"
            talk.say(said, reason=answer.detail or answer.error, file=file)
            click.get_current_context().exit(EXIT_FAILED)
        from gateway.commands.locale import spoken
        from gateway.commands.upkeep import due_lines, due_rows

        if as_json:
            rows = {"upkeep": due_rows(loaded.depot), "months": msgspec.to_builtins(_months(loaded.depot))}
            talk.put_json({**msgspec.to_builtins(answer.snapshot), **rows})
        else:
            locale = spoken(talk.words.language, loaded.depot.timezone)
            _print(talk, answer.snapshot, locale)
            for line in due_lines(talk, loaded.depot):
                talk.put(line)
            for line in month_lines(talk, _months(loaded.depot), locale):
                talk.put(line)
            if answer.snapshot.depot.vkey:
                talk.put(talk.text("status.vkey", vkey=answer.snapshot.depot.vkey))

    params: list[click.Parameter] = [file_argument(), json_option(talk)]
    return click.Command("status", callback=status, help=talk.text("command.status"), params=params)


def _months(depot: "Depot") -> "tuple[MonthView, ...]":
    """This month's watched time; none where the journal cannot be read just now."""
    from gateway.journal.errors import StoreError
    from gateway.ledger.watchbook import ledger

    now_ms = time.time_ns() // 1_000_000
    try:
        return ledger(depot.journal, depot.timezone, None, now_ms, now_ms).months
    except StoreError:
        return ()


def _print(talk: Talk, snapshot: Snapshot, locale: "Locale") -> None:
    from dashboards.alarm_rows import urgency
    from dashboards.detector_cards import value_text

    watching = sum(1 for detector in snapshot.detectors if detector.watching)
    at = locale.day(snapshot.at)
    talk.put(
        talk.text("status.head", name=snapshot.depot.name, at=at, watching=watching, count=len(snapshot.detectors))
    )
    for alarm in sorted(snapshot.alarms, key=urgency):
        for line in _alarm(talk, alarm, snapshot.at, locale):
            talk.put(line)
    if not snapshot.alarms:
        talk.put(talk.text("status.no_alarms"))
    for area in _alone(snapshot):
        talk.put(talk.text("status.alone", area=area))
    width = max((len(detector.id) for detector in snapshot.detectors), default=0)
    for detector in snapshot.detectors:
        value, age = value_text(detector, locale), locale.ago(detector.age_s)
        talk.put(f"{detector.id:<{width}}  {value:>12}  {age:>12}  {_state(talk, detector, locale)}")
    for output in snapshot.outputs:
        wanted = talk.text(f"state.{'on' if output.wanted else 'off'}")
        read = talk.text({True: "state.on", False: "state.off", None: "state.unknown"}[output.confirmed])
        talk.put(talk.text("status.output", id=output.id, wanted=wanted, confirmed=read))
    for link in snapshot.links:
        reason = locale.reason(link.reason) if link.reason else ""
        talk.put(talk.text(f"status.link_{'up' if link.up else 'down'}", id=link.id, reason=reason))


def _alarm(talk: Talk, alarm: AlarmView, now: str, locale: "Locale") -> Iterator[str]:
    """What an alarm says, how it stands, and what to do: in the language of the command."""
    from dashboards.alarm_rows import guide_of

    text, over = alarm.texts.get(locale.language, alarm.text), alarm.suppression
    if over is None:
        state = locale.text(f"alarm.{alarm.state}", by=alarm.acknowledged_by or "?")
        yield talk.text("status.alarm", text=text, state=state, since=locale.clock(alarm.since, now=now))
    else:
        kind, until = talk.text(f"status.{over.kind}"), locale.day(over.until)
        yield talk.text("status.quiet", kind=kind, text=text, by=over.by or "?", until=until, why=over.why)
    if guide := guide_of(alarm, locale):
        yield f"        {guide}"


def _state(talk: Talk, detector: DetectorView, locale: "Locale") -> str:
    said = [locale.text("detector.quality", quality=locale.text(f"quality.{detector.quality}"))]
    if detector.status != "measuring":
        said.append(locale.text(f"status.{detector.status}"))
    state = ", ".join([*said, *([locale.reason(detector.reason)] if detector.reason else [])])
    over = detector.window
    if over is None:
        return state
    kind, until = talk.text(f"status.{over.kind}"), locale.day(over.until)
    return f"{state}  {talk.text('status.window', kind=kind, by=over.by or '?', until=until, why=over.why)}"


def _alone(snapshot: Snapshot) -> list[str]:
    """Areas in which no detector watches, as people call them."""
    areas: dict[str, bool] = {}
    for detector in snapshot.detectors:
        area = detector.area_name or detector.area
        areas[area] = areas.get(area, False) or detector.watching
    return [area for area, watched in areas.items() if not watched]
