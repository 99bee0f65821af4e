"""Shelly's announcements (``shellies/announce``, first generation) -> heads of its gas models."""

from collections.abc import Iterator, Mapping

from sensors.announcements.found import Announced

MODELS = ("SHGS-1",)
PROFILE = "shelly-gas"


def heads(announced: object, shipped: frozenset[str]) -> Iterator[Announced]:
    """Yield the head, if the device is one."""
    if not isinstance(announced, Mapping):
        return
    name, model = announced.get("id"), str(announced.get("model", ""))
    if not isinstance(name, str) or not name or not (model in MODELS or name.lower().startswith("shellygas")):
        return
    profile = PROFILE if PROFILE in shipped else ""
    notes = () if profile else ("no-profile",)
    yield Announced("shelly", name, f"Shelly {model}".strip(), f"shellies/{name}/sensor/gas", profile, {}, notes)
