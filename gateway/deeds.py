"""What a person asks for on a screen or by a command, as an event for the engine, or why it is none. Does nothing."""

from dashboards.ports import Act, Drill, Window
from gateway.engine.engine import Engine
from gateway.engine.events import Action, CloseWindow, Command, OpenWindow, WindowKind
from gateway.engine.events import Drill as Order
from gateway.picture import Picture
from sensors.readings import DetectorId
from sensors.stamps import SECOND, Stamp

KINDS = {"test": WindowKind.TEST, "inhibit": WindowKind.INHIBIT, "out-of-service": WindowKind.OUT_OF_SERVICE}


def understood(
    ask: Act | Window | Drill, engine: Engine, picture: Picture, now: Stamp
) -> Command | OpenWindow | CloseWindow | Order | str:
    """Return the event, or the code of the error: of what is asked for, nothing stands any more as it was seen."""
    if isinstance(ask, Drill):
        if not all(engine.outputs.has(name) for name in ask.outputs):
            return "unknown-output"
        return Order(ask.outputs, ask.by, ask.note, now, ask.tell)
    return _of_window(ask, engine, now) if isinstance(ask, Window) else _of_alarm(ask, engine, picture, now)


def _of_alarm(ask: Act, engine: Engine, picture: Picture, now: Stamp) -> Command | str:
    key = picture.key_of(ask.alarm)
    if key is None:
        return "unknown-alarm"
    alarm = engine.book.get(key)
    if ask.seen is not None and alarm is not None and alarm.seq != ask.seen:
        return "changed"
    if ask.action == "shelve" and not ask.note.strip():
        return "needs-reason"
    return Command(Action(ask.action), key, ask.by, ask.note, now, round(ask.minutes * 60 * SECOND))


def _of_window(ask: Window, engine: Engine, now: Stamp) -> OpenWindow | CloseWindow | str:
    if DetectorId(ask.detector) not in engine.sight.heads:
        return "unknown-detector"
    if ask.kind == "close":
        return CloseWindow(ask.detector, ask.by, now)
    if ask.kind == "out-of-service" and not ask.note.strip():
        return "needs-reason"
    return OpenWindow(KINDS[ask.kind], ask.detector, round(ask.minutes * 60 * SECOND), ask.by, ask.note, now)
