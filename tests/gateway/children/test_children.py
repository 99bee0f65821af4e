"""How the web child is called: the host of a public address reaches it, so that a proxy on the machine is let in."""

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.children.children import host_of, web_child
from gateway.children.webchild import _arguments
from gateway.configuration.loading import load
from gateway.depot import Depot


def loaded(folder: Path) -> Depot:
    file = folder / "depot.toml"
    file.write_text(
        """[depot]
id = "d"
name = "Depósito"
timezone = "America/Manaus"
[levels]
A1 = 10
A2 = 20
A3 = 40
[[area]]
id = "patio"
licensed_kg = 520
[web]
listen = "127.0.0.1:8080"
""",
        encoding="utf-8",
    )
    return load(file, {}).depot


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
    depot = loaded(tmp_path)
    child = web_child(depot)
    assert child is not None
    given = _arguments(child.arguments)
    assert (given.listen, given.language, given.host) == (("127.0.0.1", 8080), "pt-BR", [])
    assert (given.timezone, given.socket, given.office) == (depot.timezone, depot.socket, depot.office)
    called = web_child(replace(depot, public_url="https://vigia.example.org"))
    assert called is not None
    assert _arguments(called.arguments).host == ["vigia.example.org"]
    assert called != child, "a new public address must start the child anew"
