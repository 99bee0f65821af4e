"""The pages of the office as the server renders them, without a script: findings, registers, entries, the survey."""

import secrets
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import cache
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from alerts.messages.catalogue import Catalogue
from compliance import catalogue
from dashboards.conformity.phrases import Phrases
from dashboards.office import Attach, Enter, Import, Look, Reply
from dashboards.ports import Snapshot
from dashboards.web.api import Screens
from dashboards.web.office_line import NoOfficeError
from dashboards.web.page import NAME_COOKIE, NAME_COOKIE_S, name_of, templates, wanted_language, words, zone_of
from dashboards.wording import Locale

HOME = "/conformidade"


class AwayError(Exception):
    """The office is not heard, or is busy: nothing can be shown or entered now."""


class RefusedError(Exception):
    """The office does not understand what was asked: `reply` says what of it."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.error)
        self.reply = reply


class Papers:
    """What every page of the office needs: words, templates, and the office itself.

    Args:
        screens: for the office's line and the depot's name.
        language: of the depot, for browsers that ask for none of ours.
    """

    def __init__(self, screens: Screens, language: str) -> None:
        self._screens = screens
        self._language = language
        self._templates = templates()

    # --- asking ---------------------------------------------------------------------------------

    async def ask(self, ask: Enter | Import | Attach | Look) -> Reply:
        """Ask the office.

        Raises:
            AwayError: it does not answer, or not now.
        """
        line = self._screens.office
        if line is None:
            raise AwayError
        try:
            reply = await line.ask(ask)
        except NoOfficeError as error:
            raise AwayError from error
        if reply.error in ("busy", "starting", "failed", "unsettled"):
            raise AwayError(reply.error)
        return reply

    async def look(self, ask: Look) -> Any:  # noqa: ANN401 - JSON
        """Return what the office knows.

        Raises:
            AwayError: it does not answer.
            RefusedError: it does not understand.
        """
        reply = await self.ask(ask)
        if not reply.ok:
            raise RefusedError(reply)
        return reply.data

    async def forms(self) -> dict[str, Mapping[str, Any]]:
        """Return the registers' fields, by register."""
        return {form["register"]: form for form in await self.look(Look(1, "forms"))}

    async def areas(self) -> list[str]:
        """Return the depot's storage areas."""
        return [area["area"] for area in (await self.look(Look(1, "stock")))["areas"]]

    async def held(self, register: str, subject: str) -> Mapping[str, Any] | None:
        """Return what a register holds of a subject."""
        found = await self.look(Look(1, "register", name=register))
        return next((one for one in found if one["subject"] == subject), None)

    # --- saying ---------------------------------------------------------------------------------

    def phrases(self, request: Request) -> Phrases:
        """Return the words for a browser, and what the areas are called."""
        snapshot = self._screens.link.snapshot()
        language = wanted_language(request, self._language)
        areas = {} if snapshot is None else snapshot.depot.areas
        return Phrases(Locale(language, all_words(language), zone_of(snapshot)), facts(), areas)

    def today(self, request: Request) -> date:
        """Return the depot's local day."""
        zone = self.phrases(request).locale.zone
        return datetime.now(UTC).astimezone(zone).date()

    def render(self, request: Request, template: str, status: HTTPStatus = HTTPStatus.OK, **values: object) -> Response:
        """Return a page."""
        snapshot: Snapshot | None = self._screens.link.snapshot()
        phrases = self.phrases(request)
        locale = phrases.locale
        now = datetime.now(UTC).astimezone(locale.zone)
        other = dict(request.query_params) | {"lang": locale.text("page.language")}
        own = {
            "depot": None if snapshot is None else snapshot.depot,
            "t": locale.text,
            "home": HOME,
            "here": request.url.path.removeprefix(HOME).strip("/").partition("/")[0],
            "lang": locale.language,
            "other_language": f"{request.url.path}?{urlencode(other)}",
            "printed": f"{phrases.day(now.date().isoformat())} {now:%H:%M}",
            "name": name_of(request),
            "rid": secrets.token_hex(8),
        }
        text = self._templates.get_template(template).render(own | values)
        headers = {"content-language": locale.language, "vary": "accept-language, cookie"}
        return HTMLResponse(text.lstrip(), status, headers)

    def away(self, request: Request) -> Response:
        """Say that the office does not answer."""
        return self.render(request, "away.html", HTTPStatus.SERVICE_UNAVAILABLE, got="")

    def bad_moment(self, request: Request, got: str) -> Response:
        """Say that a day was not understood."""
        return self.render(request, "away.html", HTTPStatus.UNPROCESSABLE_ENTITY, got=got)

    def lead(self, request: Request, path: str, by: str, **query: str) -> Response:
        """Lead to a page after an entry, and remember who signed it."""
        asked = {"lang": wanted_language(request, self._language)} | query
        back = RedirectResponse(f"{HOME}{path}?{urlencode(asked)}", HTTPStatus.SEE_OTHER)
        if by:
            back.set_cookie(NAME_COOKIE, quote(by), NAME_COOKIE_S, httponly=True, samesite="strict")
        return back


@cache
def all_words(language: str) -> Mapping[str, str]:
    """Return the words of these pages, and those of the live page."""
    return dict(words(language)) | dict(Catalogue.load("dashboards.conformity", language).texts)


@cache
def facts() -> catalogue.Catalogue:
    """Return the law's list of facts, for their headings."""
    return catalogue.load()
