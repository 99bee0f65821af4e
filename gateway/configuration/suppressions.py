"""Rules that keep alarms quiet by design: what they may name, and the rule that follows. Never gas, never an area."""

from collections.abc import Iterator
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from alerts.alarms import AlarmKey, Kind
from gateway.configuration.problems import Sheet, near, shown
from gateway.configuration.tables import Tables
from gateway.engine.areas import PREFIX
from gateway.engine.orders import ByDesign
from sensors.stamps import SECOND
from sensors.toml_lines import Path

KINDS = ("BLIND", "SYSTEM", "COMPLIANCE")


def crosscheck(sheet: Sheet, tables: Tables) -> None:
    """Note every alarm that cannot be kept quiet, or is not there."""
    heard = [str(entry.table.id) for entry in tables.detectors] + [str(entry.table.id) for entry in tables.buses]
    if "mqtt" in sheet.tables:
        heard.append("mqtt")
    for entry in tables.suppressions:
        for index, name in enumerate(entry.table.alarms):
            _alarm(sheet, (*entry.path, "alarms", index), name, heard, quiet=True)
        if entry.table.during is not None:
            _alarm(sheet, (*entry.path, "during"), entry.table.during, heard, quiet=False)


def rules(tables: Tables, timezone: str) -> Iterator[ByDesign]:
    """Yield the rules of a checked file. Each ends with its last day by the depot's clock."""
    zone = ZoneInfo(timezone)
    for entry in tables.suppressions:
        table = entry.table
        end = datetime.combine(table.until + timedelta(days=1), time(), zone)
        yield ByDesign(
            alarms=frozenset(map(_key, table.alarms)),
            during=None if table.during is None else _key(table.during),
            by=table.by,
            why=table.reason,
            until=round(end.timestamp()) * SECOND,
        )


def _key(name: str) -> AlarmKey:
    kind, _, subject = name.partition(" ")
    return AlarmKey(subject.strip(), Kind(kind))


def _alarm(sheet: Sheet, path: Path, name: str, heard: list[str], *, quiet: bool) -> None:
    kind, _, subject = name.partition(" ")
    subject = subject.strip()
    if kind == "GAS" and quiet:
        sheet.refuse(path, "gas_kept_quiet")
    elif kind not in (*KINDS, "GAS") or not subject:
        sheet.refuse(path, "alarm_name", got=shown(name))
    elif subject.startswith(PREFIX) or subject == "flood":
        sheet.refuse(path, "never_quiet", id=shown(subject))
    elif kind in ("BLIND", "GAS") and subject not in heard:
        sheet.refuse(path, "unknown_reference", table="detector, bus", id=shown(subject), near=near(subject, heard))
