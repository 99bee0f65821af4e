"""Writes docs/alarm-states.md out of the table: ``python -m alerts.states_page > docs/alarm-states.md``."""

from collections.abc import Iterator

from alerts.alarms import Kind, Phase, Suppression
from alerts.frequency import Frequencies
from alerts.states import (
    HORN,
    LATCHED_CLEAR,
    LATCHING,
    NEVER_SUPPRESSED,
    QUIET,
    SUPPRESSIONS,
    TABLE,
    UNACKNOWLEDGED,
    Trigger,
    suppress,
)
from sensors.stamps import SECOND

LETTERS = dict(zip((*Phase, *Suppression), "ABCDEFGHI", strict=True))
"""Letters of the standard's diagram."""

HEAD = """# Alarm states

Written by `python -m alerts.states_page` out of the one table in `alerts/states.py`; a test holds them
together. The states are those of ISA-18.2 with the latch that gas needs: a catalytic head flooded past its
range falls back to zero. Letters are those of the standard's diagram.

## Phases
"""

SUPPRESSED = """
## Suppression

What lies over an alarm while its phase goes on underneath. A stronger one takes the place of a weaker one for
good.
"""

RULES = """
Each has a person, a reason and an end. `expire` is its own end; `worsen` is gas at A1 or above, or a higher
level, on its detector outside a test window. What no longer holds when a suppression ends leaves nothing
behind.

## Chatter and flood
"""

AFTER = """
Gas is never held back: every raise and rise is told by itself and sounds. Recipients that do not hear SYSTEM
get every notice by itself; MQTT gets every event. After a restart counting begins anew.
"""


def page() -> str:
    """Return the whole page."""
    return "\n".join(
        [HEAD, *_diagram(), "", *_phases(), SUPPRESSED, *_overlay(), "", *_suppressions(), RULES, *_frequency(), AFTER]
    )


# --- phases ----------------------------------------------------------------------------------------


def _moves() -> Iterator[tuple[Phase, str, Phase]]:
    """Every move between phases with its label, in the table's order; what only latching alarms do says so."""
    gas = ", ".join(kind.value for kind in Kind if kind in LATCHING)
    for (before, trigger), after in TABLE.items():
        latched = trigger is Trigger.CLEAR and before in LATCHED_CLEAR
        yield before, f"{trigger.value} (others)" if latched else trigger.value, after
        if latched:
            yield before, f"{trigger.value} ({gas})", LATCHED_CLEAR[before]
    for before in Phase:
        if before is not Phase.NORMAL:
            yield before, f"{Trigger.END.value} (of a drill)", Phase.NORMAL


def _diagram() -> Iterator[str]:
    yield "```mermaid"
    yield "stateDiagram-v2"
    yield "    [*] --> A"
    for phase in Phase:
        yield f"    {LETTERS[phase]}: {LETTERS[phase]} {phase.value}"
    for before, label, after in _moves():
        if not label.startswith(Trigger.END.value):
            yield f"    {LETTERS[before]} --> {LETTERS[after]}: {label}"
    yield "```"


def _phases() -> Iterator[str]:
    triggers = [trigger for trigger in Trigger if any(trigger is known for _, known in TABLE)]
    heads = [trigger.value for trigger in triggers]
    heads[heads.index(Trigger.CLEAR.value)] = "clear (GAS / others)"
    yield f"| phase | to be taken | horn | {' | '.join(heads)} |"
    yield f"|---|---|---|{'---|' * len(heads)}"
    for phase in Phase:
        cells = [f"{LETTERS[phase]} `{phase.value}`", _yes(phase in UNACKNOWLEDGED), _yes(phase in HORN)]
        for trigger in triggers:
            there = [TABLE.get((phase, trigger))]
            if trigger is Trigger.CLEAR:
                there = [LATCHED_CLEAR.get(phase), *there]
            cells.append(" / ".join(_letter(one) for one in there) if any(there) else "")
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield "The horn is gas's alone. `end` brings any phase to A: the drill of a test window is over."


# --- suppression -------------------------------------------------------------------------------------


def _overlay() -> Iterator[str]:
    yield "```mermaid"
    yield "stateDiagram-v2"
    yield "    [*] --> none"
    yield "    none: none (told as ever)"
    for over in Suppression:
        yield f"    {LETTERS[over]}: {LETTERS[over]} {over.value}"
    joined: dict[tuple[str, str], list[str]] = {}
    for (before, trigger), after in SUPPRESSIONS.items():
        joined.setdefault((_over(before), _over(after)), []).append(trigger.value)
    for (before_name, after_name), labels in joined.items():
        yield f"    {before_name} --> {after_name}: {', '.join(labels)}"
    yield "```"


def _suppressions() -> Iterator[str]:
    yield "| from | trigger | to | phase then, while the condition holds |"
    yield "|---|---|---|---|"
    for (before, trigger), after in SUPPRESSIONS.items():
        moved = suppress(Kind.BLIND, Phase.UNACKNOWLEDGED, before, trigger, present=True)
        then = "stays" if after is not None or moved is None else _letter(moved[0])
        yield f"| {_over(before)} | {trigger.value} | {_over(after)} | {then} |"
    yield ""
    never = ", ".join(kind.value for kind in Kind if kind in NEVER_SUPPRESSED)
    quiet = ", ".join(f"{LETTERS[over]}" for over in Suppression if over in QUIET)
    yield f"Never over: {never}. Told to nobody meanwhile: {quiet}; I is told when it begins and when it ends."


def _frequency() -> Iterator[str]:
    usual, minute = Frequencies(), 60 * SECOND
    within = f"{usual.within // minute} minutes"
    yield "| | begins | ends | meanwhile |"
    yield "|---|---|---|---|"
    yield (
        f"| chatter | an alarm is raised {usual.chatter} times in {within} | {within} without a raise "
        "| SYSTEM `chatter:<subject>` stands; its raises and clears are recorded and not told one by one |"
    )
    yield (
        f"| flood | more than {usual.flood} alarms in {within} | fewer than {usual.over} in {within} "
        f"| SYSTEM `flood` stands; notices go out together, within {usual.gather // SECOND} s for a detector that "
        f"stopped watching, else within {usual.gather_rest // SECOND} s |"
    )


def _over(over: Suppression | None) -> str:
    return "none" if over is None else LETTERS[over]


def _letter(phase: Phase | None) -> str:
    return "–" if phase is None else LETTERS[phase]


def _yes(holds: bool) -> str:
    return "yes" if holds else ""


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201 - the page is what this prints
