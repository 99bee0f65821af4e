"""The registers, the stock and what the law says of them over HTTP. Decides nothing: the office does."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any, Literal, Protocol
from urllib.parse import quote

import msgspec
from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field, StringConstraints
from starlette.responses import Response

from compliance import catalogue
from dashboards.conformity.phrases import Phrases
from dashboards.office import Attach, Enter, Fault, Import, LineAsk, Look, Reply
from dashboards.reports.tables import month_sheet, tables
from dashboards.reports.wording import report_words
from dashboards.web.acting import MAX_NAME_CHARS, MAX_NOTE_CHARS
from dashboards.web.answers import Refused, as_json, described, or_csv
from dashboards.web.disk import Disk
from dashboards.web.office_line import NoOfficeError, OfficeLine
from dashboards.wording import Locale

MAX_LINES = 500
UTC = "UTC"
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME_CHARS)]
Text = Annotated[str, StringConstraints(max_length=MAX_NOTE_CHARS)]
When = Annotated[str, Query(max_length=40, description="a day (2026-11-30) or a time; empty: now")]

STATUS_OF_ERROR = {
    "refused": HTTPStatus.UNPROCESSABLE_ENTITY,
    "would-break-law": HTTPStatus.CONFLICT,
    "bad-request": HTTPStatus.UNPROCESSABLE_ENTITY,
    "failed": HTTPStatus.INTERNAL_SERVER_ERROR,
}


class Told(msgspec.Struct, frozen=True):
    """The office's answer: what was asked for, or what was entered."""

    data: Any


class NotEntered(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why nothing was entered: `faults` by line and field, or `data.breaks`, what the law has against it."""

    error: str
    faults: tuple[Fault, ...] = ()
    data: Any = None


class RegisterLine(BaseModel):
    """One entry; `act` is ``record``, ``remove`` or ``void``, for the stock one of its movements."""

    subject: Name
    act: Literal["record", "remove", "void", "in", "out", "state", "transfer", "count"] = "record"
    values: dict[str, str | int | float | bool | None] = {}
    effective: Text = ""
    id: Text = ""
    expect: Text = ""
    corrects: Text = ""
    reason: Text = ""


class RegisterDeed(BaseModel):
    """Entries by one person: all of them are kept, or none.

    `dry`: only check. `anyway`: enter movements although the stock would then break the law, because they happened.
    """

    by: Name
    lines: Annotated[list[RegisterLine], Field(min_length=1, max_length=MAX_LINES)]
    dry: bool = False
    anyway: bool = False


class Attachments(Protocol):
    """The kept files as the screens may read them: read-only, from another process."""

    def load(self, name: str) -> tuple[bytes, str] | None:
        """Return a file and its media type; None where there is none of this name."""
        ...


def add_registry(
    router: APIRouter,
    office: Callable[[], OfficeLine | None],
    files: Callable[[], Attachments | None],
    disk: Callable[[], Disk],
    locale: Callable[[str], Locale],
) -> None:
    """Add the routes; where `office` gives None there is none, and they say so.

    `locale` says how the depot writes, at the times of a zone.
    """
    _add_looking(router, office, locale)
    _add_papers(router, office, locale)
    _add_attachments(router, office, files, disk)
    _add_entering(router, office)


def _add_looking(router: APIRouter, office: Callable[[], OfficeLine | None], locale: Callable[[str], Locale]) -> None:
    answers = described(Told, Refused, 422)

    @router.get("/api/v1/findings", responses=answers)
    async def findings(on: When = "", known: When = "") -> Response:
        """What every rule of the depot's laws says on a day, as known then or now."""
        return await _answered(office, Look(1, "findings", on=on, known=known))

    @router.get("/api/v1/findings/{rule}", responses=answers)
    async def finding(rule: str, subject: str = "") -> Response:
        """Every step of one finding: verdict, since when, on what evidence, after which entries."""
        return await _answered(office, Look(1, "finding", name=rule, subject=subject))

    @router.get("/api/v1/registers", responses=answers)
    async def registers() -> Response:
        """The registers and their fields."""
        return await _answered(office, Look(1, "forms"))

    @router.get("/api/v1/registers/{register}", responses=answers)
    async def register(register: str, on: When = "", known: When = "") -> Response:
        """What one register holds on a day, as known then or now."""
        return await _answered(office, Look(1, "register", name=register, on=on, known=known))

    @router.get("/api/v1/registers/{register}/{subject}", responses=answers)
    async def history(register: str, subject: str) -> Response:
        """Every entry on one subject, as it was told."""
        return await _answered(office, Look(1, "history", name=register, subject=subject))

    @router.get("/api/v1/stock", responses=answers)
    async def stock(on: When = "", known: When = "") -> Response:
        """What stands in each area on a day, and what counts found that the book did not have."""
        return await _answered(office, Look(1, "stock", on=on, known=known))

    @router.get("/api/v1/stock/movements/{month}", responses=or_csv(answers))
    async def movements(
        month: str, form: Annotated[Literal["json", "csv"], Query(alias="format")] = "json"
    ) -> Response:
        """A month's map of movements (MCMM), as data or a spreadsheet; `month` is ``2026-11``."""
        reply = await _asked(office, Look(1, "movements", name=month))
        if isinstance(reply, Response):
            return reply
        if form == "json":
            return as_json(Told(reply.data))
        text = month_sheet(reply.data, _phrases(locale(UTC), {}))
        headers = {"content-disposition": f'attachment; filename="{quote(f"mcmm-{month}.csv")}"'}
        return Response(text.encode(), media_type="text/csv; charset=utf-8", headers=headers)


def _add_papers(router: APIRouter, office: Callable[[], OfficeLine | None], locale: Callable[[str], Locale]) -> None:
    @router.get("/api/v1/survey", responses=described(Told, Refused))
    async def survey() -> Response:
        """What is still to be told so that the depot's laws can be judged: grouped, danger first; routines that end."""
        return await _answered(office, Look(1, "survey"))

    @router.get("/api/v1/reports", responses=or_csv(described(Told, Refused, 422)))
    async def reports(
        start: Annotated[str, Query(alias="from", max_length=40)],
        end: Annotated[str, Query(alias="to", max_length=40)],
        form: Annotated[Literal["json", "csv"], Query(alias="format")] = "json",
    ) -> Response:
        """The compliance history of a time: verdicts, breaches, registers, alarms, ledger, gaps, journal proof."""
        reply = await _asked(office, Look(1, "report", start=start, end=end))
        if isinstance(reply, Response):
            return reply
        name = f"vigia-{reply.data['depot']['id']}-{start}-{end}.{form}".replace('"', "")
        if form == "json":
            answer = as_json(Told(reply.data))
        else:
            text = await asyncio.to_thread(_sheets, reply.data, locale(reply.data["timezone"]))
            answer = Response(text.encode(), media_type="text/csv; charset=utf-8")
        answer.headers["content-disposition"] = f'attachment; filename="{quote(name)}"'
        return answer


def _sheets(report: Mapping[str, Any], locale: Locale) -> str:
    """The report as tables, in the depot's words and those of the pages of the office."""
    return tables(report, _phrases(locale, report["depot"].get("areas", {})))


def _phrases(locale: Locale, areas: Mapping[str, str]) -> Phrases:
    words = {**locale.words, **report_words(locale.language)}
    return Phrases(replace(locale, words=words), catalogue.load(), areas)


def _add_attachments(
    router: APIRouter,
    office: Callable[[], OfficeLine | None],
    files: Callable[[], Attachments | None],
    disk: Callable[[], Disk],
) -> None:
    answers = described(Told, Refused)
    answers[422] = {**described(NotEntered, Refused)[200], "description": "not one of the kinds, or too large"}

    @router.post("/api/v1/attachments", responses=answers)
    async def attach(request: Request, by: Annotated[str, Query(min_length=1, max_length=MAX_NAME_CHARS)]) -> Response:
        """Keep a file (PDF, JPEG, PNG; the request's body); an entry's value `attachment` may then name it."""
        return await _answered(office, Attach(1, by, await request.body()))

    served = described(Told, Refused, 404, 422)
    served[200] = {"description": "The file", "content": {"application/pdf": {}, "image/jpeg": {}, "image/png": {}}}

    @router.get("/api/v1/attachments/{name}", responses=served)
    async def attachment(name: str) -> Response:
        """A kept file. 404 where its bytes are not what its name says."""
        kept = files()
        try:
            found = None if kept is None else await disk().read(lambda: kept.load(name))
        except OSError as error:
            return as_json(Refused("no-journal", detail=str(error)), HTTPStatus.SERVICE_UNAVAILABLE)
        if found is None:
            return as_json(Refused("not-found"), HTTPStatus.NOT_FOUND)
        content, kind = found
        ending = kind.rpartition("/")[2].replace("jpeg", "jpg")
        headers = {
            "content-disposition": f'inline; filename="{name[:12]}.{ending}"',
            "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        }
        return Response(content, media_type=kind, headers=headers)


def _add_entering(router: APIRouter, office: Callable[[], OfficeLine | None]) -> None:
    answers = described(Told, Refused, 400)
    for status in (HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY):
        answers[int(status)] = {**described(NotEntered, Refused)[200], "description": status.phrase}

    @router.post("/api/v1/registers/{register}", responses=answers)
    async def enter(register: str, deed: RegisterDeed) -> Response:
        """Enter lines in one register, all or none."""
        lines = tuple(LineAsk(register=register, **line.model_dump()) for line in deed.lines)
        return await _answered(office, Enter(1, deed.by, lines, dry=deed.dry, anyway=deed.anyway))

    @router.post("/api/v1/registers/{register}/import", responses=answers)
    async def bring(
        request: Request,
        register: str,
        by: Annotated[str, Query(min_length=1, max_length=MAX_NAME_CHARS)],
        decimal: Annotated[Literal["", "comma", "point"], Query(description="the sheet's decimal mark")] = "",
        effective: When = "",
        dry: bool = False,
    ) -> Response:
        """Enter a spreadsheet (CSV, the request's body), every row or none."""
        return await _answered(office, Import(1, by, register, await request.body(), decimal, effective, dry=dry))


async def _answered(office: Callable[[], OfficeLine | None], ask: Enter | Import | Attach | Look) -> Response:
    reply = await _asked(office, ask)
    return reply if isinstance(reply, Response) else as_json(Told(reply.data))


async def _asked(office: Callable[[], OfficeLine | None], ask: Enter | Import | Attach | Look) -> Reply | Response:
    """Return what the office answered, or the no that goes to the caller."""
    line = office()
    if line is None:
        return as_json(Refused("no-office"), HTTPStatus.SERVICE_UNAVAILABLE)
    try:
        reply = await line.ask(ask)
    except NoOfficeError as error:
        return as_json(Refused("no-office", detail=str(error)), HTTPStatus.SERVICE_UNAVAILABLE)
    return reply if reply.ok else _refused(reply)


def _refused(reply: Reply) -> Response:
    if reply.error in STATUS_OF_ERROR:
        return as_json(NotEntered(reply.error, reply.faults, reply.data), STATUS_OF_ERROR[reply.error])
    return as_json(Refused(reply.error, detail=str(reply.data or "")), HTTPStatus.SERVICE_UNAVAILABLE)
