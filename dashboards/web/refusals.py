"""Every no of the web child in one shape: ``{"error": code, "detail": ...}``, whoever says it."""

from collections.abc import Callable
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from dashboards.web.answers import Refused, as_json
from dashboards.web.disk import AGAIN_S, SilentDiskError

LONGEST_DETAIL = 300
NEEDS_NAME, BAD_REQUEST, FAILED, SILENT = "needs-name", "bad-request", "failed", "record-silent"
CODES: dict[int, str] = {HTTPStatus.NOT_FOUND: "not-found", HTTPStatus.METHOD_NOT_ALLOWED: "method-not-allowed"}
"""What the router says without asking any route; other statuses of its own are a bad request or a fault."""


def speak_one_shape(app: FastAPI, record_silent: Callable[[Request], str]) -> None:
    """Have the application answer every refusal as `Refused`; `record_silent` says that the disk does not answer."""

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        faults = error.errors()
        code = NEEDS_NAME if any(tuple(fault["loc"]) == ("body", "by") for fault in faults) else BAD_REQUEST
        detail = "; ".join(f"{'.'.join(map(str, fault['loc'][1:])) or 'body'}: {fault['msg']}" for fault in faults)
        return as_json(Refused(code, detail=detail[:LONGEST_DETAIL]), HTTPStatus.UNPROCESSABLE_ENTITY)

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        otherwise = BAD_REQUEST if error.status_code < HTTPStatus.INTERNAL_SERVER_ERROR else FAILED
        code = CODES.get(error.status_code, otherwise)
        answer = as_json(Refused(code), error.status_code)
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(SilentDiskError)
    async def silent(request: Request, _: Exception) -> Response:
        answer = as_json(Refused(SILENT, detail=record_silent(request)), HTTPStatus.SERVICE_UNAVAILABLE)
        answer.headers["retry-after"] = str(AGAIN_S)
        return answer

    @app.exception_handler(HTTPStatus.INTERNAL_SERVER_ERROR)
    async def broken(_: Request, __: Exception) -> Response:
        return as_json(Refused(FAILED), HTTPStatus.INTERNAL_SERVER_ERROR)
