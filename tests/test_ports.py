"""A port that is held: its own server may come and go, nobody else gets it, and it is let go with its owner."""

import gc
import socket

import pytest
from ports import HOST, held_port


class Owner:
    """Whoever wants the port."""


def test_the_owners_server_may_listen_end_and_listen_again():
    owner = Owner()
    port = held_port(owner)
    for _ in range(2):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((HOST, port), timeout=1.0)
        with socket.create_server((HOST, port)), socket.create_connection((HOST, port), timeout=1.0) as caller:
            assert caller.getpeername() == (HOST, port)


def test_a_held_port_is_given_to_nobody_else():
    owner = Owner()
    port = held_port(owner)
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind((HOST, port))


def test_a_held_port_is_let_go_with_its_owner():
    owner = Owner()
    port = held_port(owner)
    del owner
    gc.collect()
    with socket.socket() as other:
        other.bind((HOST, port))
