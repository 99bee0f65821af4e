"""How every route answers: JSON, described for OpenAPI, and one shape for every answer that is not a success."""

from http import HTTPStatus
from typing import Any

import msgspec
from starlette.responses import Response

REFERENCE = "#/components/schemas/{name}"


class Refused(msgspec.Struct, frozen=True, omit_defaults=True):
    """Every answer that is not a success, whoever gives it. `error` is a code, `detail` a word for the caller's log."""

    error: str
    age_s: float | None = None
    detail: str = ""


def as_json(value: object, status: int = HTTPStatus.OK) -> Response:
    """Return a JSON answer."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def described(good: type[msgspec.Struct], bad: type[msgspec.Struct], *noes: int) -> dict[int | str, dict[str, Any]]:
    """Describe a route's answers for OpenAPI; `api.schemas` holds what the references point to.

    `noes`: the statuses of a no, besides 503.
    """

    def of(struct: type[msgspec.Struct], about: str) -> dict[str, Any]:
        schema = {"$ref": REFERENCE.format(name=struct.__name__)}
        return {"description": about, "content": {"application/json": {"schema": schema}}}

    answers: dict[int | str, dict[str, Any]] = {200: of(good, "Done")}
    answers |= {status: of(bad, HTTPStatus(status).phrase) for status in noes}
    return answers | {503: of(bad, "What it is read from is not heard, or cannot be read")}


def or_csv(answers: dict[int | str, dict[str, Any]]) -> dict[int | str, dict[str, Any]]:
    """Describe a route that gives its answer as a spreadsheet too, where that is asked for."""
    good = answers[200]
    return answers | {200: {**good, "content": {**good["content"], "text/csv": {"schema": {"type": "string"}}}}}
