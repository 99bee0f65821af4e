"""The promises of the registers and of the law's findings, held against the journal as it stands. Pure.

What a fresh judge finds in fresh books (the oracle) is given; this says where the office's own record differs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from compliance.vocabulary import Verdict
from dashboards.office import LineAsk, Reply
from gateway.office.findings import LIVE, is_bygone
from simulator.promises import NEVER

CALM_S: Final = 100.0
"""By then the office has judged what is new: it looks once a minute, and pauses between two judgements."""

Expect = Callable[[float, str, str, bool], None]
Key = tuple[str, str]
TOLD: Final = frozenset({"danger", "serious"})


class Papers:
    """What people were told of their entries, and what became of them.

    Attributes:
        entered: lines of which the office said that they are entered.
    """

    def __init__(self, expect: Expect) -> None:
        self.entered: list[LineAsk] = []
        self._expect = expect
        self._answers: dict[str, set[str]] = {}
        self._restless = NEVER
        self._well = True

    def asked(self, now: float, line: LineAsk) -> None:
        """A person asks for this."""
        self._answers.setdefault(line.id, set()).add("")
        self._restless = now

    def answered(self, now: float, line: LineAsk, reply: Reply) -> None:
        """The office has answered."""
        said = self._answers[line.id]
        said.add("ok" if reply.ok else reply.error)
        if reply.ok and all(line.id != other.id for other in self.entered):
            self.entered.append(line)
        self._restless = now

    def stirred(self, now: float) -> None:
        """The gateway began, follows new orders, or its clock was set."""
        self._restless = now

    def way(self, now: float, *, well: bool) -> None:
        """The disk falls ill or is well again."""
        self._well, self._restless = well, now

    def calm(self, now: float) -> bool:
        """Whether everything that was told has been judged."""
        return self._well and now - self._restless >= CALM_S

    # --- the journal against what was said ---------------------------------------------------------

    def look_at_entries(self, now: float, ids: Iterable[str]) -> None:
        """`ids`: of every line that the journal holds, as often as it holds it."""
        held = Counter(ids)
        for entry, said in self._answers.items():
            times = held[entry]
            self._expect(now, "entry-once", f"{entry} stands {times} times in the journal", times <= 1)
            if "ok" in said:
                self._expect(now, "entry-kept", f"{entry} was entered, and the journal does not hold it", times == 1)
            elif said == {"", "refused"}:
                self._expect(now, "entry-refused", f"{entry} was refused, and the journal holds it", times == 0)

    def look_at_changes(self, now: float, changes: Iterable[Mapping[str, Any]]) -> dict[Key, Mapping[str, Any]]:
        """Each change of a finding begins where the last one ended; return how each stands."""
        standing: dict[Key, Mapping[str, Any]] = {}
        for change in changes:
            if is_bygone(change):
                continue
            key = (change["rule"], change["subject"])
            was = standing[key]["verdict"] if key in standing else None
            ended = was == Verdict.NOT_APPLICABLE.value and change["was"] is None  # nobody asked of it meanwhile
            said = f"{key} was {change['was']} by its change, and {was} by the one before"
            self._expect(now, "findings-pair", said, change["was"] == was or ended)
            moved = tuple(change.get(name) for name in ("verdict", "soon", "effective"))
            stood = (
                tuple(standing[key].get(name) for name in ("verdict", "soon", "effective")) if key in standing else ()
            )
            self._expect(now, "findings-pair", f"{key} is told again as it was", moved != stood)
            standing[key] = change
        return standing

    def look_at_verdicts(
        self,
        now: float,
        standing: Mapping[Key, Mapping[str, Any]],
        fresh: Iterable[Mapping[str, Any]],
        conditions: Iterable[str],
    ) -> None:
        """Hold the standing findings against those of a fresh judge, and both against the alarms of the law."""
        alarms = set(conditions)
        for one in fresh:
            key = (one["rule"], one["subject"])
            stood = standing.get(key, {"verdict": Verdict.NOT_APPLICABLE.value, "soon": ""})
            said = f"{key} is {one['verdict']} {one['soon']}, and on record as {stood['verdict']} {stood['soon']}"
            self._expect(now, "verdict-fresh", said, (stood["verdict"], stood["soon"]) == (one["verdict"], one["soon"]))
            subject = "/".join(key)
            if one["verdict"] == Verdict.VIOLATED.value:
                if one["severity"] not in TOLD or _may_pass(one):
                    continue
                self._expect(now, "breach-told", f"{subject} is broken, and no alarm stands", subject in alarms)
            elif one["verdict"] != Verdict.COMPLIANT.value or not one["soon"]:
                said = f"{subject} is {one['verdict']}, and an alarm of it stands"
                self._expect(now, "no-false-breach", said, subject not in alarms)


def _may_pass(finding: Mapping[str, Any]) -> bool:
    """Tell whether it rests on a head or output that fails now: it is an alarm of the law only when that lasts."""
    return any(fact["name"] in LIVE and fact["value"] is False for fact in finding["evidence"])
