"""Host names to addresses for the HTTP channels, from memory while the name server is away. Knows no channel."""

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from aiohttp.abc import AbstractResolver, ResolveResult

LOOKUP_MAX_S = 1.0
"""How long an attempt waits for the name server before it uses what the server said last."""

_Key: TypeAlias = tuple[str, int, int]
_Answer: TypeAlias = "list[ResolveResult] | OSError"
LookUp: TypeAlias = Callable[..., Sequence[tuple[Any, ...]]]
"""``socket.getaddrinfo``, or what stands in for it."""


class RememberedAddresses(AbstractResolver):
    """Asks the name server anew for every connection, and falls back on its last answer.

    At most one lookup for a name runs at a time, in a daemon thread of its own: a name server that never answers holds
    up neither the loop's shared threads nor the end of the process.
    """

    def __init__(self, look_up: LookUp = socket.getaddrinfo) -> None:
        self._look_up = look_up
        self._known: dict[_Key, list[ResolveResult]] = {}
        self._asking: dict[_Key, asyncio.Future[_Answer]] = {}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return addresses to connect to.

        Raises:
            OSError: if the name server gives none in time and never gave any before.
        """
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

    async def close(self) -> None:
        """Nothing to give back: a lookup that still runs ends by itself."""

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

        threading.Thread(target=ask, name=f"addresses:{key[0]}", daemon=True).start()
        return asked


def _look_up(look_up: LookUp, key: _Key) -> _Answer:
    host, port, family = key
    try:
        found = look_up(host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    except OSError as fault:
        return fault
    except UnicodeError:
        return OSError("no host name")
    return [
        ResolveResult(hostname=host, host=address[0], port=address[1], family=kind, proto=proto, flags=0)
        for kind, _, proto, _, address in found
    ]
