"""``vigia probe``: read each head once and show what it said: raw, decoded, and how old."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.commands.talk import EXIT_FAILED, Talk, file_argument, json_option, load_or_exit

if TYPE_CHECKING:  # the drivers' libraries, which `--help` does not need
    from gateway.probing import Probed


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def probe(file: Path, detectors: tuple[str, ...], *, as_json: bool) -> None:
        loaded = load_or_exit(talk, file, as_json=as_json)
        known = [str(detector.id) for detector in loaded.depot.detectors]
        unknown = [name for name in detectors if name not in known]
        if unknown:
            raise click.UsageError(talk.text("probe.unknown", ids=", ".join(unknown), known=", ".join(known)))
        from gateway.probing import probe as read_once

        results = read_once(loaded.depot, frozenset(detectors or known))
        if as_json:
            talk.put_json([_json(one) for one in results])
        else:
            width = max((len(one.detector) for one in results), default=0)
            for one in results:
                click.secho(_line(talk, one, width), fg=None if one.well else "red")
        failed = [one.detector for one in results if not one.well]
        talk.say("probe.done", read=len(results) - len(failed), count=len(results))
        if failed:
            talk.say("probe.failed", ids=", ".join(failed))
            click.get_current_context().exit(EXIT_FAILED)

    params: list[click.Parameter] = [
        file_argument(),
        click.Argument(["detectors"], metavar="[ID]...", nargs=-1),
        json_option(talk),
    ]
    return click.Command("probe", callback=probe, help=talk.text("command.probe"), params=params)


def _json(one: "Probed") -> dict[str, object]:
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
    }


def _line(talk: Talk, one: "Probed", width: int) -> str:
    reading = one.reading
    if reading is None:
        return talk.text("probe.silent", detector=f"{one.detector:<{width}}", source=one.source, reason=one.reason)
    if reading.lel_pct is not None:
        value = f"{reading.lel_pct:.2f} %LEL"
    else:
        value = "—" if reading.at_least is None else f"≥ {reading.at_least:.2f} %LEL"
    return talk.text(
        "probe.line",
        detector=f"{one.detector:<{width}}",
        value=value,
        raw="—" if reading.raw is None else reading.raw,
        age=f"{one.age_s or 0:.2f}",
        state=" ".join(part for part in (reading.quality.value, reading.status.value, reading.reason) if part),
        source=one.source,
    )
