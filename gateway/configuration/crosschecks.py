"""What must agree between tables: ids, references, levels and laws, addresses. Notes problems; builds nothing."""

import ipaddress
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from compliance import catalogue, statutes
from compliance.vocabulary import Detection, Statute
from gateway.configuration import lines, suppressions
from gateway.configuration.problems import Sheet, near, shown
from gateway.configuration.schema import OutputTable, PlainChannelTable, RecipientTable, WebhookTable
from gateway.configuration.tables import Entry, Tables
from sensors.toml_lines import Path

BROKER = "mqtt"
"""Source of all MQTT heads, and id of the channel that a broker brings with it."""


Clauses: TypeAlias = tuple[tuple[Statute, Detection], ...]
"""Detection clauses, each with its pack; to read the packs takes long, so it is done once for a file."""


def crosscheck(sheet: Sheet, tables: Tables, clauses: Clauses) -> None:
    """Note everything that does not agree."""
    _unique_ids(sheet)
    _unique_names(sheet, "area", tables.areas)
    _unique_names(sheet, "detector", tables.detectors)
    _unique_names(sheet, "recipient", tables.recipients)
    _depot(sheet, tables)
    _levels(sheet, tables, clauses)
    lines.crosscheck(sheet, tables)
    _detectors(sheet, tables)
    _channels(sheet, tables)
    _recipients(sheet, tables)
    suppressions.crosscheck(sheet, tables)
    _web(sheet, tables)
    _influx(sheet, tables)
    _warnings(sheet, tables)


def applicable(tables: Tables) -> Clauses:
    """Return the detection clauses that bind this depot's largest area, the house's own last."""
    kg = max((area.table.licensed_kg for area in tables.areas), default=0.0)
    laws = tables.depot.table.laws if tables.depot else []
    known = [name for name in laws if name in statutes.names() and name != statutes.HOUSE]
    facts = catalogue.load()
    packs = [statutes.load(name, catalogue=facts) for name in (*dict.fromkeys(known), statutes.HOUSE)]
    return tuple((pack, pack.detection) for pack in packs if pack.detection and pack.detection.binds(kg))


# --- ids and references ---------------------------------------------------------------------------


def declared(sheet: Sheet, table: str) -> dict[str, Path]:
    """Return every id of a table with the path of its first mention, also of entries that could not be typed."""
    found: dict[str, Path] = {}
    for path, name in _ids(sheet, table):
        found.setdefault(name, path)
    return found


def _ids(sheet: Sheet, table: str) -> Iterable[tuple[Path, str]]:
    entries = sheet.tables.get(table)
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            yield (table, index, "id"), entry["id"]


def _unique_ids(sheet: Sheet) -> None:
    for table in ("area", "bus", "detector", "channel", "recipient", "supply"):
        first: dict[str, Path] = {}
        for path, name in _ids(sheet, table):
            if name.lower() in first:
                sheet.refuse(
                    path, "same_id", id=shown(name), first=sheet.at(first[name.lower()]), second=sheet.at(path)
                )
            first.setdefault(name.lower(), path)
            if name == BROKER and table == "bus":
                sheet.refuse(path, "kept_id", id=shown(name))


def _unique_names(sheet: Sheet, table: str, entries: Sequence[Entry[Any]]) -> None:
    first: dict[str, Path] = {}
    for entry in entries:
        name = entry.table.name
        path: Path = (*entry.path, "name")
        if name is None:
            continue
        folded = " ".join(name.split()).casefold()
        if folded in first:
            values = {"name": shown(name), "first": sheet.at(first[folded]), "second": sheet.at(path)}
            sheet.refuse(path, "same_name", table=table, **values)
        first.setdefault(folded, path)


def _known(sheet: Sheet, path: Path, table: str, name: str) -> None:
    have = declared(sheet, table)
    if name not in have:
        if have:
            sheet.refuse(path, "unknown_reference", table=table, id=shown(name), near=near(name, [*have]))
        else:
            sheet.refuse(path, "no_such_table", table=table, id=shown(name))


# --- depot, levels, page --------------------------------------------------------------------------


def _depot(sheet: Sheet, tables: Tables) -> None:
    if tables.depot is None:
        return
    depot = tables.depot.table
    if not _is_timezone(depot.timezone):
        sheet.refuse(("depot", "timezone"), "timezone", got=shown(depot.timezone))
    laws = [name for name in statutes.names() if name != statutes.HOUSE]
    for index, law in enumerate(depot.laws):
        if law not in statutes.names():
            sheet.refuse(("depot", "laws", index), "law", got=shown(law), near=near(law, laws))
    if depot.public_url is not None and not is_url(depot.public_url):
        sheet.refuse(("depot", "public_url"), "url", got=shown(depot.public_url))


def _is_timezone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ValueError, OSError, LookupError):  # malformed, a folder of zones, unknown
        return False
    return True


def is_url(text: str) -> bool:
    """Tell whether a text is an http or https address with a host, and without a name or password in it."""
    try:
        parts = urlsplit(text)
        port_is_valid = parts.port != 0
    except ValueError:
        return False
    clean = not any(letter.isspace() for letter in text) and parts.username is None
    return parts.scheme in ("http", "https") and bool(parts.hostname) and port_is_valid and clean


def _levels(sheet: Sheet, tables: Tables, clauses: Clauses) -> None:
    if tables.levels is None:
        return
    levels = tables.levels.table
    if not levels.a1 < levels.a2 < levels.a3:
        values = {"a1": f"{levels.a1:g}", "a2": f"{levels.a2:g}", "a3": f"{levels.a3:g}"}
        sheet.refuse(("levels", "A1"), "levels_order", **values)
    if levels.dead_band >= levels.a1:
        sheet.refuse(("levels", "dead_band"), "dead_band", got=f"{levels.dead_band:g}", a1=f"{levels.a1:g}")
    limits = [
        (detection.set_point_lel_pct, f"{pack.citation}, {detection.clause}")
        for pack, detection in clauses
        if detection.set_point_lel_pct is not None
    ]
    strictest = min((limit for limit, _ in limits), default=None)
    if strictest is not None and levels.a1 > strictest:
        cited = "; ".join(clause for limit, clause in limits if limit == strictest)
        values = {"got": f"{levels.a1:g}", "limit": f"{strictest:g}", "clauses": cited}
        sheet.refuse(("levels", "A1"), "a1_above_law", **values)


def _web(sheet: Sheet, tables: Tables) -> None:
    if tables.web is None:
        return
    listen = tables.web.table.listen
    place = host_and_port(listen)
    if place is None:
        sheet.refuse(("web", "listen"), "listen", got=shown(listen))
    elif not _is_loopback(place[0]):
        sheet.refuse(("web", "listen"), "not_loopback", got=shown(listen), port=place[1])


def host_and_port(listen: str) -> tuple[str, int] | None:
    """Take ``127.0.0.1:8080`` or ``[::1]:8080`` apart; None if it is neither."""
    host, colon, port = listen.rpartition(":")
    if not colon or not port.isascii() or not port.isdecimal() or len(port) > 5 or not 0 < int(port) <= 65535:
        return None
    bare = host.removeprefix("[").removesuffix("]")
    if not bare or (":" in bare and bare == host):
        return None
    return bare, int(port)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# --- wires ----------------------------------------------------------------------------------------


def _detectors(sheet: Sheet, tables: Tables) -> None:
    for entry in tables.detectors:
        head = entry.table
        _known(sheet, (*entry.path, "area"), "area", head.area)
        if (head.bus is None) == (head.mqtt is None):
            sheet.refuse(entry.path, "no_wire" if head.bus is None else "two_wires")
        elif head.bus is not None:
            _known(sheet, (*entry.path, "bus"), "bus", head.bus)
            if head.unit is None:
                sheet.refuse((*entry.path, "unit"), "missing", word="unit", example="unit = 1")
        elif head.mqtt is not None:
            _topic(sheet, (*entry.path, "mqtt"), head.mqtt)
            for key in ("unit", "turnaround_ms"):
                if getattr(head, key) is not None:
                    sheet.refuse((*entry.path, key), "unit_on_mqtt", word=key)
            if "mqtt" not in sheet.tables:
                sheet.refuse((*entry.path, "mqtt"), "no_broker")


def _topic(sheet: Sheet, path: Path, topic: str) -> None:
    if "+" in topic or "#" in topic:
        sheet.refuse(path, "wildcard", got=shown(topic))
    elif topic.startswith("$") or "\x00" in topic:
        sheet.refuse(path, "topic", got=shown(topic))


# --- outputs and people ---------------------------------------------------------------------------


def _channels(sheet: Sheet, tables: Tables) -> None:
    for entry in tables.channels:
        match entry.table:
            case OutputTable() as output:
                if output.bus is not None:
                    _known(sheet, (*entry.path, "bus"), "bus", output.bus)
                for index, area in enumerate(output.areas):
                    _known(sheet, (*entry.path, "areas", index), "area", area)
            case WebhookTable() as hook if not is_url(hook.url):
                sheet.refuse((*entry.path, "url"), "url", got=shown(hook.url))
            case PlainChannelTable(kind="mqtt") if "mqtt" not in sheet.tables:
                sheet.refuse((*entry.path, "kind"), "no_broker")
            case _:
                pass
        if entry.table.id == BROKER and entry.table.kind != "mqtt":
            sheet.refuse((*entry.path, "id"), "kept_id", id=shown(BROKER))


def _recipients(sheet: Sheet, tables: Tables) -> None:
    outputs = {entry.table.id for entry in tables.channels if isinstance(entry.table, OutputTable)}
    for entry in tables.recipients:
        for index, channel in enumerate(entry.table.channels):
            path: Path = (*entry.path, "channels", index)
            if channel in outputs:
                sheet.refuse(path, "output_as_channel", id=shown(channel))
            elif not (channel == BROKER and "mqtt" in sheet.tables):
                _known(sheet, path, "channel", channel)
        _once(sheet, (*entry.path, "channels"), entry.table.channels)
    for step in tables.escalation:
        for index, recipient in enumerate(step.table.recipients):
            _known(sheet, (*step.path, "recipients", index), "recipient", recipient)
        _once(sheet, (*step.path, "recipients"), step.table.recipients)


def _once(sheet: Sheet, path: Path, names: Sequence[str]) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            sheet.refuse((*path, index), "listed_twice", id=shown(name))


# --- the database ---------------------------------------------------------------------------------


def _influx(sheet: Sheet, tables: Tables) -> None:
    if tables.influx is None:
        return
    influx = tables.influx.table
    if not is_url(influx.url):
        sheet.refuse(("influx", "url"), "url", got=shown(influx.url))
    if influx.username is not None and (influx.token_env or influx.token_file):
        sheet.refuse(("influx", "username"), "token_and_username")
    if influx.username is None and (influx.password_env or influx.password_file):
        sheet.refuse(("influx", "password_env" if influx.password_env else "password_file"), "password_alone")


# --- what may stand but should be known -----------------------------------------------------------


def _warnings(sheet: Sheet, tables: Tables) -> None:
    reading = {entry.table.bus for entry in tables.detectors}
    for entry in tables.channels:
        if isinstance(entry.table, OutputTable) and entry.table.bus in reading:
            sheet.warn((*entry.path, "bus"), "shared_line", bus=entry.table.bus)
    heard = {channel for entry in tables.recipients for channel in entry.table.channels}
    for entry in tables.channels:
        if not isinstance(entry.table, OutputTable) and entry.table.id not in heard:
            sheet.warn((*entry.path, "id"), "unheard_channel", id=shown(entry.table.id))
    checks: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("no_detectors", lambda: "detector" not in sheet.tables),
        ("no_output", lambda: "mqtt" not in sheet.tables and not _counting(tables)),
        ("nobody_hears_blind", lambda: "mqtt" not in sheet.tables and not _hears_blind(tables.recipients)),
    )
    for reason, holds in checks:
        if holds():
            sheet.warn((), reason)


def _counting(tables: Tables) -> bool:
    return any(entry.table.kind != "console" for entry in tables.channels)


def _hears_blind(recipients: Sequence[Entry[RecipientTable]]) -> bool:
    return any("BLIND" in (entry.table.alarms or ()) for entry in recipients)
