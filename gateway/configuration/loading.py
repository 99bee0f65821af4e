"""Loads depot.toml into frozen objects, or says everything that is wrong with it, each with its line and its cure.

Beside it: the file's shape in `schema`, what must agree in `crosschecks`, the variables laid over it in `overlay`. This
module goes through them in order and builds the depot.
"""

import os
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from alerts.messages.catalogue import Catalogue
from alerts.policy import Levels, Timing
from alerts.routing import EscalationStep, Recipient
from compliance import statutes
from compliance.vocabulary import StatuteKind
from gateway.commissioning.upkeep import Intervals
from gateway.configuration.crosschecks import BROKER, Clauses, applicable, crosscheck, host_and_port
from gateway.configuration.heads import Head, heads_of, max_age_s
from gateway.configuration.lines import late_ms
from gateway.configuration.loaded import Loaded
from gateway.configuration.outputs import outputs_of, plan_of
from gateway.configuration.overlay import overlay
from gateway.configuration.problems import ConfigError, Sheet, shown
from gateway.configuration.schema import (
    BusTable,
    MqttTable,
    PlainChannelTable,
    StoreTable,
    TimingTable,
    WebhookTable,
)
from gateway.configuration.stock_sources import scales_of, stock_sources_of
from gateway.configuration.supplies import supplies_of
from gateway.configuration.suppressions import rules
from gateway.configuration.tables import Entry, Tables, typed
from gateway.configuration.toml_text import LIMIT, read
from gateway.depot import (
    Area,
    Bus,
    Channel,
    ConsoleChannel,
    Depot,
    Detector,
    MqttChannel,
    Web,
    WebhookChannel,
)
from gateway.store.settings import Changes, Influx, Keeping, Pace, Target
from gateway.words.language import language_of
from gateway.words.system import said
from sensors.drivers.modbus import ModbusHead
from sensors.drivers.mqtt import MqttHead, MqttSettings
from sensors.drivers.settings import BusSettings, Parity, SerialSettings, Transport
from sensors.readings import DetectorId
from sensors.stamps import MILLISECOND, SECOND
from sensors.toml_lines import Lines
from sensors.toml_lines import Path as TomlPath

CENTRE = "centre"
"""The role whose call costs something."""

GAS = frozenset({"A1", "A2", "A3"})
EVERYTHING = GAS | {"BLIND", "SYSTEM", "COMPLIANCE"}

DAY_S = 86_400
DAY_MS = 1000 * DAY_S

CONTROL = "control.sock"

SOCKET_PATH_LIMIT = 107
"""Longest path of a Unix socket, in bytes: sun_path of unix(7) less its closing NUL."""

SECRET_LIMIT = 4096
"""Longest secret read from a file, in bytes."""


def load(path: Path, environ: Mapping[str, str], *, secrets: bool = True) -> Loaded:
    """Read a configuration, with the environment's variables laid over it. Messages are in the environment's language.

    Without `secrets` they are neither read nor missed: whoever only asks about the depot need not hold any.

    Raises:
        ConfigError: with every problem found.
    """
    sheet = Sheet(str(path), Catalogue.load("gateway.words", language_of(environ)), Lines())
    sheet = read(sheet, _content(sheet, path))
    try:
        return _loaded(sheet, path, environ, secrets=secrets)
    except RecursionError:
        sheet.refuse_on(_deepest(sheet.lines), (), "too_deep")
        raise ConfigError(tuple(sheet.problems)) from None


def _loaded(sheet: Sheet, path: Path, environ: Mapping[str, str], *, secrets: bool) -> Loaded:
    sheet = overlay(sheet, environ)
    tables = typed(sheet)
    clauses = applicable(tables)
    crosscheck(sheet, tables, clauses)
    _socket_fits(sheet, tables, path)
    heads = heads_of(sheet, tables, path.parent)
    wanted = _Secrets(sheet, path.parent, environ, wanted=secrets)
    channels = tuple(_channels(tables, wanted))
    mqtt = _mqtt(tables, wanted)
    influx = _influx(tables, wanted)
    outputs = outputs_of(sheet, tables, path.parent)
    tests, supplies = plan_of(sheet, tables, outputs), supplies_of(sheet, tables, path.parent)
    stock, scales = stock_sources_of(sheet, tables, path.parent), scales_of(sheet, tables, path.parent)
    sheet.finish()
    depot = _depot(path, tables, heads, clauses, mqtt=mqtt, channels=channels, influx=influx)
    depot = replace(depot, outputs=outputs, tests=tests, supplies=supplies, stock_sources=stock, scales=scales)
    return Loaded(depot, tuple(dict.fromkeys(sheet.warnings)))


def _deepest(lines: Lines) -> int:
    return lines.of[max(lines.of, key=len)] if lines.of else 1


def _socket_fits(sheet: Sheet, tables: Tables, path: Path) -> None:
    """Refuse a data folder whose control socket has no room in an address of the kernel's."""
    if tables.depot is None:
        return
    socket = path.absolute().parent / tables.depot.table.data / CONTROL
    length = len(os.fsencode(socket))
    if length > SOCKET_PATH_LIMIT:
        most = SOCKET_PATH_LIMIT - len(f"/{CONTROL}")
        sheet.refuse(("depot", "data"), "data_too_long", length=length - len(f"/{CONTROL}"), most=most)


def _content(sheet: Sheet, path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LIMIT + 1)
    except FileNotFoundError:
        sheet.refuse((), "no_file")
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
        sheet.refuse((), "unreadable", reason=said(sheet.words, getattr(error, "strerror", None) or str(error)))
    raise ConfigError(tuple(replace(problem, line=0) for problem in sheet.problems))


# --- secrets --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Secrets:
    sheet: Sheet
    folder: Path
    environ: Mapping[str, str]
    wanted: bool

    def of(self, path: TomlPath, key: str, variable: str | None, file: str | None) -> str | None:
        """Return the secret that ``<key>_env`` or ``<key>_file`` names; None without, refused or not wanted."""
        if variable is not None and file is not None:
            self.sheet.refuse((*path, f"{key}_file"), "two_secrets", word=key)
        elif not self.wanted:
            return None
        elif variable is not None:
            value = self.environ.get(variable)
            if value:
                return value
            self.sheet.refuse((*path, f"{key}_env"), "unset_variable", name=shown(variable, quoted=False))
        elif file is not None:
            return self._read(path, key, file)
        return None

    def _read(self, path: TomlPath, key: str, file: str) -> str | None:
        try:
            with (self.folder / file).open("rb") as stream:
                text = stream.read(SECRET_LIMIT).decode("utf-8").strip()
        except (OSError, ValueError) as error:
            reason = said(self.sheet.words, getattr(error, "strerror", None) or str(error))
            self.sheet.refuse((*path, f"{key}_file"), "secret_file", file=shown(file), reason=reason)
            return None
        if not text:
            reason = self.sheet.words.text("reason.empty_file")
            self.sheet.refuse((*path, f"{key}_file"), "secret_file", file=shown(file), reason=reason)
        return text or None


# --- building -------------------------------------------------------------------------------------


def _channels(tables: Tables, secrets: _Secrets) -> Iterator[Channel]:
    """The channels of the file, and the broker's where it is not among them: alarms go out on it by contract."""
    for entry in tables.channels:
        match entry.table:
            case WebhookTable() as hook:
                secret = secrets.of(entry.path, "secret", hook.secret_env, hook.secret_file)
                yield WebhookChannel(hook.id, hook.url, secret, hook.timeout_s)
            case PlainChannelTable(kind="mqtt") as plain:
                yield MqttChannel(plain.id)
            case PlainChannelTable() as plain:
                yield ConsoleChannel(plain.id)
            case _:  # an output is no channel of the dispatcher
                pass
    if _brings_channel(tables):
        yield MqttChannel(BROKER)


def _brings_channel(tables: Tables) -> bool:
    return tables.mqtt is not None and not any(entry.table.kind == "mqtt" for entry in tables.channels)


def _mqtt(tables: Tables, secrets: _Secrets) -> MqttSettings | None:
    if tables.mqtt is None:
        return None
    entry: Entry[MqttTable] = tables.mqtt
    broker = entry.table
    depot = tables.depot.table.id if tables.depot else ""
    return MqttSettings(
        host=broker.host,
        port=broker.port,
        username=broker.username,
        password=secrets.of(entry.path, "password", broker.password_env, broker.password_file),
        client_id=f"vigia-{depot}",
    )


def _influx(tables: Tables, secrets: _Secrets) -> Influx | None:
    if tables.influx is None:
        return None
    path, table = tables.influx.path, tables.influx.table
    ca = None if table.ca is None else secrets.folder / table.ca
    if ca is not None:
        try:
            ssl.create_default_context(cafile=str(ca))
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            reason = said(secrets.sheet.words, getattr(error, "strerror", None) or str(error))
            secrets.sheet.refuse((*path, "ca"), "ca", got=shown(table.ca), reason=reason)
    return Influx(
        target=Target(
            url=table.url,
            database=table.database,
            org=table.org,
            token=secrets.of(path, "token", table.token_env, table.token_file),
            username=table.username,
            password=secrets.of(path, "password", table.password_env, table.password_file),
            ca=ca,
            timeout_s=table.timeout_s,
            compress=table.compress,
        ),
        pace=Pace(most_points=table.batch_points, catch_up=table.catch_up_points_s),
        changes=Changes(table.change_lel_pct, table.quiet_s) if table.report == "changes" else None,
        spool_bytes=table.spool_mb * 2**20,
        spool_age_ms=round(table.spool_days * DAY_MS),
    )


def _keeping(tables: Tables) -> Keeping:
    table = tables.store.table if tables.store else StoreTable()
    return Keeping(table.keep_ticks_min * 60, table.keep_seconds_days * DAY_S, table.keep_minutes_days * DAY_S)


def _depot(
    path: Path,
    tables: Tables,
    heads: tuple[Head, ...],
    clauses: Clauses,
    *,
    mqtt: MqttSettings | None,
    channels: tuple[Channel, ...],
    influx: Influx | None,
) -> Depot:
    if tables.depot is None or tables.levels is None:
        raise AssertionError("a configuration without [depot] or [levels] was not refused")
    depot, levels = tables.depot.table, tables.levels.table
    timing = tables.timing.table if tables.timing else TimingTable()
    web = host_and_port(tables.web.table.listen) if tables.web else None
    return Depot(
        file=path.absolute(),
        id=depot.id,
        name=depot.name or depot.id,
        address=depot.address,
        access=depot.access,
        timezone=depot.timezone,
        language=depot.language,
        laws=tuple(dict.fromkeys(depot.laws)),
        data=path.absolute().parent / depot.data,
        public_url=depot.public_url,
        reference_vol_pct=depot.lel_reference_vol_pct,
        areas=tuple(_areas(tables, clauses)),
        buses=tuple(_buses(tables, heads)),
        detectors=tuple(_detector(head) for head in heads),
        mqtt=mqtt,
        mqtt_heads=tuple(
            MqttHead(
                DetectorId(head.table.id), head.table.mqtt, head.profile, head.basis, round(max_age_s(head) * SECOND)
            )
            for head in heads
            if head.table.mqtt is not None
        ),
        levels=Levels(levels.a1, levels.a2, levels.a3, levels.dead_band),
        timing=replace(Timing(), silence=round(timing.silence_s * SECOND), repeat=round(timing.repeat_s * SECOND)),
        web=Web(*web) if web else None,
        outputs=(),
        channels=channels,
        recipients=tuple(_recipients(tables)),
        escalation=tuple(
            EscalationStep(step.table.after_s, tuple(step.table.recipients))
            for step in sorted(tables.escalation, key=lambda step: step.table.after_s)
        ),
        within_s=_house_within_s(clauses),
        by_design=tuple(rules(tables, depot.timezone)),
        keeping=_keeping(tables),
        influx=influx,
        checkpoint_copy=path.absolute().parent / tables.journal.table.checkpoint_copy if tables.journal else None,
    )


def _house_within_s(clauses: Clauses) -> float:
    within_s = next((detection.within_s for pack, detection in clauses if pack.id == statutes.HOUSE), None)
    if within_s is None:
        raise AssertionError("the house pack lost its promise")
    return within_s


def _areas(tables: Tables, clauses: Clauses) -> Iterator[Area]:
    lawful = [detection for pack, detection in clauses if pack.kind is StatuteKind.STATUTE]
    for area in (entry.table for entry in tables.areas):
        limits = [
            clause.within_s for clause in lawful if clause.within_s is not None and clause.binds(area.licensed_kg)
        ]
        yield Area(area.id, area.licensed_kg, area.use, area.name or area.id, min(limits, default=None))


def _buses(tables: Tables, heads: tuple[Head, ...]) -> Iterator[Bus]:
    for bus in (entry.table for entry in tables.buses):
        settings = _bus_settings(bus)
        mine = tuple(
            ModbusHead(DetectorId(head.table.id), head.table.unit, head.profile, head.basis, _turnaround_ns(head))
            for head in heads
            if head.table.bus == bus.id and head.table.unit is not None
        )
        yield Bus(settings, mine)


def _bus_settings(bus: BusTable) -> BusSettings:
    transport = Transport(bus.transport)
    serial = None
    if transport is Transport.RTU:
        if bus.device is None or bus.baud is None:
            raise AssertionError("a serial bus without its port was not refused")
        serial = SerialSettings(bus.device, bus.baud, Parity(bus.parity or "none"), bus.stop_bits or 1)
    elif bus.host is None:
        raise AssertionError("a bus without a host was not refused")
    return BusSettings(
        id=bus.id,
        host=bus.host or "",
        port=0 if serial else bus.port,
        period_ns=bus.period_ms * MILLISECOND,
        timeout_ns=bus.timeout_ms * MILLISECOND,
        strict_ids=bus.transaction_id == "strict",
        in_flight=bus.in_flight,
        transport=transport,
        serial=serial,
        line_baud=bus.line_baud,
        gap_ns=None if bus.gap_ms is None else round(bus.gap_ms * MILLISECOND),
        turnaround_ns=round(bus.turnaround_ms * MILLISECOND),
        late_ns=late_ms(bus) * MILLISECOND,
        echo=bus.echo or False,
    )


def _turnaround_ns(head: Head) -> int:
    """Return the rest that a head needs on its line: as the file says, else as its profile does."""
    rest_ms = head.table.turnaround_ms
    if rest_ms is None:
        rest_ms = max(float(head.profile.line.get(key, 0)) for key in ("gap_ms", "turnaround_ms"))
    return round(rest_ms * MILLISECOND)


def _detector(head: Head) -> Detector:
    return Detector(
        id=DetectorId(head.table.id),
        area=head.table.area,
        source=head.table.bus or BROKER,
        profile=head.profile.id,
        blind_after_s=max_age_s(head),
        refresh_s=head.profile.refresh_s,
        detects_silence_s=head.profile.detects_silence_s,
        line=head.line,
        name=head.table.name or head.table.id,
        calibrated_on=head.table.calibrated_on,
        tested_on=head.table.tested_on,
        intervals=Intervals.of(head.profile.service),
    )


def _recipients(tables: Tables) -> Iterator[Recipient]:
    called_in = {name for step in tables.escalation for name in step.table.recipients}
    persons = [entry.table for entry in tables.recipients]
    alarms = {
        person.id: (frozenset[str]() if person.id in called_in else GAS)
        if person.alarms is None
        else frozenset[str](person.alarms)
        for person in persons
    }
    consoles = {entry.table.id for entry in tables.channels if entry.table.kind == "console"}
    reached = [person for person in persons if person.role != CENTRE and not consoles.issuperset(person.channels)]
    heard_at_once = frozenset[str]().union(*(alarms[person.id] for person in reached))
    for person in persons:
        heard = alarms[person.id]
        called = person.role == CENTRE and heard & GAS <= heard_at_once
        name, phone = person.name or person.id, person.phone or ""
        yield Recipient(person.id, name, person.role, tuple(person.channels), heard, called, phone)
    if _brings_channel(tables):
        yield Recipient(BROKER, "MQTT", "operator", (BROKER,), EVERYTHING)
