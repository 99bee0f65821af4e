"""The other end of the control socket, for commands: asks the gateway one thing, or follows its picture. It blocks."""

import socket
from collections.abc import Iterator
from pathlib import Path

import msgspec

from dashboards.ports import Act, Answer, Ask, Change, Drill, Snapshot, Subscribe, Window
from dashboards.speaking import Speaker
from gateway.control import MAX_LINE_BYTES
from gateway.machine.sockets import ControlError


def ask(path: Path, request: Act | Window | Drill | Ask, timeout_s: float = 2.0) -> Answer:
    """Ask the gateway behind `path` one thing and wait for the answer (for commands; it blocks).

    Raises:
        ControlError: nobody answers there in time, or what answers is no gateway.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(timeout_s)
            line.connect(str(path))
            line.sendall(msgspec.json.encode(request) + b"\n")
            with line.makefile("rb") as answers_in:
                text = answers_in.readline(MAX_LINE_BYTES + 1)
    except OSError as error:
        raise ControlError(f"{path}: no gateway answers ({error})") from error
    if not text.endswith(b"\n"):
        raise ControlError(f"{path}: the answer breaks off after {len(text)} bytes")
    try:
        answer = msgspec.json.decode(text, type=Answer)
    except msgspec.DecodeError as error:
        raise ControlError(f"{path}: the answer is not a gateway's ({error})") from error
    if answer.snapshot is None:
        return answer
    return msgspec.structs.replace(answer, snapshot=Speaker().snapshot(answer.snapshot))


def follow(path: Path, silence_s: float = 5.0) -> Iterator[Snapshot | Change]:
    """Subscribe to the gateway behind `path` and yield what it shows: the picture, then every change (it blocks).

    The gateway speaks at least once a second, so that whoever iterates may look at the clock that often.

    Raises:
        ControlError: nobody answers there, it falls silent for `silence_s`, or what answers is no gateway.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(silence_s)
            line.connect(str(path))
            line.sendall(msgspec.json.encode(Subscribe()) + b"\n")
            with line.makefile("rb") as pictures_in:
                speaker = Speaker()
                while text := pictures_in.readline(MAX_LINE_BYTES + 1):
                    heard = msgspec.json.decode(text, type=Snapshot | Change)
                    yield speaker.snapshot(heard) if isinstance(heard, Snapshot) else speaker.change(heard)
    except OSError as error:
        raise ControlError(f"{path}: no gateway answers ({error})") from error
    except msgspec.DecodeError as error:
        raise ControlError(f"{path}: the answer is not a gateway's ({error})") from error
    raise ControlError(f"{path}: the gateway has gone")
