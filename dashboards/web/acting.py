"""What people ask of the gateway over HTTP: actions on alarms, windows and heads out of service. Decides nothing."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter
from pydantic import BaseModel, Field, StringConstraints
from starlette.responses import Response

from dashboards.ports import Act, Answer, Drill, Window
from dashboards.web.answers import Refused, as_json, described
from dashboards.web.link import GatewayLink, LinkLostError

MAX_NAME_CHARS = 80
MAX_NOTE_CHARS = 500
DEFAULT_WINDOW_MINUTES = 10.0
MAX_WINDOW_MINUTES = 480.0
"""The longest inhibit; the gateway refuses a test beyond 30 minutes."""

DEFAULT_SHELF_MINUTES = 30.0
MAX_SHELF_MINUTES = 480.0
MAX_OUT_MINUTES = 43_200.0
"""The longest that a head may be out of service: 30 days."""

MOST_OUTPUTS = 200
"""Named in one drill."""

Action = Literal["acknowledge", "silence", "reset", "unshelve"]
STATUS_OF_ERROR = {
    "unknown-alarm": HTTPStatus.NOT_FOUND,
    "unknown-detector": HTTPStatus.NOT_FOUND,
    "unknown-output": HTTPStatus.NOT_FOUND,
    "not-possible": HTTPStatus.CONFLICT,
    "changed": HTTPStatus.CONFLICT,
    "needs-name": HTTPStatus.UNPROCESSABLE_ENTITY,
    "needs-reason": HTTPStatus.UNPROCESSABLE_ENTITY,
    "bad-request": HTTPStatus.UNPROCESSABLE_ENTITY,
    "busy": HTTPStatus.SERVICE_UNAVAILABLE,
    "no-contact": HTTPStatus.SERVICE_UNAVAILABLE,
}


NO_REASON = Answer(0, ok=False, error="needs-reason")


class Deed(BaseModel):
    """Who acts on an alarm, and what they want to add."""

    by: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME_CHARS)]
    note: Annotated[str, StringConstraints(max_length=MAX_NOTE_CHARS)] = ""
    seen: Annotated[int, Field(ge=0)] | None = None


class WindowDeed(Deed):
    """A test or inhibit to be opened over a head for so many minutes, or what stands over it to be closed."""

    kind: Literal["test", "inhibit", "close"]
    minutes: Annotated[float, Field(gt=0, le=MAX_WINDOW_MINUTES)] = DEFAULT_WINDOW_MINUTES


class ShelveDeed(Deed):
    """How long an alarm is shelved; `note` is the reason, without which nothing is done."""

    minutes: Annotated[float, Field(gt=0, le=MAX_SHELF_MINUTES)] = DEFAULT_SHELF_MINUTES


class OutDeed(Deed):
    """How long a head is out of service; `note` is the reason, without which nothing is done."""

    minutes: Annotated[float, Field(gt=0, le=MAX_OUT_MINUTES)]


class DrillDeed(BaseModel):
    """Who has outputs tested: these, or with none named all that people notice.

    `tell`: every recipient gets a notice that it is an exercise.
    """

    by: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME_CHARS)]
    note: Annotated[str, StringConstraints(max_length=MAX_NOTE_CHARS)] = ""
    outputs: Annotated[tuple[str, ...], Field(max_length=MOST_OUTPUTS)] = ()
    tell: bool = False


class Done(msgspec.Struct, frozen=True):
    """Answer of a deed that was done."""

    ok: bool = True


ANSWERS = described(Done, Refused, 400, 404, 409, 422)


async def carry(link: GatewayLink, deed: Act | Window | Drill) -> Answer:
    """Carry a deed to the gateway; no contact is an answer like any other."""
    try:
        return await link.act(deed)
    except LinkLostError as error:
        return Answer(0, ok=False, error="no-contact", detail=str(error))


def add_acting(router: APIRouter, link: Callable[[], GatewayLink]) -> None:
    """Add the routes. The particular ones stand first: the router takes the first that fits."""

    @router.post("/api/v1/alarms/{alarm}/shelve", responses=ANSWERS)
    async def shelve(alarm: str, deed: ShelveDeed) -> Response:
        """A named person sets an alarm aside for a while, with a reason. Gas cannot be."""
        if not deed.note.strip():
            return outcome(NO_REASON)
        return outcome(await carry(link(), Act(0, "shelve", alarm, deed.by, deed.note, deed.seen, deed.minutes)))

    @router.post("/api/v1/alarms/{alarm}/{action}", responses=ANSWERS)
    async def act(alarm: str, action: Action, deed: Deed) -> Response:
        """A named person acknowledges, silences or resets an alarm, or takes it off its shelf."""
        return outcome(await carry(link(), Act(0, action, alarm, deed.by, deed.note, deed.seen)))

    @router.post("/api/v1/detectors/{detector}/window", responses=ANSWERS)
    async def window(detector: str, deed: WindowDeed) -> Response:
        """A named person opens a test or inhibit over one head, or closes what stands over it."""
        minutes = 0.0 if deed.kind == "close" else deed.minutes
        return outcome(await carry(link(), Window(0, deed.kind, detector, deed.by, deed.note, minutes)))

    @router.post("/api/v1/detectors/{detector}/out-of-service", responses=ANSWERS)
    async def take_out(detector: str, deed: OutDeed) -> Response:
        """A named person takes one head out of service until then, with a reason."""
        if not deed.note.strip():
            return outcome(NO_REASON)
        return outcome(await carry(link(), Window(0, "out-of-service", detector, deed.by, deed.note, deed.minutes)))

    @router.post("/api/v1/detectors/{detector}/return", responses=ANSWERS)
    async def bring_back(detector: str, deed: Deed) -> Response:
        """A named person brings the head back: it watches, or says why it does not."""
        return outcome(await carry(link(), Window(0, "close", detector, deed.by, deed.note)))

    @router.post("/api/v1/drill", responses=ANSWERS)
    async def drill(deed: DrillDeed) -> Response:
        """A named person has outputs tested by a short pulse each; `outputs` of `state` tell how it went."""
        return outcome(await carry(link(), Drill(0, deed.by, deed.outputs, deed.note, deed.tell)))


def outcome(answer: Answer) -> Response:
    """Return what became of a deed."""
    if answer.ok:
        return as_json(Done())
    status = STATUS_OF_ERROR.get(answer.error, HTTPStatus.INTERNAL_SERVER_ERROR)
    return as_json(Refused(answer.error, detail=answer.detail), status)
