"""Loads depot.toml into frozen objects, or says everything that is wrong with it, each with its line and its cure.

Beside it: the file's shape in `schema`, what must agree in `crosschecks`, the variables laid over it in `overlay`, and
what each part of it becomes in a module of its own (`buses`, `outputs`, `telling` ...). This one goes through them.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from alerts.messages.catalogue import Catalogue
from alerts.policy import Levels, Timing
from alerts.routing import EscalationStep
from compliance import statutes
from compliance.vocabulary import StatuteKind
from gateway.commissioning.upkeep import Intervals
from gateway.configuration.buses import buses_of
from gateway.configuration.credentials import Secrets
from gateway.configuration.crosschecks import BROKER, Clauses, applicable, crosscheck, host_and_port
from gateway.configuration.heads import Head, heads_of, max_age_s
from gateway.configuration.loaded import Loaded
from gateway.configuration.outputs import outputs_of, plan_of
from gateway.configuration.overlay import overlay
from gateway.configuration.problems import ConfigError, Sheet
from gateway.configuration.schema import (
    StoreTable,
    TimingTable,
)
from gateway.configuration.servers import broker_of, database_of
from gateway.configuration.stock_sources import scales_of, stock_sources_of
from gateway.configuration.supplies import supplies_of
from gateway.configuration.suppressions import rules
from gateway.configuration.tables import Tables, typed
from gateway.configuration.telling import channels_of, recipients_of
from gateway.configuration.toml_text import LIMIT, read
from gateway.depot import (
    Area,
    Channel,
    Depot,
    Detector,
    Web,
)
from gateway.store.settings import Influx, Keeping
from gateway.words.language import language_of
from gateway.words.system import said
from sensors.drivers.mqtt import MqttHead, MqttSettings
from sensors.readings import DetectorId
from sensors.stamps import SECOND
from sensors.toml_lines import Lines

DAY_S = 86_400

CONTROL = "control.sock"

SOCKET_PATH_LIMIT = 107
"""Longest path of a Unix socket, in bytes: sun_path of unix(7) less its closing NUL."""


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
    wanted = Secrets(sheet, path.parent, environ, wanted=secrets)
    channels = tuple(channels_of(tables, wanted))
    mqtt = broker_of(tables, wanted)
    influx = database_of(tables, wanted)
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
        buses=tuple(buses_of(tables, heads)),
        detectors=tuple(_detector(head) for head in heads),
        mqtt=mqtt,
        mqtt_heads=tuple(_mqtt_heads(heads)),
        levels=Levels(levels.a1, levels.a2, levels.a3, levels.dead_band),
        timing=replace(Timing(), silence=round(timing.silence_s * SECOND), repeat=round(timing.repeat_s * SECOND)),
        web=Web(*web) if web else None,
        outputs=(),
        channels=channels,
        recipients=tuple(recipients_of(tables)),
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


def _mqtt_heads(heads: tuple[Head, ...]) -> Iterator[MqttHead]:
    for head in heads:
        if head.table.mqtt is not None:
            age = round(max_age_s(head) * SECOND)
            yield MqttHead(DetectorId(head.table.id), head.table.mqtt, head.profile, head.basis, age)


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
