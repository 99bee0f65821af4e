"""``/bombeiros``: the one link for the fire brigade, as the server renders it; a small script only renews it."""

import asyncio
import time
from http import HTTPStatus

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from dashboards.brigade import MINUTES, brigade_view, heads_in_gas
from dashboards.office import Look
from dashboards.past import EventView, Trend
from dashboards.ports import Snapshot
from dashboards.web.api import HistoryError, Screens
from dashboards.web.disk import SilentDiskError
from dashboards.web.papers import AwayError, Papers, RefusedError
from dashboards.web.trends import TrendsError

PATH = "/bombeiros"
OFFICE_S = 1.0
"""So long the page waits for what is stored; gas is told without it."""

RECORD_S = 2.0
"""So long it waits for what has happened, out of the journal and the readings."""

MOST_EVENTS_READ = 300
MOST_HEADS = 4
MINUTE_S = 60


def brigade(screens: Screens, papers: Papers) -> APIRouter:
    """Return the route, kept out of the API's description."""
    router = APIRouter(include_in_schema=False)

    @router.get(PATH)
    async def page(request: Request) -> Response:
        snapshot = screens.link.snapshot()
        current = screens.present() is not None
        view, events = None, None
        if snapshot is not None:
            stock, (events, trends) = await asyncio.gather(_stock(papers), _past(screens, snapshot))
            view = brigade_view(
                snapshot,
                stock,
                events or (),
                trends,
                papers.phrases(request),
                current=current,
                lost_s=screens.link.age_s,
            )
        status = HTTPStatus.OK if current else HTTPStatus.SERVICE_UNAVAILABLE
        return papers.render(request, "brigade.html", status, view=view, current=current, recorded=events is not None)

    @router.get("/brigade")
    async def english() -> Response:
        return RedirectResponse(f"{PATH}?lang=en", HTTPStatus.SEE_OTHER)

    return router


async def _stock(papers: Papers) -> dict[str, object] | None:
    try:
        async with asyncio.timeout(OFFICE_S):
            found: dict[str, object] = await papers.look(Look(1, "stock"))
            return found
    except (AwayError, RefusedError, TimeoutError):
        return None


async def _past(screens: Screens, snapshot: Snapshot) -> tuple[list[EventView] | None, list[Trend]]:
    """Return the journal's latest events (None: it cannot be read) and the last minutes of the heads in gas."""
    try:
        return await screens.disk.read(lambda: _read(screens, snapshot), RECORD_S)
    except SilentDiskError:
        return None, []


def _read(screens: Screens, snapshot: Snapshot) -> tuple[list[EventView] | None, list[Trend]]:
    events: list[EventView] | None
    try:
        events = list(screens.history.latest(MOST_EVENTS_READ))
    except HistoryError:
        events = None
    trends: list[Trend] = []
    now = int(time.time())
    end = now - now % MINUTE_S + MINUTE_S
    for head in heads_in_gas(snapshot)[:MOST_HEADS] if screens.trends is not None else ():
        try:
            found = screens.trends.trend(head, end - MINUTES * MINUTE_S, end, MINUTE_S) if screens.trends else None
        except TrendsError:
            break
        if found is not None:
            trends.append(found)
    return events, trends
