"""The table of docs/devices.md, made of the shipped profiles; ``python -m sensors.device_page`` renews it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from sensors import profiles
from sensors.profiles import Profile

PAGE: Final = Path(__file__).parent.parent / "docs" / "devices.md"
BEGIN: Final = "<!-- table of shipped devices: written by python -m sensors.device_page -->"
END: Final = "<!-- end of table -->"
PROMISE_S: Final = 3.0
"""By when the house's alarm has to be out; a head that renews its number later cannot be part of that."""

COLUMNS: Final = "| profile | device | wire | facts | assumed | renews | within 3 s | source |"
RULE: Final = "|---|---|---|---|---|---|---|---|"
HEADINGS: Final[Mapping[str, str]] = {
    "detector": "Detectors",
    "controller": "Panels",
    "input": "Inputs for 4-20 mA heads",
    "bridge": "Bridges",
    "output": "Relays, sirens, valves, contacts",
    "scale": "Scales",
    "counter": "Counters",
    "tags": "Readers of tags",
    "supply": "Supplies",
}


def table() -> str:
    """Return every shipped device, by kind and by name."""
    shipped = [profiles.load(name) for name in profiles.names()]
    parts = []
    for kind, heading in HEADINGS.items():
        rows = [_row(profile) for profile in shipped if profile.kind == kind]
        if rows:
            parts.append("\n".join([f"### {heading}", "", COLUMNS, RULE, *rows]))
    return "\n\n".join(parts)


def page(text: str) -> str:
    """Return the page with its table renewed.

    Raises:
        ValueError: if the page has no place for it.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("the page has no place for the table")
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def within_three_seconds(profile: Profile) -> str:
    """Say whether this device can be part of an alarm within three seconds, as far as its profile knows."""
    if not profile.is_detector:
        return "-"
    timing = profile.document.get("timing", {})
    said = [_renewal(profile, event_driven=timing.get("event_driven", False)), *_slowness(profile, timing)]
    return "; ".join(said)


def _renewal(profile: Profile, *, event_driven: bool) -> str:
    refresh_s = profile.refresh_s
    if event_driven:
        number = "" if refresh_s is None else f", its number every {refresh_s:g} s"
        death = "that it died shows late or never"
        if profile.detects_silence_s is not None:
            death = f"that it died shows after {profile.detects_silence_s:g} s"
        return f"its alarm when it is sent{number}; {death}"
    if refresh_s is None:
        behind = "the head behind it" if profile.kind == "input" else "the head"
        return f"not known: {behind} may renew more slowly"
    return "yes" if refresh_s <= PROMISE_S else f"no: renews every {refresh_s:g} s"


def _slowness(profile: Profile, timing: Mapping[str, float]) -> Iterator[str]:
    beat = profile.table.get("heartbeat")
    if isinstance(beat, Mapping):
        yield f"a number that stands still shows after {beat['period_s'] * beat.get('missed', 2):g} s"
    if "t90_s" in timing:
        yield f"its sensor needs {timing['t90_s']:g} s for 90 %"


def _row(profile: Profile) -> str:
    words = {"verified": "verified", "partly": "partly", "assumed": "assumed", "site": "the site's own"}
    assumed = sorted({assumption.key for assumption in profile.assumptions()})
    sources = " ".join(f"[{number}]({url})" for number, url in enumerate(profile.provenance.sources, start=1))
    cells = (
        f"`{profile.id}`",
        profile.title,
        profile.wire,
        words[profile.provenance.verification],
        ", ".join(assumed) or "-",
        "-" if profile.refresh_s is None else f"{profile.refresh_s:g} s",
        within_three_seconds(profile),
        sources or "-",
    )
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
