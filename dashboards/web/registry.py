"""The registers, the stock and what the law says of them over HTTP. Decides nothing: the office does."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field, StringConstraints
from starlette.responses import Response

from dashboards.office import Enter, Fault, Import, LineAsk, Look, Reply
from dashboards.web.acting import MAX_NAME_CHARS, MAX_NOTE_CHARS
from dashboards.web.answers import Refused, as_json, described
from dashboards.web.office_line import NoOfficeError, OfficeLine

MAX_LINES = 500
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME_CHARS)]
Text = Annotated[str, StringConstraints(max_length=MAX_NOTE_CHARS)]
When = Annotated[str, Query(max_length=40, description="a day (2026-11-30) or a time; empty: now")]

STATUS_OF_ERROR = {
    "refused": HTTPStatus.UNPROCESSABLE_ENTITY,
    "would-break-law": HTTPStatus.CONFLICT,
    "bad-request": HTTPStatus.UNPROCESSABLE_ENTITY,
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


def add_registry(router: APIRouter, office: Callable[[], OfficeLine | None]) -> None:
    """Add the routes; where `office` gives None there is none, and they say so."""
    _add_looking(router, office)
    _add_entering(router, office)


def _add_looking(router: APIRouter, office: Callable[[], OfficeLine | None]) -> None:
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

    @router.get("/api/v1/stock/movements/{month}", responses=answers)
    async def movements(month: str) -> Response:
        """A month's map of movements (MCMM); `month` is ``2026-11``."""
        return await _answered(office, Look(1, "movements", name=month))


def _add_entering(router: APIRouter, office: Callable[[], OfficeLine | None]) -> None:
    answers = described(Told, Refused)
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


async def _answered(office: Callable[[], OfficeLine | None], ask: Enter | Import | Look) -> Response:
    line = office()
    if line is None:
        return as_json(Refused("no-office"), HTTPStatus.SERVICE_UNAVAILABLE)
    try:
        reply = await line.ask(ask)
    except NoOfficeError as error:
        return as_json(Refused("no-office", detail=str(error)), HTTPStatus.SERVICE_UNAVAILABLE)
    return as_json(Told(reply.data)) if reply.ok else _refused(reply)


def _refused(reply: Reply) -> Response:
    if reply.error in STATUS_OF_ERROR:
        return as_json(NotEntered(reply.error, reply.faults, reply.data), STATUS_OF_ERROR[reply.error])
    return as_json(Refused(reply.error, detail=str(reply.data or "")), HTTPStatus.SERVICE_UNAVAILABLE)
