"""The routes of the office's pages: ``/conformidade`` and what lies under it. Says nothing itself."""

from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from dashboards.conformity.asking import survey_view
from dashboards.conformity.entering import DAILY, REGISTERS, daily_form, last_price, record_form
from dashboards.conformity.findings import finding_row, findings_view, known_then, steps
from dashboards.conformity.mending import CORRECT, REMOVE, VOID, mending_form
from dashboards.conformity.phrases import Phrases
from dashboards.conformity.records import STOCK, history_view, records_view
from dashboards.conformity.stock import DATES, due_view, stock_view
from dashboards.office import Look
from dashboards.web.entries import EDITABLE, add_entering
from dashboards.web.mending import mended
from dashboards.web.papers import HOME, AwayError, Papers, RefusedError

Shown = Callable[[Request], Awaitable[Response]]


def conformity(papers: Papers) -> APIRouter:
    """Return the routes, kept out of the API's description."""
    router = APIRouter(include_in_schema=False)
    pages: dict[str, Callable[[Papers, Request], Awaitable[Response]]] = {
        "": _overview,
        "/constatacao": _finding,
        "/registros": _records,
        "/registro": _record,
        "/lancar": _entries,
        "/lancar/{name}": _entry,
        **{f"/{way}": _mending(way) for way in (CORRECT, VOID, REMOVE)},
        "/vistoria": _survey,
    }
    for path, page in pages.items():
        router.add_api_route(HOME + path, _safe(papers, page), methods=["GET"])

    @router.get("/compliance")
    async def english() -> Response:
        return RedirectResponse(f"{HOME}?lang=en", HTTPStatus.SEE_OTHER)

    add_entering(router, papers)
    return router


def _safe(papers: Papers, page: Callable[[Papers, Request], Awaitable[Response]]) -> Shown:
    """Say what the office does not answer or understand, instead of a page."""

    async def shown(request: Request) -> Response:
        try:
            return await page(papers, request)
        except AwayError:
            return papers.away(request)
        except RefusedError as error:
            faults = error.reply.faults
            return papers.bad_moment(request, faults[0].got if faults else error.reply.error)

    return shown


async def _overview(papers: Papers, request: Request) -> Response:
    on, known = _moments(request)
    phrases = papers.phrases(request)
    found = await papers.look(Look(1, "findings", on=on, known=known))
    stock = await papers.look(Look(1, "stock", on=on, known=known))
    registers = {name: await papers.look(Look(1, "register", name=name, on=on, known=known)) for name in DATES}
    day = date.fromisoformat(found["on"])
    return papers.render(
        request,
        "conformity.html",
        view=findings_view(found, phrases),
        stock=stock_view(stock, phrases),
        due=due_view(registers, day, phrases),
        **_picked(papers, request),
        month_start=day.replace(day=1).isoformat(),
        months=_months(day, phrases),
    )


async def _finding(papers: Papers, request: Request) -> Response:
    rule, subject = (request.query_params.get(name, "")[:200] for name in ("rule", "subject"))
    on, known = _moments(request)
    phrases = papers.phrases(request)
    found = await papers.look(Look(1, "findings", on=on, known=known))
    now = await papers.look(Look(1, "findings", on=on)) if known else found
    history = await papers.look(Look(1, "finding", name=rule, subject=subject))
    if on or known:
        last = min(day for day in (on, known) if day)
        history = [change for change in history if change["on"] <= last]
    one, today = (
        next((one for one in each["findings"] if (one["rule"], one["subject"]) == (rule, subject)), None)
        for each in (found, now)
    )
    told = known_then(one, today, known, phrases)
    one = one or today
    if one is None:
        stood = [change for change in history if "past" not in change]
        one = {**stood[-1], "since": stood[-1]["on"]} if stood else None
    if one is None or one["statute"] not in {law["id"] for law in found["statutes"]}:
        return RedirectResponse(f"{HOME}?lang={phrases.locale.language}", HTTPStatus.SEE_OTHER)
    row = finding_row({"soon": "", "holds_until": None, "due": None, **one}, found, phrases)
    law = next(law for law in found["statutes"] if law["id"] == one["statute"])
    clause = law["clauses"].get(one["clause"], {})
    return papers.render(
        request,
        "finding.html",
        row=row,
        summary=phrases.of(clause.get("summary")),
        law=law["title"],
        steps=steps(history, phrases),
        known_then=told,
        **_picked(papers, request, rule=rule, subject=subject),
    )


async def _records(papers: Papers, request: Request) -> Response:
    phrases = papers.phrases(request)
    on, known = _moments(request)
    forms = await papers.forms()
    held = {
        name: await papers.look(Look(1, "register", name=name, on=on, known=known)) for name in forms if name != "stock"
    }
    return papers.render(request, "records.html", registers=records_view(held, phrases), **_picked(papers, request))


async def _record(papers: Papers, request: Request) -> Response:
    register, subject = (request.query_params.get(name, "")[:200] for name in ("register", "subject"))
    phrases = papers.phrases(request)
    on, known = _moments(request)
    if register not in await papers.forms():
        return papers.lead(request, "/registros", "")
    kept = await papers.look(Look(1, "register", name=register, on=on, known=known))
    held = next((one for one in kept if one["subject"] == subject), None)
    entries = await papers.look(Look(1, "history", name=register, subject=subject, on=on, known=known))
    return papers.render(
        request,
        "record.html",
        **_picked(papers, request, register=register, subject=subject),
        register=register,
        subject=subject,
        title=phrases.subject(f"{register}:{subject}"),
        view=history_view(register, subject, held, entries, phrases),
        said=request.query_params.get("saved", ""),
        editable=register in EDITABLE and not (on or known),
        removable=held is not None and register in EDITABLE and not (on or known),
        stock=register == STOCK,
    )


async def _entries(papers: Papers, request: Request) -> Response:
    return papers.render(
        request, "entries.html", daily=DAILY, registers=REGISTERS, said=request.query_params.get("saved", "")[:200]
    )


async def _entry(papers: Papers, request: Request) -> Response:
    name, subject = request.path_params["name"], request.query_params.get("subject", "")[:200]
    phrases = papers.phrases(request)
    areas = await papers.areas()
    if name in DAILY and not (subject and name in EDITABLE):
        form = daily_form(name, areas, phrases)
        if name == "weighing":
            price = last_price(await papers.look(Look(1, "register", name=name)))
            form = form.filled({"price_per_kg": phrases.plain(price)})
        return entry_page(papers, request, form)
    forms = await papers.forms()
    if name not in forms or name == "stock":
        return RedirectResponse(f"{HOME}/lancar?lang={phrases.locale.language}", HTTPStatus.SEE_OTHER)
    held = await papers.held(name, subject) if subject else None
    form = record_form(forms[name], held, subject, areas, phrases)
    return entry_page(papers, request, form, expect="" if held is None else held["last"])


def entry_page(papers: Papers, request: Request, form: Any, expect: str = "") -> Response:  # noqa: ANN401 - EntryForm
    """Return a form that nobody has filled in yet."""
    return papers.render(
        request, "entry.html", form=form, expect=expect, faults=(), breaks=(), told="", by_error="", kept_rid=""
    )


def _mending(way: str) -> Callable[[Papers, Request], Awaitable[Response]]:
    async def page(papers: Papers, request: Request) -> Response:
        register, subject, entry = (
            request.query_params.get(name, "")[:200] for name in ("register", "subject", "entry")
        )
        found = await mended(papers, way, register, subject, entry)
        if found is None:
            return papers.lead(request, "/registro", "", register=register, subject=subject)
        phrases = papers.phrases(request)
        form = mending_form(way, register, subject, found.entry, found.form, await papers.areas(), phrases)
        return entry_page(papers, request, form)

    return page


async def _survey(papers: Papers, request: Request) -> Response:
    phrases = papers.phrases(request)
    data = await papers.look(Look(1, "survey"))
    view = survey_view(data, request.query_params.get("group", "")[:120], await papers.areas(), phrases)
    return papers.render(request, "survey.html", view=view, faults=(), by_error="")


def _months(day: date, phrases: Phrases) -> tuple[tuple[str, str], ...]:
    """The month of a day and the one before, as paths and people write them."""
    first = day.replace(day=1)
    found = (first, (first - timedelta(days=1)).replace(day=1))
    return tuple((f"{one:%Y-%m}", f"{one:%Y-%m}" if phrases.english else f"{one:%m/%Y}") for one in found)


def _moments(request: Request) -> tuple[str, str]:
    """The days asked about: as it was on, as it was known on; empty for now."""
    on, known = (request.query_params.get(name, "")[:40] for name in ("on", "known"))
    return on, known


def _picked(papers: Papers, request: Request, **keep: str) -> dict[str, Any]:
    """What the choice of the two days needs; `keep` is what the page is about."""
    on, known = _moments(request)
    again = urlencode({**keep, "lang": papers.phrases(request).locale.language})
    return {
        "on": on,
        "known": known,
        "today": papers.today(request),
        "as_at": _as_at(on, known, papers.today(request).isoformat(), papers.phrases(request)),
        "keep": tuple(keep.items()),
        "to_now": f"{request.url.path}?{again}",
        "moments": "".join(f"&{name}={quote(day)}" for name, day in (("on", on), ("known", known)) if day),
    }


def _as_at(on: str, known: str, today: str, phrases: Any) -> str:  # noqa: ANN401 - Phrases
    if not on and not known:
        return ""
    text, said = phrases.locale.text, phrases.day(on) or phrases.locale.text("conformity.today").lower()
    then = (
        text("conformity.as_at", on=said, known=phrases.day(known)) if known else text("conformity.as_at_on", on=said)
    )
    return f"{then} {text('conformity.past', on=said)}" if on and on[:10] < today else str(then)
