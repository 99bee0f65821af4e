"""The demo depot's papers: entries that a clerk would make, told to the real office, so that its pages have something.

One paper has run out, one extinguisher soon will, one distance nobody measured, and a delivery too large is refused.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from http.client import HTTPConnection, HTTPException
from typing import Any

from simulator.lines import HOST

CLERK = "Depósito de demonstração"
"""Who signs the entries: everybody shall see that no person did."""

SIZE, SIZE_KG = "P-13", 13
FULL, EMPTY = 300, 132
DELIVERY = 60

ASK_S = 10.0
"""An entry is answered when the journal has it."""

AGAIN_S = 0.5
NO_OFFICE = 503
WOULD_BREAK = 409


@dataclass(frozen=True, slots=True)
class Told:
    """One call to the office: a register and the lines for it."""

    register: str
    lines: tuple[dict[str, Any], ...]


@dataclass(slots=True)
class Clerk:
    """Tells the papers one by one, as soon as the office is open.

    Attributes:
        port: of the page.
        said: called once with how many units too many the refused delivery has.
    """

    area: str
    port: int
    said: Callable[[int], None]
    _left: list[Told] = field(default_factory=list)
    _asked: float = 0.0

    def __post_init__(self) -> None:
        """Lay the papers out."""
        today = datetime.now(UTC).date()
        self._left = [*papers(self.area, today), too_large(self.area)]

    def act(self) -> None:
        """Tell the next paper, if the office is open; called often."""
        if not self._left or time.monotonic() < self._asked + AGAIN_S:
            return
        self._asked = time.monotonic()
        status, answer = _tell(self.port, self._left[0])
        if status == NO_OFFICE:
            return
        self._left.pop(0)
        if not self._left and status == WOULD_BREAK:
            over = max(-float(one["margin"]["high"]) for one in answer["data"]["breaks"] if one["margin"])
            self.said(-int(-over // SIZE_KG))


def _tell(port: int, told: Told) -> tuple[int, Any]:
    connection = HTTPConnection(HOST, port, timeout=ASK_S)
    try:
        body = json.dumps({"by": CLERK, "lines": list(told.lines)})
        connection.request("POST", f"/api/v1/registers/{told.register}", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    except (OSError, HTTPException, ValueError):
        return NO_OFFICE, None
    finally:
        connection.close()


def papers(area: str, today: date) -> Iterator[Told]:
    """Yield what is told of a depot with one area, in order. Told twice, it counts once: every line has its id."""

    def ago(days: int) -> str:
        return (today - timedelta(days=days)).isoformat()

    def ahead(days: int) -> str:
        return (today + timedelta(days=days)).isoformat()

    def line(subject: str, act: str = "record", **values: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        name = f"demo-{subject}-{act}-{values.get('state', '')}"
        return {"subject": subject, "act": act, "values": values, "id": name}

    yield Told(
        "stock",
        (
            line(area, "in", size_kg=SIZE, state="full", units=FULL, brand="Azul"),
            line(area, "in", size_kg=SIZE, state="empty", units=EMPTY, brand="Azul"),
        ),
    )
    yield Told("extinguisher", tuple(_extinguishers(line, area, ago, ahead)))

    def paper(name: str, kind: str, days: int | None, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        until = {} if days is None else {"valid_until": ahead(days)}
        return line(name, kind=kind, no_expiry=days is None, revoked=False, **until, **more)

    yield Told(
        "document",
        (
            paper("alvara", "operating-licence", 65, number="1234"),
            paper("bombeiros", "fire-brigade-inspection", -20),
            paper("anp", "anp-registration", None, number="GLP-0001"),
        ),
    )
    measures = {"distance_drain_m": "6", "distance_public_way_m": "12"}
    yield Told("area", (line(area, roofed=False, leak_test_material=True, **measures),))
    complete: dict[str, Any] = {f"{things}_listed": True for things in ("containers", "extinguishers", "documents")}
    yield Told("depot", (line("depot", sells_lpg=True, set_apart_spot=True, **complete),))


def too_large(area: str) -> Told:
    """A delivery that does not fit, asked about before it is unloaded."""
    values = {"size_kg": SIZE, "state": "full", "units": DELIVERY, "brand": "Azul"}
    return Told("stock", ({"subject": area, "act": "in", "values": values, "id": "demo-delivery"},))


def _extinguishers(line: Any, area: str, ago: Any, ahead: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - local
    for number, left in enumerate((240, 240, 12, 200, 310, 310), start=1):
        yield line(
            f"EXT-{number}",
            area=area,
            agent="powder-bc",
            charge_kg="12",
            rating_b=20,
            present=True,
            sealed=True,
            clear=True,
            charge_until=ahead(left),
            hydrostatic_until=ahead(900),
            inspected_on=ago(100),
        )
