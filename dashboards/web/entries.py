"""What is entered on the office's pages: each form is sent to the office, and comes back with what is wrong in it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from fastapi import APIRouter, Request
from msgspec import structs
from starlette.responses import Response

from compliance.registers.cells import Marks
from dashboards.conformity.asking import answers, survey_view
from dashboards.conformity.breaches import BreakView, breaks_view
from dashboards.conformity.entering import (
    DAILY,
    REGISTERS,
    EntryForm,
    daily_form,
    lines_of,
    record_form,
    record_line,
    ticket_of,
)
from dashboards.conformity.mending import CORRECT, REMOVE, VOID, mending_form, mending_line
from dashboards.conformity.phrases import Phrases
from dashboards.conformity.stock import said_count
from dashboards.office import Attach, Enter, Fault, LineAsk, Look, Reply
from dashboards.web.mending import mended
from dashboards.web.page import name_of
from dashboards.web.papers import HOME, AwayError, Papers, RefusedError
from dashboards.web.posted import Posted, posted

EDITABLE = (*REGISTERS, "weighing")
"""Registers whose things a form changes: a ticket that a scale made has no tare yet."""


@dataclass(frozen=True, slots=True)
class SentBack:
    """Why a form comes back: what is wrong, what the law has against it, or that it would do."""

    faults: Sequence[Fault] = ()
    breaks: Sequence[BreakView] = ()
    told: str = ""


def add_entering(router: APIRouter, papers: Papers) -> None:
    """Add the routes that forms are sent to."""

    @router.post(HOME + "/lancar/{name}")
    async def entry(request: Request, name: str) -> Response:
        form = await posted(request)
        try:
            of_record = name not in DAILY or (form.text("subject") and name in EDITABLE)
            return await (_record if of_record else _daily)(papers, request, name, form)
        except AwayError:
            return papers.away(request)
        except RefusedError as error:
            return papers.bad_moment(request, error.reply.error)

    for way in (CORRECT, VOID, REMOVE):
        router.add_api_route(f"{HOME}/{way}", _mending(papers, way), methods=["POST"])

    @router.post(HOME + "/vistoria")
    async def survey(request: Request) -> Response:
        try:
            return await _survey(papers, request, await posted(request))
        except AwayError:
            return papers.away(request)


async def _daily(papers: Papers, request: Request, name: str, given: Posted) -> Response:
    phrases = papers.phrases(request)
    form = daily_form(name, await papers.areas(), phrases)
    lines = lines_of(name, given.fields, given.request, papers.today(request).isoformat())
    dry = "dry" in given.fields
    if not given.by and not dry:
        return _back(papers, request, form, given, SentBack())
    ask = Enter(1, given.by or phrases.locale.text("entry.check"), lines, dry=dry, anyway="anyway" in given.fields)
    reply = await papers.ask(ask)
    if reply.ok and not dry:
        said = await _ticket(papers, lines[0], phrases) if name == "weighing" else form.title
        return _done(papers, request, reply, given.by, said)
    if reply.error == "refused":
        return _back(papers, request, form, given, SentBack(faults=reply.faults))
    breaks = (reply.data or {}).get("breaks", ())
    if breaks:
        stock = await papers.look(Look(1, "stock"))
        view = breaks_view(breaks, stock, given.fields if name == "delivery" else {}, phrases)
        return _back(papers, request, form, given, SentBack(breaks=view))
    return _back(papers, request, form, given, SentBack(told=phrases.locale.text("entry.fits")))


async def _ticket(papers: Papers, line: LineAsk, phrases: Phrases) -> str:
    """Say a weigh ticket as it is kept: its tare may have come from the register of containers."""
    held = await papers.held(line.register, line.subject)
    return ticket_of(line.values, phrases) if held is None else ticket_of(held["values"], phrases, Marks.POINT)


async def _record(papers: Papers, request: Request, register: str, given: Posted) -> Response:
    forms = await papers.forms()
    if register not in forms or register == "stock":
        return papers.lead(request, "/lancar", given.by)
    phrases, subject = papers.phrases(request), given.text("subject")
    held = await papers.held(register, subject) if subject else None
    form = record_form(forms[register], held, subject, await papers.areas(), phrases)
    if not given.by:
        return _back(papers, request, form, given, SentBack())
    fields = dict(given.fields)
    if content := given.files.get("attachment"):
        kept = await papers.ask(Attach(1, given.by, content))
        if not kept.ok:
            return _back(papers, request, form, given, SentBack(faults=kept.faults))
        fields["attachment"] = kept.data["attachment"]
    line = record_line(forms[register], held, fields, given.request)
    reply = await papers.ask(Enter(1, given.by, (line,)))
    if not reply.ok:
        key = forms[register]["key"]
        beside = [structs.replace(one, field="subject") if one.field == key else one for one in reply.faults]
        return _back(papers, request, form, given, SentBack(faults=beside))
    return papers.lead(request, "/registro", given.by, register=register, subject=subject, saved="1")


def _mending(papers: Papers, way: str) -> Callable[[Request], Awaitable[Response]]:
    async def sent(request: Request) -> Response:
        try:
            return await _mend(papers, request, way, await posted(request))
        except AwayError:
            return papers.away(request)
        except RefusedError as error:
            return papers.bad_moment(request, error.reply.error)

    return sent


async def _mend(papers: Papers, request: Request, way: str, given: Posted) -> Response:
    register, subject = given.text("register"), given.text("subject")
    found = await mended(papers, way, register, subject, given.text("entry"))
    if found is None:  # somebody else mended it meanwhile, or it was sent twice: its history says so
        return papers.lead(request, "/registro", given.by, register=register, subject=subject)
    phrases = papers.phrases(request)
    form = mending_form(way, register, subject, found.entry, found.form, await papers.areas(), phrases)
    if not given.by:
        return _back(papers, request, form, given, SentBack())
    if way == REMOVE and not given.text("reason"):
        texts = {phrases.locale.language: phrases.locale.text("mend.needs_reason")}
        fault = Fault(0, "reason", "needs-reason", "", phrases.locale.text(f"mend.{way}_reason"), texts)
        return _back(papers, request, form, given, SentBack(faults=(fault,)))
    line = mending_line(way, found.entry, found.form, given.fields, given.request, phrases)
    reply = await papers.ask(Enter(1, given.by, (line,), anyway="anyway" in given.fields))
    if reply.ok:
        return papers.lead(request, "/registro", given.by, register=register, subject=subject, saved="1")
    if breaks := (reply.data or {}).get("breaks", ()):
        view = breaks_view(breaks, await papers.look(Look(1, "stock")), {}, phrases)
        return _back(papers, request, form, given, SentBack(breaks=view))
    return _back(papers, request, form, given, SentBack(faults=reply.faults))


async def _survey(papers: Papers, request: Request, given: Posted) -> Response:
    phrases = papers.phrases(request)
    lines = answers(given.fields, given.request)
    reply: Reply | None = None
    if lines and given.by:
        reply = await papers.ask(Enter(1, given.by, lines))
    if not lines or (reply is not None and reply.ok):
        return papers.lead(request, "/vistoria", given.by, group=given.text("after"))
    data = await papers.look(Look(1, "survey"))
    view = survey_view(data, given.text("group"), await papers.areas(), phrases)
    faults = () if reply is None else reply.faults
    return papers.render(
        request,
        "survey.html",
        HTTPStatus.UNPROCESSABLE_ENTITY,
        name=given.by or name_of(request),
        view=view.filled(given.fields, _by_input(lines, faults, phrases.locale.language)),
        faults=[fault.texts.get(phrases.locale.language, fault.problem) for fault in faults if fault.field == "expect"],
        by_error="" if given.by else phrases.locale.text("entry.needs_name"),
    )


def _by_input(lines: Sequence[LineAsk], faults: Sequence[Fault], language: str) -> Mapping[str, str]:
    """Each fault by the name of the input it belongs to."""
    found = {}
    for fault in faults:
        line = lines[max(0, fault.line - 1)]
        found[f"{line.register}|{line.subject}|{fault.field}"] = fault.texts.get(language, fault.problem)
    return found


def _done(papers: Papers, request: Request, reply: Reply, by: str, what: str) -> Response:
    again, phrases = bool(reply.data["again"]), papers.phrases(request)
    text = phrases.locale.text
    said = [text("entry.again") if again else text("entry.saved", what=what)]
    said += [f"{text('stock.found', **said_count(one, phrases))}." for one in reply.data["discrepancies"]]
    said += [text("entry.left_area", area=phrases.area(area)) for area in reply.data["left_areas"]]
    return papers.lead(request, "/lancar", by, saved=" ".join(said))


def _back(papers: Papers, request: Request, form: EntryForm, given: Posted, back: SentBack) -> Response:
    phrases = papers.phrases(request)
    language = phrases.locale.language
    unsigned = not given.by and "dry" not in given.fields
    status = HTTPStatus.CONFLICT if back.breaks else HTTPStatus.OK
    if back.faults or unsigned:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    return papers.render(
        request,
        "entry.html",
        status,
        form=form.filled(given.fields, back.faults, language),
        expect=given.text("expect"),
        faults=form.beside(back.faults, language),
        breaks=back.breaks,
        told=back.told,
        by_error=phrases.locale.text("entry.needs_name") if unsigned else "",
        kept_rid=given.request,
        name=given.by or name_of(request),
    )
