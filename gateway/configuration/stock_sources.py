"""Counters and tag readers: from ``[[stock_source]]`` to sources of the stock, each mistake put in its place."""

from decimal import Decimal

from compliance.registers.counters import Counter
from gateway.configuration.problems import Sheet, shown
from gateway.configuration.schema import StockSourceTable
from gateway.configuration.tables import Entry, Tables, near
from gateway.office.counting import StockSource
from sensors.wire.payload_points import pointer_tokens


def stock_sources_of(sheet: Sheet, tables: Tables) -> tuple[StockSource, ...]:
    """Return every source, noting what is wrong with them."""
    areas = [area.table.id for area in tables.areas]
    for entry in tables.stock_sources:
        _check(sheet, entry, areas)
    return tuple(_source(entry.table) for entry in tables.stock_sources)


def _check(sheet: Sheet, entry: Entry[StockSourceTable], areas: list[str]) -> None:
    table, path = entry.table, entry.path
    if "mqtt" not in sheet.tables:
        sheet.refuse((*path, "mqtt"), "no_broker")
    if "+" in table.mqtt or "#" in table.mqtt:
        sheet.refuse((*path, "mqtt"), "wildcard", got=shown(table.mqtt))
    if table.area not in areas:
        values = {"table": "area", "id": shown(table.area), "near": near(table.area, areas)}
        sheet.refuse((*path, "area"), "unknown_reference", **values)
    for key in ("value", "number"):
        try:
            pointer_tokens(getattr(table, key))
        except ValueError:
            sheet.refuse((*path, key), "gauge_pointer", got=shown(getattr(table, key)))


def _source(table: StockSourceTable) -> StockSource:
    return StockSource(
        id=table.id,
        kind=table.kind,
        topic=table.mqtt,
        area=table.area,
        size_kg=Decimal(table.size.removeprefix("P-")),
        act=table.act,
        value=table.value,
        number=table.number,
        brand=table.brand,
        counter=Counter(table.wraps_at, table.most),
        again_s=table.again_s,
    )
