"""How the web child is called: the host of a public address reaches it, so that a proxy on the machine is let in."""

from dataclasses import replace
from pathlib import Path

import pytest
from depot_text import SMALLEST, loaded, replaced

from gateway.children.children import host_of, web_child
from gateway.children.webchild import _arguments


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


def test_the_child_understands_the_arguments_it_is_given(tmp_path: Path) -> None:
    text = replaced('id = "d"', 'id = "d"\ntimezone = "America/Manaus"', SMALLEST)
    depot = loaded(tmp_path, text + '[web]\nlisten = "127.0.0.1:8080"\n').depot
    child = web_child(depot)
    assert child is not None
    given = _arguments(child.arguments)
    assert (given.listen, given.language, given.host) == (("127.0.0.1", 8080), "pt-BR", [])
    assert (given.timezone, given.socket, given.office) == (depot.timezone, depot.socket, depot.office)
    called = web_child(replace(depot, public_url="https://vigia.example.org"))
    assert called is not None
    assert _arguments(called.arguments).host == ["vigia.example.org"]
    assert called != child, "a new public address must start the child anew"
