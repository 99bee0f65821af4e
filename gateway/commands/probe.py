"""``vigia probe``: read each head once, raw beside decoded; where that makes no sense, try what usually is wrong."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.commands.numbers import Number
from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, json_option, load_or_exit

if TYPE_CHECKING:  # the drivers' libraries, which `--help` does not need
    from dashboards.wording import Locale
    from gateway.commissioning.probing import Probed
    from gateway.commissioning.trying import Tried
    from sensors.tryout import Trial


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def probe(file: Path, detectors: tuple[str, ...], *, try_all: bool, shows: float | None, as_json: bool) -> None:
        loaded = load_or_exit(talk, file, as_json=as_json)
        known = [str(detector.id) for detector in loaded.depot.detectors]
        unknown = [name for name in detectors if name not in known]
        if unknown:
            raise click.UsageError(talk.text("probe.unknown", ids=", ".join(unknown), known=", ".join(known)))
        if shows is not None and len(detectors) != 1:
            raise click.UsageError(talk.text("probe.one_display"))
        from gateway.commissioning.probing import probe as read_once
        from gateway.commissioning.trying import try_out

        results = read_once(loaded.depot, frozenset(detectors or known))
        asked = try_all or shows is not None
        odd = frozenset(one.detector for one in results if asked or one.odd)
        tried = {one.detector: one for one in try_out(loaded.depot, odd, shows)} if odd else {}
        if as_json:
            talk.put_json([_json(one, tried.get(one.detector)) for one in results])
        else:
            from gateway.commands.locale import spoken

            locale = spoken(talk.words.language, loaded.depot.timezone)
            width = max((len(one.detector) for one in results), default=0)
            for one in results:
                click.secho(_line(talk, one, width, locale), fg=None if one.well else "red")
                for line in _tried_lines(talk, tried.get(one.detector), locale):
                    talk.put(line)
        failed = [one.detector for one in results if not one.well]
        talk.say("probe.done", read=len(results) - len(failed), count=len(results))
        if failed:
            talk.say("probe.failed", ids=", ".join(failed))
            click.get_current_context().exit(EXIT_FAILED)

    params: list[click.Parameter] = [
        file_argument(),
        click.Argument(["detectors"], metavar="[ID]...", nargs=-1),
        click.Option(["--try", "try_all"], is_flag=True, help=talk.text("probe.try")),
        click.Option(["--shows"], type=Number(), metavar=talk.text("probe.number"), help=talk.text("probe.shows")),
        json_option(talk),
    ]
    return click.Command("probe", callback=probe, help=talk.text("command.probe"), params=params)


def _json(one: "Probed", tried: "Tried | None") -> dict[str, object]:
    reading = one.reading
    return {
        "detector": one.detector,
        "source": one.source,
        "ok": one.well,
        "raw": reading.raw if reading else None,
        "lel_pct": reading.lel_pct if reading else None,
        "at_least": reading.at_least if reading else None,
        "quality": reading.quality.value if reading else None,
        "status": reading.status.value if reading else None,
        "age_s": one.age_s,
        "reason": one.reason,
        "tried": None if tried is None else _tried_json(tried),
    }


def _tried_json(tried: "Tried") -> dict[str, object]:
    return {
        "verdict": tried.verdict.value,
        "fits": [_way(trial) for trial in tried.about],
        "ways": [
            {
                **_way(trial),
                "raw_bytes": trial.raw.hex(" ").upper(),
                "raw": trial.reading.raw if trial.reading else None,
                "lel_pct": trial.reading.lel_pct if trial.reading else None,
                "reason": trial.reason,
                "fits": trial.fits,
            }
            for trial in tried.trials
        ],
    }


def _way(trial: "Trial") -> dict[str, object]:
    return {"address": trial.shift, "word_order": trial.order.value}


def _tried_lines(talk: Talk, tried: "Tried | None", locale: "Locale") -> Iterator[str]:
    """Every way that was tried, raw beside decoded, and what that says."""
    if tried is None:
        return
    for trial in tried.trials:
        reading = trial.reading
        number = None if reading is None else reading.lel_pct
        value = "—" if number is None else locale.text("format.lel", value=locale.number(number, 2))
        reason = locale.reason(trial.reason) if trial.reason else ""
        mark = "*" if trial.fits else " "
        address = f"{trial.shift:+d}" if trial.shift else "±0"
        raw = trial.raw.hex(" ").upper() or "—"
        yield f"  {mark} {address} {trial.order.value}  {raw:<23}  {value:>14}  {reason}".rstrip()
    ways = ", ".join(talk.text("probe.way", shift=f"{one.shift:+d}", order=one.order.value) for one in tried.about)
    yield "  " + talk.text(f"probe.verdict_{tried.verdict.value}", ways=ways)


def _line(talk: Talk, one: "Probed", width: int, locale: "Locale") -> str:
    from gateway.commands.locale import state_of

    reading = one.reading
    if reading is None:
        reason = talk.text(f"hint.{one.reason}") if f"hint.{one.reason}" in talk.words else locale.reason(one.reason)
        return talk.text("probe.silent", detector=f"{one.detector:<{width}}", source=one.source, reason=reason)
    known = reading.at_least if reading.lel_pct is None else reading.lel_pct
    key = "format.at_least" if reading.lel_pct is None else "format.lel"
    value = "—" if known is None else locale.text(key, value=locale.number(known, 2))
    return talk.text(
        "probe.line",
        detector=f"{one.detector:<{width}}",
        value=value,
        raw="—" if reading.raw is None else reading.raw,
        age=locale.number(one.age_s or 0, 2),
        state=state_of(reading, locale),
        source=one.source,
    )
