"""How the web child is called: the host of a public address reaches it, so that a proxy on the machine is let in."""

from pathlib import Path

import pytest

from gateway.webchild import _arguments
from gateway.webprocess import WebProcess, host_of

CHILD = WebProcess("127.0.0.1", 8080, Path("s"), Path("j"), "pt-BR", "America/Manaus")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://vigia.example.org", "vigia.example.org"),
        ("https://Vigia.Example.org:8443/deposito/", "vigia.example.org"),
        ("http://[2001:db8::7]:8080/", "2001:db8::7"),
        ("https://depósito.example.org", "xn--depsito-n0a.example.org"),
        ("https:///nowhere", None),
    ],
)
def test_the_host_of_an_address_is_what_a_browser_sends(url: str, host: str | None) -> None:
    assert host_of(url) == host


def test_the_child_understands_the_arguments_it_is_given() -> None:
    given = _arguments(CHILD.arguments())
    assert (given.listen, given.language, given.host) == (("127.0.0.1", 8080), "pt-BR", [])
    assert given.timezone == "America/Manaus"
    called = WebProcess("127.0.0.1", 8080, Path("s"), Path("j"), "en", "America/Manaus", "vigia.example.org")
    assert _arguments(called.arguments()).host == ["vigia.example.org"]
    assert called != CHILD, "a new public address must start the child anew"
