"""``GET readings``: what a detector read over a stretch of time, out of the depot's own store."""

import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from dashboards.past import Trend, Trends
from dashboards.web.answers import Refused, as_json, described
from dashboards.web.disk import Disk
from sensors.stamps import SECOND, parse_rfc3339

HOUR_S = 3600
LONGEST_STEP_S = 366 * 86_400


class TrendsError(RuntimeError):
    """The readings cannot be read now."""


class TooLongError(ValueError):
    """The stretch has more buckets than one answer may hold."""


def add_trends(router: APIRouter, recorded: Callable[[], Trends | None], disk: Callable[[], Disk]) -> None:
    """Add the route; where `recorded` gives None nothing is recorded, and it says so."""

    @router.get("/api/v1/readings/{detector}", responses=described(Trend, Refused, 404, 422))
    async def readings(
        detector: str,
        start: Annotated[str | None, Query(alias="from", description="RFC 3339; an hour ago if absent")] = None,
        end: Annotated[str | None, Query(alias="to", description="RFC 3339; now if absent")] = None,
        step: Annotated[int | None, Query(ge=1, le=LONGEST_STEP_S, description="seconds; chosen if absent")] = None,
    ) -> Response:
        """Mean, lowest and highest in each step; gaps are null, never filled."""
        try:
            last = int(time.time()) + 1 if end is None else -(-parse_rfc3339(end) // SECOND)
            first = last - HOUR_S if start is None else parse_rfc3339(start) // SECOND
        except ValueError as error:
            return as_json(Refused("bad-time", detail=str(error)), HTTPStatus.UNPROCESSABLE_ENTITY)
        if first >= last:
            return as_json(Refused("bad-time", detail="`to` must be after `from`"), HTTPStatus.UNPROCESSABLE_ENTITY)
        trends = recorded()
        if trends is None:
            return as_json(Refused("no-readings"), HTTPStatus.SERVICE_UNAVAILABLE)
        try:
            trend = await disk().read(lambda: trends.trend(detector, first, last, step))
        except TooLongError as error:
            return as_json(Refused("too-many-steps", detail=str(error)), HTTPStatus.UNPROCESSABLE_ENTITY)
        except TrendsError as error:
            return as_json(Refused("no-readings", detail=str(error)), HTTPStatus.SERVICE_UNAVAILABLE)
        return as_json(Refused("unknown-detector"), HTTPStatus.NOT_FOUND) if trend is None else as_json(trend)
