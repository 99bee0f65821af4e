"""What each siren and relay should be doing, and what it was last read to do."""

from collections.abc import Iterator
from dataclasses import dataclass

from gateway.events import OutputReported
from sensors.stamps import SECOND, Instant, Stamp

FRESH = 3 * SECOND
"""A read-back older than this (ns) proves nothing about now."""


@dataclass(slots=True)
class OutputState:
    """One output. `confirmed` is what was read back last; None when unknown."""

    kind: str
    wanted: bool | None = None
    confirmed: bool | None = None
    reason: str = ""
    at: Stamp | None = None


class Outputs:
    """All local outputs. A siren follows the horn, a relay the beacon."""

    def __init__(self, kinds: dict[str, str]) -> None:
        self._states = {output: OutputState(kind) for output, kind in kinds.items()}

    def __iter__(self) -> Iterator[tuple[str, OutputState]]:
        """Every output with its state."""
        return iter(self._states.items())

    def reorder(self, kinds: dict[str, str]) -> None:
        """Keep what is known of outputs that stay."""
        self._states = {output: self._states.get(output, OutputState(kind)) for output, kind in kinds.items()}

    def want(self, *, horn: bool, beacon: bool, force: bool = False) -> Iterator[tuple[str, bool]]:
        """Yield the outputs whose wanted state has changed (all of them with `force`), with the new state."""
        for output, state in self._states.items():
            wanted = horn if state.kind == "siren" else beacon
            if force or state.wanted is not wanted:
                state.wanted = wanted
                yield output, wanted

    def is_siren(self, output: str) -> bool:
        """Tell whether this output is one that people hear."""
        return output in self._states and self._states[output].kind == "siren"

    def wanted(self, output: str) -> bool:
        """Tell whether this output should be on."""
        state = self._states.get(output)
        return state is not None and bool(state.wanted)

    def sounding(self, now: Instant) -> bool:
        """Tell whether a siren that is wanted on was read to be on within the last `FRESH`."""
        return any(
            state.kind == "siren"
            and state.wanted
            and state.confirmed
            and state.at is not None
            and now - state.at.mono <= FRESH
            for state in self._states.values()
        )

    def report(self, report: OutputReported) -> bool:
        """Take a read-back. Return whether it says something new."""
        state = self._states.get(report.output)
        if state is None:
            return False
        changed = (state.confirmed, state.reason) != (report.on, report.reason)
        state.confirmed, state.reason, state.at = report.on, report.reason, report.at
        return changed

    def agrees(self, output: str) -> bool:
        """Tell whether the output was last read to do what is wanted of it."""
        state = self._states.get(output)
        return state is None or (state.confirmed is not None and state.confirmed == bool(state.wanted))

    def fault(self, output: str) -> tuple[str, str]:
        """Return the reason code and detail of an output that does not agree."""
        state = self._states[output]
        if state.confirmed is None:
            return "no-read-back", state.reason
        return "wrong-state", "on" if state.confirmed else "off"
