"""The live page as the server renders it: complete without a script; the script only keeps it moving."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Literal
from urllib.parse import parse_qs, quote, unquote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import jinja2
import msgspec
from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from alerts.messages.catalogue import LANGUAGES, Catalogue
from dashboards.ports import Act, Answer, Drill, Snapshot, Window
from dashboards.views import page_view
from dashboards.web.acting import MAX_OUT_MINUTES, MAX_SHELF_MINUTES, Action, carry
from dashboards.web.api import Screens
from dashboards.wording import Locale

NAME_COOKIE = "vigia_nome"
NAME_COOKIE_S = 90 * 86_400
REFRESH_S = 5
SHELF_MINUTES = (30, 60, 240, 480)
OUT_MINUTES = (480, 1440, 4320, 10_080, 43_200)
"""What the page offers; longer and shorter ones go over the API."""


class Page:
    """Renders the page.

    Args:
        screens: the link and its picture.
        language: the depot's language, for browsers that ask for none of ours.
    """

    def __init__(self, screens: Screens, language: str) -> None:
        self._screens = screens
        self._language = language
        self._templates = templates()

    def routes(self) -> APIRouter:
        """Return the page's routes, kept out of the API's description."""
        router = APIRouter(include_in_schema=False)

        @router.get("/")
        async def live(request: Request) -> Response:
            return self.render(request, request.query_params.get("act", ""))

        @router.post("/alarms/{alarm}/{action}")
        async def act(request: Request, alarm: str, action: Action | Literal["shelve"]) -> Response:
            seen = request.query_params.get("seen", "")
            return await self._do(
                request,
                lambda form: Act(
                    0,
                    action,
                    alarm,
                    form.by,
                    form.note,
                    int(seen) if seen.isdecimal() else None,
                    min(form.minutes, MAX_SHELF_MINUTES),
                ),
            )

        @router.post("/detectors/{deed}")
        async def service(request: Request, deed: Literal["out-of-service", "return"]) -> Response:
            kind: Literal["out-of-service", "close"] = "close" if deed == "return" else deed
            return await self._do(
                request,
                lambda form: Window(0, kind, form.detector, form.by, form.note, min(form.minutes, MAX_OUT_MINUTES)),
            )

        @router.post("/drill")
        async def drill(request: Request) -> Response:
            return await self._do(
                request,
                lambda form: Drill(0, form.by, (form.output,) if form.output else (), form.note, form.tell),
            )

        return router

    def render(self, request: Request, said: str = "") -> Response:
        """Return the page as it stands now; 503 while the gateway is not heard.

        Args:
            request: for the language, the remembered name, and whether to stop renewing.
            said: code of the outcome of the last form sent; shown if it has words.
        """
        link = self._screens.link
        snapshot = link.snapshot()
        current = self._screens.present() is not None
        language = wanted_language(request, self._language)
        locale = Locale(language, words(language), zone_of(snapshot))
        view = None if snapshot is None else page_view(snapshot, locale, current=current, lost_s=link.age_s)
        text = self._templates.get_template("live.html").render(
            view=view,
            snapshot=snapshot,
            current=current,
            locale=locale,
            t=locale.text,
            banner=_banner(locale, link.age_s, current=current),
            said=locale.words.get(f"act.{said}", ""),
            name=name_of(request),
            held="hold" in request.query_params,
            refresh_s=REFRESH_S,
            now=None if snapshot is None else locale.clock(snapshot.at, now=snapshot.at),
            actions=actions(locale, snapshot),
            shelf_minutes=_lengths(locale, SHELF_MINUTES),
            out_minutes=_lengths(locale, OUT_MINUTES),
            page_data=page_data(locale, snapshot),
        )
        return HTMLResponse(
            text.lstrip(),
            HTTPStatus.OK if current else HTTPStatus.SERVICE_UNAVAILABLE,
            {"content-language": language, "vary": "accept-language, cookie"},
        )

    async def _do(self, request: Request, deed: Callable[["Form"], Act | Window | Drill]) -> Response:
        """Do what the form asks, then lead back to the page, which says how it went."""
        form = Form.of((await request.body()).decode("utf-8", "replace"))
        if form.by:
            answer = await carry(self._screens.link, deed(form))
        else:
            answer = Answer(0, ok=False, error="needs-name")
        said = "done" if answer.ok else answer.error
        language = wanted_language(request, self._language)
        back = RedirectResponse(f"/?lang={language}&act={quote(said)}", HTTPStatus.SEE_OTHER)
        if form.by:
            back.set_cookie(NAME_COOKIE, quote(form.by), NAME_COOKIE_S, httponly=True, samesite="strict")
        return back


@dataclass(frozen=True, slots=True)
class Form:
    """What a form of the page was filled in with; empty or 0 where nothing fit was."""

    by: str
    note: str
    detector: str
    output: str
    tell: bool
    minutes: float

    @classmethod
    def of(cls, body: str) -> "Form":
        """Read a form's body."""
        fields = parse_qs(body, max_num_fields=16)
        first = {name: values[0] for name, values in fields.items()}
        minutes = first.get("minutes", "")
        return cls(
            by=" ".join(first.get("by", "").split())[:80],
            note=first.get("note", "").strip()[:500],
            detector=first.get("detector", ""),
            output=first.get("output", "")[:200],
            tell="tell" in first,
            minutes=float(minutes) if minutes.isdecimal() else 0.0,
        )


def wanted_language(request: Request, otherwise: str) -> str:
    """Return the language asked for: ``?lang=``, then Accept-Language by weight, then the depot's."""
    asked = request.query_params.get("lang")
    if asked in LANGUAGES:
        return asked
    for tag in _weighed(request.headers.get("accept-language", "")):
        for have in LANGUAGES:
            if tag.partition("-")[0] == have.lower().partition("-")[0]:
                return have
    return otherwise if otherwise in LANGUAGES else LANGUAGES[0]


def templates() -> jinja2.Environment:
    """Return the templates of every page: what they are given is escaped, and what they lack is an error."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("dashboards.web", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def words(language: str) -> Mapping[str, str]:
    """Return the page's words, and those that alarm messages have for reasons (``why.<code>``)."""
    reasons = Catalogue.load("alerts.messages", language).texts
    own = Catalogue.load("dashboards", language).texts
    return dict(own) | {key: text for key, text in reasons.items() if key.startswith("why.")}


def actions(locale: Locale, snapshot: Snapshot | None) -> dict[str, str]:
    """Return what stands on the button of each action."""
    time = "…" if snapshot is None else locale.duration(snapshot.silence_s)
    return {
        "acknowledge": locale.text("alarm.acknowledge"),
        "silence": locale.text("alarm.silence", time=time),
        "reset": locale.text("alarm.reset"),
        "shelve": locale.text("alarm.shelve"),
        "unshelve": locale.text("alarm.unshelve"),
    }


def _lengths(locale: Locale, minutes: Sequence[int]) -> tuple[tuple[int, str], ...]:
    return tuple((length, locale.age(length * 60.0)) for length in minutes)


def page_data(locale: Locale, snapshot: Snapshot | None) -> str:
    """Return what the script needs, as JSON for a data attribute: it holds no text of its own.

    `made_for` is what the server alone draws: with another depot, or another name in it, the script fetches the page
    again.
    """
    made_for = None
    if snapshot is not None:
        made_for = {
            "depot": snapshot.depot,
            "silence_s": snapshot.silence_s,
            "detectors": [[view.id, view.name, view.area_name] for view in snapshot.detectors],
            "outputs": [view.id for view in snapshot.outputs],
            "links": [view.id for view in snapshot.links],
        }
    return msgspec.json.encode(
        {
            "language": locale.language,
            "words": dict(locale.words),
            "zone": "UTC" if snapshot is None else str(locale.zone),
            "made_for": made_for,
        }
    ).decode()


def _weighed(header: str) -> list[str]:
    ranked: list[tuple[float, int, str]] = []
    for place, part in enumerate(header.lower()[:500].split(",")):
        tag, _, weight = part.strip().partition(";q=")
        try:
            ranked.append((-float(weight or 1.0), place, tag.strip()))
        except ValueError:
            continue
    return [tag for minus_weight, _, tag in sorted(ranked) if minus_weight < 0]


def _banner(locale: Locale, age_s: float | None, *, current: bool) -> str:
    if current:
        return ""
    if age_s is None:
        return locale.text("headline.gateway_never")
    return locale.text("headline.gateway_lost", age=locale.age(age_s))


def name_of(request: Request) -> str:
    """Return the name that was last signed with in this browser."""
    return " ".join(unquote(request.cookies.get(NAME_COOKIE, "")).split())[:80]


def zone_of(snapshot: Snapshot | None) -> ZoneInfo:
    """Return the depot's time zone; UTC while it is not known."""
    try:
        return ZoneInfo("UTC" if snapshot is None else snapshot.depot.timezone)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")
