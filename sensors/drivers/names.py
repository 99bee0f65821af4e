"""Host names to addresses, from memory while the name server is away. Knows nobody who connects."""

import asyncio
import ipaddress
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

LOOKUP_MAX_S: Final = 1.0
"""How long an attempt waits for the name server before it uses what the server said last."""


@dataclass(frozen=True, slots=True)
class Address:
    """One address of a host; `family` and `protocol` are the socket module's numbers."""

    host: str
    port: int
    family: int = int(socket.AF_UNSPEC)
    protocol: int = 0


_Key: TypeAlias = tuple[str, int, int]
_Answer: TypeAlias = tuple[Address, ...] | OSError
LookUp: TypeAlias = Callable[..., Sequence[tuple[Any, ...]]]
"""``socket.getaddrinfo``, or what stands in for it."""


class Names:
    """Asks the name server anew for every connection, and falls back on its last answer.

    At most one lookup for a name runs at a time, in a daemon thread of its own: a name server that never answers holds
    up neither the loop's shared threads nor the end of the process. An address that is one already asks nobody.
    """

    def __init__(self, look_up: LookUp = socket.getaddrinfo) -> None:
        self._look_up = look_up
        self._known: dict[_Key, tuple[Address, ...]] = {}
        self._asking: dict[_Key, asyncio.Future[_Answer]] = {}

    async def find(self, host: str, port: int, family: int = socket.AF_UNSPEC) -> tuple[Address, ...]:
        """Return addresses to connect to, the one to try first in front.

        Raises:
            OSError: if the name server gives none in time and never gave any before.
        """
        if _is_address(host):
            return (Address(host, port),)
        key = (host, port, int(family))
        answer: _Answer
        try:
            async with asyncio.timeout(LOOKUP_MAX_S):
                answer = await asyncio.shield(self._ask(key))
        except TimeoutError as late:
            answer = late
        if not isinstance(answer, OSError):
            return answer
        if key not in self._known:
            raise answer
        return self._known[key]

    def _ask(self, key: _Key) -> "asyncio.Future[_Answer]":
        running = self._asking.get(key)
        if running is not None:
            return running
        loop = asyncio.get_running_loop()
        asked = self._asking[key] = loop.create_future()

        def heard(answer: _Answer) -> None:
            del self._asking[key]
            if not isinstance(answer, OSError):
                self._known[key] = answer
            asked.set_result(answer)

        def ask() -> None:
            answer = _look_up(self._look_up, key)
            try:
                loop.call_soon_threadsafe(heard, answer)
            except RuntimeError:
                return  # the loop has closed: nobody waits any more

        threading.Thread(target=ask, name=f"names:{key[0]}", daemon=True).start()
        return asked


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _look_up(look_up: LookUp, key: _Key) -> _Answer:
    host, port, family = key
    try:
        found = look_up(host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except OSError as fault:
        return fault
    except UnicodeError:
        return OSError("no host name")
    return tuple(Address(at[0], at[1], int(kind), proto) for kind, _, proto, _, at in found)
