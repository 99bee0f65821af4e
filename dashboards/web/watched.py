"""``GET ledger``: what each detector was good for, second by second, out of the journal."""

import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from dashboards.ledger import months_csv, stretches_csv
from dashboards.past import LedgerView, WatchedTime
from dashboards.web.answers import Refused, as_json, described, or_csv
from dashboards.web.disk import LEDGER_WITHIN_S, Disk
from dashboards.wording import Locale
from sensors.stamps import MILLISECOND, parse_rfc3339


class LedgerError(RuntimeError):
    """The journal cannot be read now."""


def add_ledger(
    router: APIRouter,
    watched: Callable[[], WatchedTime | None],
    disk: Callable[[], Disk],
    locale: Callable[[str], Locale],
) -> None:
    """Add the route; where `watched` gives None there is no journal. `locale` writes times of a zone by its name."""

    @router.get("/api/v1/ledger", responses=or_csv(described(LedgerView, Refused, 422)))
    async def ledger(
        start: Annotated[str | None, Query(alias="from", description="RFC 3339; this month's first if absent")] = None,
        end: Annotated[str | None, Query(alias="to", description="RFC 3339; now if absent")] = None,
        form: Annotated[Literal["json", "csv"], Query(alias="format")] = "json",
        table: Annotated[Literal["stretches", "months"], Query(description="which table, of the CSV")] = "stretches",
    ) -> Response:
        """Stretches watched, blind, inhibited, in test and off, with cause and person, and each month's percentages."""
        now_ms = time.time_ns() // MILLISECOND
        try:
            last = now_ms if end is None else parse_rfc3339(end) // MILLISECOND
            first = None if start is None else parse_rfc3339(start) // MILLISECOND
        except ValueError as error:
            return as_json(Refused("bad-time", detail=str(error)), HTTPStatus.UNPROCESSABLE_ENTITY)
        source = watched()
        if source is None:
            return as_json(Refused("no-journal"), HTTPStatus.SERVICE_UNAVAILABLE)
        try:
            view = await disk().read(lambda: source.ledger(first, last, now_ms), LEDGER_WITHIN_S)
        except LedgerError as error:
            return as_json(Refused("no-journal", detail=str(error)), HTTPStatus.SERVICE_UNAVAILABLE)
        if form == "json":
            return as_json(view)
        text = (months_csv if table == "months" else stretches_csv)(view, locale(view.timezone))
        name = f'attachment; filename="ledger-{table}.csv"'
        return Response(text.encode(), media_type="text/csv; charset=utf-8", headers={"Content-Disposition": name})
