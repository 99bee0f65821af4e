"""The child's copy of the depot: a snapshot, the changes since, and when each part was heard. Time is an argument."""

import msgspec

from dashboards.ports import AlarmView, Change, DetectorView, LinkView, OutputView, Snapshot


class Picture:
    """Snapshot plus changes. Times are seconds on the child's monotonic clock.

    `heard` is always the moment a message was *sent*, as far as it can be told: time in transit is part of every age.
    """

    def __init__(self, snapshot: Snapshot, heard: float) -> None:
        self._base = snapshot
        self._detectors = {view.id: (view, heard) for view in snapshot.detectors}
        self._outputs = (snapshot.outputs, heard)
        self._links = (snapshot.links, heard)

    @property
    def seq(self) -> int:
        """The last change folded in."""
        return self._base.seq

    @property
    def alive(self) -> bool:
        """Whether the gateway said, when last heard, that its alarm loop lives."""
        return self._base.alive

    @property
    def alarms(self) -> tuple[AlarmView, ...]:
        """The standing alarms, as last heard."""
        return self._base.alarms

    def fold(self, change: Change, heard: float) -> None:
        """Take one change in. The caller sees to it that none was missed."""
        for view in change.detectors:
            self._detectors[view.id] = (view, heard)
        if change.outputs is not None:
            self._outputs = (change.outputs, heard)
        if change.links is not None:
            self._links = (change.links, heard)
        self._base = msgspec.structs.replace(
            self._base,
            seq=change.seq,
            at=change.at,
            alarms=self._base.alarms if change.alarms is None else change.alarms,
            worst_ms=self._base.worst_ms if change.worst_ms is None else change.worst_ms,
            alive=change.alive,
        )

    def as_at(self, now: float) -> Snapshot:
        """Return the snapshot with every age brought up to `now`."""
        detectors = tuple(self._detectors.values())  # one step: the journal's worker thread asks for this too
        outputs, outputs_heard = self._outputs
        links, links_heard = self._links
        return msgspec.structs.replace(
            self._base,
            detectors=tuple(_aged_detector(view, now - heard) for view, heard in detectors),
            outputs=tuple(_aged_output(view, now - outputs_heard) for view in outputs),
            links=tuple(_aged_link(view, now - links_heard) for view in links),
        )


def _aged_detector(view: DetectorView, extra_s: float) -> DetectorView:
    if view.age_s is None:
        return view
    return msgspec.structs.replace(view, age_s=round(view.age_s + extra_s, 3))


def _aged_output(view: OutputView, extra_s: float) -> OutputView:
    if view.age_s is None:
        return view
    return msgspec.structs.replace(view, age_s=round(view.age_s + extra_s, 3))


def _aged_link(view: LinkView, extra_s: float) -> LinkView:
    return msgspec.structs.replace(view, age_s=round(view.age_s + extra_s, 3))
