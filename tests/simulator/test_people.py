"""Simulated people: they take an alarm when they would, or never."""

import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from simulator.happenings import Happening, Person, What
from simulator.people import People, alarms
from simulator.scenario import load

CALM = load("calm")


class Watch(ThreadingHTTPServer):
    """What a watch's HTTP interface answers, and what it was asked to do."""

    def __init__(self) -> None:
        self.alarms: list[dict[str, object]] = []
        self.deeds: list[tuple[str, dict[str, object]]] = []
        super().__init__(("127.0.0.1", 0), Handler)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer({"alarms": self.server.alarms})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.deeds.append((self.path, body))
        self.answer({"ok": True})

    def answer(self, body: dict[str, object]) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def watch():
    served = Watch()
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    served.shutdown()
    served.server_close()
    thread.join()


def gas(state: str, level: str = "A1") -> dict[str, object]:
    return {"id": "depot-1", "kind": "GAS", "subject": "GD-101", "level": level, "state": state}


def people(watch: Watch, *persons: Person, **changes: object) -> People:
    return People(replace(CALM, people=persons, **changes), watch.server_port)


def test_a_person_acknowledges_only_after_the_time_it_takes(watch):
    mine = people(watch, Person("Ana", acknowledges_after_s=20))
    watch.alarms = [gas("unacknowledged")]
    for t_s in (0.0, 10.0, 19.0):
        mine.act(t_s)
    assert watch.deeds == []
    mine.act(20.5)
    assert watch.deeds == [("/api/v1/alarms/depot-1/acknowledge", {"by": "Ana"})]


def test_a_rise_has_its_own_time(watch):
    mine = people(watch, Person("Ana", acknowledges_after_s=20))
    watch.alarms = [gas("unacknowledged")]
    mine.act(0.0)
    watch.alarms = [gas("unacknowledged", "A3")]
    mine.act(25.0)
    assert watch.deeds == []


def test_a_person_who_never_comes_does_nothing(watch):
    mine = people(watch, Person("Ninguém"))
    watch.alarms = [gas("unacknowledged")]
    for t_s in range(0, 600, 60):
        mine.act(t_s)
    assert watch.deeds == []


def test_what_is_acknowledged_and_gone_is_reset(watch):
    mine = people(watch, Person("Ana", acknowledges_after_s=5, resets_after_s=10))
    watch.alarms = [gas("latched-acknowledged")]
    mine.act(0.0)
    mine.act(11.0)
    assert watch.deeds == [("/api/v1/alarms/depot-1/reset", {"by": "Ana"})]


def test_a_test_window_is_opened_once_in_its_time(watch):
    window = Happening(What.TEST_WINDOW, "GD-101", 5.0, amount=1.5)
    mine = people(watch, happenings=(window,))
    for t_s in (0.0, 4.0, 5.5, 9.0):
        mine.act(t_s)
    assert [(path, body["kind"], body["minutes"]) for path, body in watch.deeds] == [
        ("/api/v1/detectors/GD-101/window", "test", 1.5)
    ]


def test_a_watch_that_does_not_answer_has_no_alarms(watch):
    port = watch.server_port
    watch.shutdown()
    watch.server_close()
    assert alarms(port) == []
