"""How every route answers: JSON, described for OpenAPI, and one shape for every answer that is not a success."""

from http import HTTPStatus
from typing import Any

import msgspec
from starlette.responses import Response

REFERENCE = "#/components/schemas/{name}"


class Refused(msgspec.Struct, frozen=True, omit_defaults=True):
    """Every answer that is not a success. `error` is a code."""

    error: str
    age_s: float | None = None
    detail: str = ""


def as_json(value: object, status: int = HTTPStatus.OK) -> Response:
    """Return a JSON answer."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


def described(good: type[msgspec.Struct], bad: type[msgspec.Struct]) -> dict[int | str, dict[str, Any]]:
    """Describe a route's answers for OpenAPI; `schemas` holds what the references point to."""
    return {
        200: {"content": {"application/json": {"schema": {"$ref": REFERENCE.format(name=good.__name__)}}}},
        503: {
            "description": "The gateway is not heard",
            "content": {"application/json": {"schema": {"$ref": REFERENCE.format(name=bad.__name__)}}},
        },
    }
