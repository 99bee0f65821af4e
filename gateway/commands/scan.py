"""``vigia scan``: which units answer on a Modbus line, and which known models they are."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gateway.commands.reasons import why
from gateway.commands.talk import EXIT_FAILED, Talk, json_option, load_or_exit

if TYPE_CHECKING:  # the drivers' libraries, which `--help` does not need
    from gateway.commissioning.blocks import Table
    from gateway.commissioning.scanning import Sweep, Unit
    from gateway.depot import Depot
    from sensors.drivers.settings import BusSettings

FIRST_UNIT, LAST_UNIT = 1, 247
USUAL_TIMEOUT_MS = 500
MODBUS_PORT = 502


def command(talk: Talk) -> click.Command:
    """Build the command in the talk's language."""

    def scan(
        bus: str, *, file: Path, units: tuple[int, ...], timeout_ms: int, beside: bool, as_json: bool, **line: str | int
    ) -> None:
        from gateway.commissioning.scanning import scan as sweep_over

        settings, depot = _line(talk, bus, file, line, as_json=as_json)
        if depot is not None and not beside:
            _refuse_beside_a_watch(talk, depot, bus)
        sweep = sweep_over(settings, units, max(timeout_ms / 1000, settings.timeout_ns / 1e9), _Progress(talk).tell)
        tables = list(_tables(talk, sweep, settings, depot))
        if as_json:
            talk.put_json(_json(sweep))
        else:
            for line_text in _lines(talk, sweep):
                talk.put(line_text)
            if tables:
                from gateway.commissioning.blocks import written

                talk.put(written(tables).rstrip("\n"))
        if sweep.trouble:
            talk.say("scan.trouble", place=settings.place, reason=why(talk, sweep.trouble))
        talk.say("scan.done", found=len(sweep.units), silent=len(sweep.silent), place=settings.place)
        if sweep.trouble or not sweep.units:
            click.get_current_context().exit(EXIT_FAILED)

    params: list[click.Parameter] = [
        click.Argument(["bus"], metavar="BUS"),
        click.Option(["--file"], type=click.Path(path_type=Path), default="depot.toml", help=talk.text("scan.file")),
        click.Option(["--units"], type=_Units(), default=f"{FIRST_UNIT}-{LAST_UNIT}", help=talk.text("scan.units")),
        click.Option(
            ["--timeout-ms"], type=click.IntRange(20, 5000), default=USUAL_TIMEOUT_MS, help=talk.text("scan.timeout")
        ),
        click.Option(
            ["--transport"], type=click.Choice(["tcp", "rtu-over-tcp"]), default="tcp", help=talk.text("scan.transport")
        ),
        click.Option(["--baud"], type=click.IntRange(300, 1_000_000), default=9600, help=talk.text("scan.baud")),
        click.Option(
            ["--parity"], type=click.Choice(["none", "even", "odd"]), default="none", help=talk.text("scan.parity")
        ),
        click.Option(["--stop-bits"], type=click.IntRange(1, 2), default=1, help=talk.text("scan.stop_bits")),
        click.Option(["--beside"], is_flag=True, help=talk.text("scan.beside")),
        json_option(talk),
    ]
    return click.Command("scan", callback=scan, help=talk.text("command.scan"), params=params)


class _Units(click.ParamType[tuple[int, ...]]):
    """``1-32,40``: numbers and ranges."""

    name = "1-32,40"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        found: dict[int, None] = {}
        for part in str(value).split(","):
            match = re.fullmatch(r"\s*(\d{1,3})(?:\s*-\s*(\d{1,3}))?\s*", part)
            low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
            if not 0 <= low <= high <= 255:
                self.fail(f"{value!r}: {self.name}", param, ctx)
            found |= dict.fromkeys(range(low, high + 1))
        return tuple(found)


def _line(
    talk: Talk, bus: str, file: Path, line: dict[str, str | int], *, as_json: bool
) -> "tuple[BusSettings, Depot | None]":
    """Return the line that is meant: a serial port, a host, or a bus of the file, whose depot comes with it."""
    from sensors.drivers.settings import BAUDS, BusSettings, Parity, SerialSettings, Transport

    if bus.startswith("/"):
        baud = int(line["baud"])
        if baud not in BAUDS:
            raise click.UsageError(talk.text("refused.baud.wrong", got=baud))
        serial = SerialSettings(bus, baud, Parity(line["parity"]), int(line["stop_bits"]))
        return BusSettings(id=bus, transport=Transport.RTU, serial=serial), None
    found = re.fullmatch(r"([A-Za-z0-9._\-]+|\[[0-9A-Fa-f:]+\])(?::(\d{1,5}))?", bus)
    if found and (found[2] or "." in bus or bus == "localhost"):
        port = int(found[2] or MODBUS_PORT)
        return BusSettings(id=bus, host=found[1].strip("[]"), port=port, transport=Transport(line["transport"])), None
    depot = load_or_exit(talk, file, as_json=as_json).depot
    settings = next((one.settings for one in depot.buses if one.settings.id == bus), None)
    if settings is None:
        known = ", ".join(one.settings.id for one in depot.buses)
        raise click.UsageError(talk.text("scan.unknown", bus=bus, file=file, known=known))
    return settings, depot


def _refuse_beside_a_watch(talk: Talk, depot: "Depot", bus: str) -> None:
    from gateway.machine.sockets import answers

    try:
        running = answers(depot.socket)
    except OSError:  # no place where a socket could be
        running = False
    if running:
        talk.say("scan.running", bus=bus)
        click.get_current_context().exit(EXIT_FAILED)


class _Progress:
    """Says on a terminal which number is asked; elsewhere nothing."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._moving = sys.stderr.isatty()

    def tell(self, number: int, unit: "Unit | None") -> None:
        if self._moving:
            key = "scan.asked" if unit is None else "scan.answered"
            click.echo("\r\x1b[K" + self._talk.text(key, unit=number), nl=unit is not None, err=True)


def _lines(talk: Talk, sweep: "Sweep") -> Iterator[str]:
    from gateway.commands.locale import spoken, state_of

    locale = spoken(talk.words.language, "UTC")
    if sweep.everybody:
        yield talk.text("scan.everybody")
    for unit in sweep.units:
        if not unit.known:
            how = talk.text("scan.data") if unit.refusal is None else talk.text("scan.exception", code=unit.refusal)
            yield talk.text("scan.unit", unit=f"{unit.number:>3}", how=how)
        for known in unit.known:
            reading = known.reading
            value = "—" if reading.raw is None else reading.raw
            state = state_of(reading, locale)
            yield talk.text(
                "scan.known", unit=f"{unit.number:>3}", profile=known.profile, title=known.title, raw=value, state=state
            )
    for asked, answered in sweep.names:
        yield talk.text("scan.other_name", asked=asked, answered=answered)


def _tables(talk: Talk, sweep: "Sweep", settings: "BusSettings", depot: "Depot | None") -> "Iterator[Table]":
    """The blocks to paste: one for each recognised unit that the file does not have yet."""
    from gateway.commissioning.blocks import Table, free_id

    area = depot.areas[0].id if depot is not None and depot.areas else "patio"
    have = (
        {head.unit for bus in depot.buses if bus.settings.id == settings.id for head in bus.heads} if depot else set()
    )
    taken = {str(detector.id) for detector in depot.detectors} if depot else set()
    recognised = [unit for unit in sweep.units if unit.known and unit.number not in have]
    bus = settings.id
    if depot is None and recognised:
        bus = "detectores"
        yield Table("bus", {"id": bus, **_bus_keys(settings)})
    for unit in recognised:
        known = unit.known[0]
        name = free_id(f"GD-{unit.number}", taken)
        taken.add(name)
        keys: dict[str, object] = {"id": name, "area": area, "bus": bus, "unit": unit.number, "profile": known.profile}
        if "channel" in known.needs:
            keys["channel"] = 1
        if "head" in known.needs:
            keys["head"] = {"milliamp": [4, 20], "range_lel_pct": [0, 100]}
        comment = talk.text("scan.comment_channel" if known.needs else "scan.comment", title=known.title)
        yield Table("detector", keys, comment)


def _bus_keys(settings: "BusSettings") -> dict[str, object]:
    serial = settings.serial
    if serial is not None:
        line = {
            "device": serial.device,
            "baud": serial.baud,
            "parity": serial.parity.value,
            "stop_bits": serial.stop_bits,
        }
        return {"transport": "rtu", **line}
    return {"transport": settings.transport.value, "host": settings.host, "port": settings.port}


def _json(sweep: "Sweep") -> dict[str, object]:
    return {
        "everybody": sweep.everybody,
        "trouble": sweep.trouble,
        "silent": sweep.silent,
        "answered_for_others": [{"asked": asked, "answered": answered} for asked, answered in sweep.names],
        "units": [
            {
                "unit": unit.number,
                "refusal": unit.refusal,
                "known": [
                    {
                        "profile": known.profile,
                        "title": known.title,
                        "raw": known.reading.raw,
                        "lel_pct": known.reading.lel_pct,
                        "quality": known.reading.quality.value,
                        "status": known.reading.status.value,
                        "needs": list(known.needs),
                    }
                    for known in unit.known
                ],
            }
            for unit in sweep.units
        ],
    }
