"""Host names to addresses for the HTTP channels, as aiohttp asks for them. Knows no channel."""

import socket

from aiohttp.abc import AbstractResolver, ResolveResult

from sensors.drivers.names import LookUp, Names


class RememberedAddresses(AbstractResolver):
    """What `Names` finds and remembers."""

    def __init__(self, look_up: LookUp = socket.getaddrinfo) -> None:
        self._names = Names(look_up)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return addresses to connect to.

        Raises:
            OSError: if the name server gives none in time and never gave any before.
        """
        return [
            ResolveResult(
                hostname=host, host=at.host, port=at.port, family=at.family or family, proto=at.protocol, flags=0
            )
            for at in await self._names.find(host, port, family)
        ]

    async def close(self) -> None:
        """Nothing to give back: a lookup that still runs ends by itself."""
