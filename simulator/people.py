"""The people of a scenario at the real watch: they acknowledge, reset and open test windows over its HTTP interface."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import quote

from simulator.happenings import What
from simulator.lines import HOST
from simulator.yard import Scenario

ASK_S = 1.0
"""The watch is asked for its alarms this often, and must answer within this time."""
TESTER = "Técnico"
"""Who opens test windows."""


def alarms(port: int) -> list[Mapping[str, Any]]:
    """Return the standing alarms; none where the watch does not answer."""
    found = _ask(port, "GET", "/api/v1/alarms")
    return list(found.get("alarms", [])) if isinstance(found, Mapping) else []


def _ask(port: int, method: str, path: str, body: Mapping[str, object] | None = None) -> object:
    connection = HTTPConnection(HOST, port, timeout=ASK_S)
    try:
        connection.request(
            method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"}
        )
        answer = connection.getresponse()
        text = answer.read()
        return json.loads(text) if answer.status == 200 else None
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()


@dataclass(slots=True)
class People:
    """Those of one scenario, in its time."""

    scenario: Scenario
    port: int
    _looked_s: float = -ASK_S
    _seen_s: dict[str, float] = field(default_factory=dict)
    _clear_s: dict[str, float] = field(default_factory=dict)
    _opened: set[str] = field(default_factory=set)

    def act(self, t_s: float) -> None:
        """Do what is due at `t_s` of the scenario; called often."""
        if not (self.scenario.people or self._windows()) or t_s - self._looked_s < ASK_S:
            return
        self._looked_s = t_s
        for head, at_s, minutes in self._windows():
            if at_s <= t_s and head not in self._opened:
                self._opened.add(head)
                body = {"kind": "test", "by": TESTER, "minutes": minutes}
                _ask(self.port, "POST", f"/api/v1/detectors/{quote(head)}/window", body)
        for alarm in alarms(self.port) if self.scenario.people else []:
            if alarm.get("kind") == "GAS":
                self._answer(alarm, t_s)

    def _windows(self) -> list[tuple[str, float, float]]:
        return [
            (each.target, each.at_s, each.amount) for each in self.scenario.happenings if each.what is What.TEST_WINDOW
        ]

    def _answer(self, alarm: Mapping[str, Any], t_s: float) -> None:
        name = f"{alarm['id']}/{alarm.get('level')}"
        waiting = "unacknowledged" in str(alarm.get("state")) and not str(alarm.get("state")).startswith("ack")
        since = self._seen_s.setdefault(name, t_s)
        gone = self._clear_s.setdefault(name, t_s) if str(alarm.get("state")) == "latched-acknowledged" else None
        for person in self.scenario.people:
            if waiting and person.acknowledges_after_s is not None and t_s - since >= person.acknowledges_after_s:
                self._post(alarm, "acknowledge", person.name)
            if gone is not None and person.resets_after_s is not None and t_s - gone >= person.resets_after_s:
                self._post(alarm, "reset", person.name)

    def _post(self, alarm: Mapping[str, Any], action: str, by: str) -> None:
        _ask(self.port, "POST", f"/api/v1/alarms/{quote(str(alarm['id']))}/{action}", {"by": by})
