"""The JSON API, the live channels, health and figures: what the gateway says now, or that it is not heard."""

from collections.abc import AsyncIterator, Iterator
from http import HTTPStatus
from typing import Annotated, Any, Protocol

import msgspec
from fastapi import APIRouter, Query, WebSocket, WebSocketDisconnect
from starlette.responses import Response, StreamingResponse

from dashboards.past import EventView, History, LedgerView, Trend, Trends, WatchedTime
from dashboards.ports import AlarmView, Change, Figure, Heartbeat, Lost, Snapshot
from dashboards.web.acting import Done, add_acting
from dashboards.web.answers import REFERENCE, Refused, as_json, described
from dashboards.web.disk import Disk
from dashboards.web.figures import exposition
from dashboards.web.hub import Hub, HubFullError
from dashboards.web.link import GatewayLink, LinkLostError
from dashboards.web.office_line import OfficeLine
from dashboards.web.registry import Attachments, NotEntered, Told, add_registry
from dashboards.web.trends import add_trends
from dashboards.web.watched import add_ledger
from dashboards.wording import Locale

MAX_EVENTS = 1000
TRY_AGAIN_LATER = 1013
GOING_AWAY = 1001


class HistoryError(RuntimeError):
    """The journal cannot be read now."""


class Alarms(msgspec.Struct, frozen=True):
    """Answer of ``GET alarms``."""

    alarms: tuple[AlarmView, ...]


class Events(msgspec.Struct, frozen=True):
    """Answer of ``GET events``; `last` is the `after` of the next page."""

    events: tuple[EventView, ...]
    last: int


class Health(msgspec.Struct, frozen=True):
    """Answer of ``GET /health``. `age_s`: since the gateway was last heard; None when it never was."""

    alive: bool
    age_s: float | None
    seq: int | None


class Screens(Protocol):
    """What the routes draw on."""

    @property
    def link(self) -> GatewayLink:
        """The line to the gateway."""
        ...

    @property
    def hub(self) -> Hub:
        """The open streams."""
        ...

    @property
    def disk(self) -> Disk:
        """Whatever reads the journal, the readings or a kept file goes through it."""
        ...

    @property
    def history(self) -> History:
        """The journal, read-only."""
        ...

    @property
    def trends(self) -> Trends | None:
        """The readings, read-only; None where nothing is recorded."""
        ...

    @property
    def watched(self) -> WatchedTime | None:
        """The ledger of watched time; None where there is no journal."""
        ...

    @property
    def office(self) -> OfficeLine | None:
        """The line to the office; None where the page has none."""
        ...

    @property
    def attachments(self) -> Attachments | None:
        """The files that entries name; None where there is no journal."""
        ...

    def locale(self, timezone: str) -> Locale:
        """How the depot writes, at the times of this zone."""
        ...

    def present(self) -> Snapshot | None:
        """Return the present picture; None while the gateway is not heard."""
        ...


def api(screens: Screens) -> APIRouter:
    """Return the routes."""
    router = APIRouter()
    _add_reading(router, screens)
    add_acting(router, lambda: screens.link)
    _add_live(router, screens)
    _add_watching(router, screens)
    add_trends(router, lambda: screens.trends, lambda: screens.disk)
    # looked up when asked, as the others are: routes can be listed without screens
    add_ledger(router, lambda: screens.watched, lambda: screens.disk, lambda timezone: screens.locale(timezone))  # noqa: PLW0108
    add_registry(
        router,
        lambda: screens.office,
        lambda: screens.attachments,
        lambda: screens.disk,
        lambda timezone: screens.locale(timezone),  # noqa: PLW0108
    )
    return router


def _add_reading(router: APIRouter, screens: Screens) -> None:
    @router.get("/api/v1/state", responses=described(Snapshot, Refused))
    async def state() -> Response:
        """Everything that is known now: the picture that every live channel begins with."""
        snapshot = screens.present()
        return no_contact(screens) if snapshot is None else as_json(snapshot)

    @router.get("/api/v1/alarms", responses=described(Alarms, Refused))
    async def alarms() -> Response:
        """All standing alarms."""
        snapshot = screens.present()
        return no_contact(screens) if snapshot is None else as_json(Alarms(snapshot.alarms))

    @router.get("/api/v1/events", responses=described(Events, Refused, 422))
    async def events(
        after: Annotated[int, Query(ge=0, le=2**53)] = 0, limit: Annotated[int, Query(ge=1, le=MAX_EVENTS)] = 100
    ) -> Response:
        """Alarm events out of the journal, oldest first."""
        try:
            found = tuple(await screens.disk.read(lambda: screens.history.events(after, limit)))
        except HistoryError as error:
            return as_json(Refused("no-journal", detail=str(error)), HTTPStatus.SERVICE_UNAVAILABLE)
        return as_json(Events(found, found[-1].seq if found else after))


def _add_live(router: APIRouter, screens: Screens) -> None:
    @router.websocket("/api/v1/live")
    async def live(socket: WebSocket) -> None:
        """Snapshot first, then changes, a heartbeat each second; `lost` while the gateway is not heard."""
        try:
            browser = screens.hub.join()
        except HubFullError:
            await socket.send_denial_response(as_json(Refused("too-many-streams"), HTTPStatus.SERVICE_UNAVAILABLE))
            return
        try:
            await socket.accept()
            while (text := await browser.next()) is not None:
                await socket.send_text(text)
            await socket.close(TRY_AGAIN_LATER if browser.dropped else GOING_AWAY)
        except WebSocketDisconnect:
            return
        finally:
            screens.hub.leave(browser)

    @router.get("/api/v1/stream", responses=_sse_description())
    async def stream() -> Response:
        """The same as ``live``, as server-sent events."""
        try:
            browser = screens.hub.join()
        except HubFullError:
            return as_json(Refused("too-many-streams"), HTTPStatus.SERVICE_UNAVAILABLE)

        async def lines() -> AsyncIterator[str]:
            try:
                while (text := await browser.next()) is not None:
                    yield f"data: {text}\n\n"
            finally:
                screens.hub.leave(browser)

        return StreamingResponse(lines(), media_type="text/event-stream")


def _add_watching(router: APIRouter, screens: Screens) -> None:
    @router.get("/health", responses=described(Health, Health))
    async def health() -> Response:
        """Liveness of the alarm loop, not of the web: 200 only while it is heard and lives."""
        picture = screens.link.picture
        alive = screens.link.current and picture is not None and picture.alive
        answer = Health(alive, rounded(screens.link.age_s), None if picture is None else picture.seq)
        return as_json(answer, HTTPStatus.OK if alive else HTTPStatus.SERVICE_UNAVAILABLE)

    @router.get("/metrics", responses={200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """Figures for Prometheus. While the gateway is not heard only the child's own are there."""
        try:
            watch = await screens.link.metrics()
        except LinkLostError:
            watch = ()
        text = exposition(screens.present(), watch, _own_figures(screens))
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _own_figures(screens: Screens) -> Iterator[Figure]:
    yield Figure("web_browsers", "open live channels", float(len(screens.hub)))
    yield Figure("web_browsers_dropped_total", "live channels that did not read", float(screens.hub.dropped))
    yield Figure("web_link_reconnects_total", "times the watch was lost", float(screens.link.reconnects))
    if (age := screens.link.age_s) is not None:
        yield Figure("gateway_age_seconds", "since the watch was last heard; absent when it never was", round(age, 3))


# --- answers ---------------------------------------------------------------------------------------


def no_contact(screens: Screens) -> Response:
    """Say that the gateway is not heard, and for how long, instead of showing what it said before."""
    return as_json(Refused("no-contact", rounded(screens.link.age_s)), HTTPStatus.SERVICE_UNAVAILABLE)


def rounded(age_s: float | None) -> float | None:
    """Milliseconds are enough for an age."""
    return None if age_s is None else round(age_s, 3)


def schemas() -> dict[str, Any]:
    """Return the schemas of all that the API sends, by name."""
    live = (Snapshot, Change, Heartbeat, Lost, Alarms, Events, Done, Refused, Health)
    kept = (Trend, LedgerView, Told, NotEntered)
    return msgspec.json.schema_components(live + kept, ref_template=REFERENCE)[1]


def _sse_description() -> dict[int | str, dict[str, Any]]:
    kinds = ", ".join(kind.__name__ for kind in (Snapshot, Heartbeat, Lost))
    return {200: {"description": f"one JSON message per event: {kinds}, Change", "content": {"text/event-stream": {}}}}
