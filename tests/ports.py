"""Ports for the servers of a test: each is kept from everybody else for as long as its owner lives."""

import socket
import weakref

HOST = "127.0.0.1"


def held_port(owner: object) -> int:
    """Return a port that is bound already, so that neither another server nor an outgoing connection gets it.

    It is bound with SO_REUSEADDR and never listened on. The owner's server binds it the same way, as servers do, and
    may come and go: in between nobody answers there, and nobody else can take the place.
    """
    holder = socket.socket()
    weakref.finalize(owner, holder.close)
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind((HOST, 0))
    port: int = holder.getsockname()[1]
    return port
