"""The page of shipped profiles; ``python -m sensors.profiles.page > docs/profiles.md`` writes it."""

from collections.abc import Iterable

from sensors.profiles import Profile, load, names

INTRODUCTION = """# Shipped profiles

Every device model that comes with Vigia, from its maker's manual or source. *verified*: value, scaling and main states
were read there; *partly*: something a head needs is assumed, and `vigia profile check NAME` says what; *site*: as true
as the settings. Nothing replaces the first reading of the first device: `vigia probe`. Another model:
[Adding a detector profile](add-a-detector-profile.md).

A model that renews its value, or shows its death, later than 3 s cannot promise the three seconds: `vigia check` says
so.
"""

TITLES = {
    "detector": "Detectors",
    "controller": "Panels with several heads",
    "input": "Inputs for 4-20 mA heads",
    "bridge": "Bridges",
    "output": "Relays, sirens, valves",
    "scale": "Scales",
    "counter": "Counters",
    "tags": "Tag readers",
    "supply": "Power supplies",
}


def page() -> str:
    """Return the whole page."""
    return "\n".join([INTRODUCTION, *_sections([load(name) for name in names()])])


def _sections(profiles: list[Profile]) -> Iterable[str]:
    for kind, title in TITLES.items():
        mine = [profile for profile in profiles if profile.kind == kind]
        if mine:
            yield f"## {title}\n"
            yield "| profile | device | wire | proved | must | may | renews, shows its death |"
            yield "|---|---|---|---|---|---|---|"
            yield from (_row(profile) for profile in mine)
            yield ""


def _row(profile: Profile) -> str:
    cells = [
        f"`{profile.id}`",
        profile.title,
        profile.wire,
        profile.provenance.verification,
        _keys(profile.requires),
        _keys(name for name in profile.accepts if name not in profile.requires),
        f"{_seconds(profile.refresh_s)}, {_seconds(profile.detects_silence_s)}",
    ]
    return "| " + " | ".join(cells) + " |"


def _keys(keys: Iterable[str]) -> str:
    return ", ".join(f"`{key}`" for key in keys)


def _seconds(seconds: float | None) -> str:
    return "unknown" if seconds is None else "at once" if seconds == 0 else f"{seconds:g} s"


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201 - the page is what this prints
