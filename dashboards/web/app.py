"""The web child's application: link, hub, history and routes put together, behind the guard."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from dashboards.past import History, Trends, WatchedTime
from dashboards.ports import Snapshot
from dashboards.web.api import api, schemas
from dashboards.web.brigade import brigade
from dashboards.web.conformity import conformity
from dashboards.web.disk import Disk
from dashboards.web.guard import Guard
from dashboards.web.hub import Hub
from dashboards.web.link import GatewayLink
from dashboards.web.looking import Looking
from dashboards.web.office_line import OfficeLine
from dashboards.web.page import Page, wanted_language, words
from dashboards.web.papers import Papers
from dashboards.web.refusals import speak_one_shape
from dashboards.web.registry import Attachments
from dashboards.wording import Locale

STATIC = Path(__file__).parent / "static"


class WebScreens:
    """What the routes draw on. Born idle; `start` needs the running loop.

    Args:
        socket: the gateway's control socket.
        history: the journal, read-only.
        trends: the readings, read-only; None where nothing is recorded.
        watched: the ledger of watched time; None where there is no journal.
        office: the line to the office; None where the page has none.
        disk: where the files are read.
        language: of the depot, for files.
        monotonic: the clock of ages, in seconds.
        civil: seconds since 1970.
    """

    def __init__(
        self,
        socket: Path,
        history: History,
        *,
        trends: Trends | None = None,
        watched: WatchedTime | None = None,
        office: OfficeLine | None = None,
        attachments: Attachments | None = None,
        disk: Disk | None = None,
        language: str = "pt-BR",
        monotonic: Callable[[], float] = time.monotonic,
        civil: Callable[[], float] = time.time,
    ) -> None:
        self.hub = Hub(picture=self.present, age=lambda: self.link.age_s, civil=civil)
        self.link = GatewayLink(socket, self.hub, watched=lambda: len(self.hub) > 0, monotonic=monotonic, civil=civil)
        self.history = history
        self.trends = trends
        self.watched = watched
        self.office = office
        self.attachments = attachments
        self.disk = disk or Disk()
        self._language = language

    def locale(self, timezone: str) -> Locale:
        """Return how the depot writes, at the times of this zone."""
        return Locale(self._language, words(self._language), ZoneInfo(timezone))

    def present(self) -> Snapshot | None:
        """Return the present picture; None while the gateway is not heard or says that its alarm loop does not live."""
        picture = self.link.picture
        if picture is None or not self.link.current or self.link.resting or not picture.alive:
            return None
        return self.link.snapshot()

    def start(self) -> None:
        """Begin listening to the gateway and serving the streams."""
        self.link.start()
        self.hub.start()

    def close(self) -> None:
        """End every stream and the link."""
        self.hub.close()
        self.link.close()
        self.disk.close()


def application(screens: WebScreens, *, language: str, version: str, hosts: frozenset[str] = frozenset()) -> ASGIApp:
    """Return the ASGI application.

    Args:
        screens: started and closed with the application's lifespan.
        language: of the depot.
        version: of the program, for the API's description.
        hosts: names besides loopback's by which the page may be called.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        screens.start()
        yield
        screens.close()

    app = FastAPI(
        title="Vigia GLP",
        version=version,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
        telemetry={"tracing": False},
        lifespan=lifespan,
    )
    speak_one_shape(app, lambda request: words(wanted_language(request, language))["page.record_silent"])
    app.include_router(api(screens))
    app.include_router(Page(screens, language).routes())
    papers = Papers(screens, language)
    app.include_router(conformity(papers))
    app.include_router(brigade(screens, papers))
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    described = app.openapi

    def openapi() -> dict[str, Any]:
        document = described()
        document.setdefault("components", {}).setdefault("schemas", {}).update(schemas())
        return document

    app.openapi = openapi  # type: ignore[method-assign]
    return Guard(Looking(app, screens.link.look), hosts)
