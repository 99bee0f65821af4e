"""What a screen says about one standing alarm: where, how much now, since when, what to do, who may do what. Pure."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from dashboards.detector_cards import Badge, Tone, area_of, called, detector_tone, gas_of, value_text
from dashboards.ports import AlarmView, DetectorView, GuidanceView
from dashboards.wording import Locale, milliseconds_between

UNACKNOWLEDGED = frozenset({"unacknowledged", "returned-unacknowledged", "latched-unacknowledged"})
_KINDS = ("GAS", "BLIND", "SYSTEM", "COMPLIANCE")


@dataclass(frozen=True, slots=True)
class AlarmRow:
    """One standing alarm, ready to be drawn."""

    id: str
    badge: Badge
    where: str
    now: str
    since: str
    times: str
    state: str
    advice: str
    guide: str
    flashing: bool
    can_acknowledge: bool
    can_silence: bool
    can_reset: bool
    can_shelve: bool
    can_unshelve: bool
    seq: int


def spoken_for(alarm: AlarmView, detector: DetectorView | None, cut: AbstractSet[str]) -> bool:
    """Tell whether a head's row may stay away because the row of its cut cable speaks for it."""
    return alarm.kind == "BLIND" and alarm.reason == "link" and detector is not None and detector.source in cut


def is_held(alarm: AlarmView) -> bool:
    """Tell whether a gas alarm only waits for its reset: its gas is gone, and a person has taken it."""
    return alarm.kind == "GAS" and alarm.state == "latched-acknowledged"


def alarm_row(alarm: AlarmView, detector: DetectorView | None, now: str, locale: Locale, *, current: bool) -> AlarmRow:
    """Say everything about one alarm. `detector` is the head it is about, if it is about one."""
    tone: Tone = {"GAS": "alarm", "COMPLIANCE": "attention"}.get(alarm.kind, "fault")  # type: ignore[assignment]
    if is_held(alarm):
        tone = "attention"
    over = alarm.suppression
    if over is not None:
        tone = "aside"
    open_ = alarm.state in UNACKNOWLEDGED and (over is None or over.kind == "out-of-service")
    state = locale.text(f"alarm.{alarm.state}", by=alarm.acknowledged_by or "?")
    if alarm.muted:
        state += f" · {locale.text('alarm.muted')}"
    if over is not None:
        said = locale.text(f"alarm.{over.kind}", by=over.by or "?", until=locale.day(over.until), why=over.why)
        state = said if alarm.present else f"{said} · {locale.text('alarm.gone')}"
    return AlarmRow(
        id=alarm.id,
        badge=Badge(
            tone,
            locale.text(f"shape.{tone}"),
            locale.text(f"alarm.{alarm.kind.lower()}", level=alarm.level or "").strip(),
        ),
        where=_alarm_where(alarm, detector, locale),
        now=_alarm_now(alarm, detector, locale, current=current),
        since=locale.text(
            "alarm.since",
            time=locale.clock(alarm.since, now=now),
            age=locale.ago(milliseconds_between(alarm.since, now) / 1000),
        ),
        times=_alarm_times(alarm, now, locale),
        state=state,
        advice=alarm.texts.get(locale.language, alarm.text),
        guide=guide_of(alarm, locale),
        flashing=open_ and over is None and current,
        can_acknowledge=open_ and current,
        can_silence=alarm.kind == "GAS" and open_ and not alarm.muted and current,
        can_reset=alarm.state == "latched-acknowledged" and current,
        can_shelve=alarm.can_shelve and current,
        can_unshelve=over is not None and over.kind == "shelved" and current,
        seq=alarm.seq,
    )


def _alarm_where(alarm: AlarmView, detector: DetectorView | None, locale: Locale) -> str:
    name = "" if detector is None else called(detector)
    if alarm.kind == "COMPLIANCE" and alarm.detail:
        return ""  # its sentence says where; the subject is a code
    if alarm.subject.startswith("area:"):
        return locale.text("page.area", area=alarm.area or alarm.subject.removeprefix("area:"))
    subject = alarm.subject
    if alarm.kind == "SYSTEM":  # ``output:sirene``: the sentence says that it is an output
        subject = subject.partition(":")[2] or subject
    who = locale.text("format.named", id=subject, name=name) if name else subject
    area = area_of(detector, alarm.area)
    return f"{who} · {locale.text('page.area', area=area)}" if area else who


def _alarm_now(alarm: AlarmView, detector: DetectorView | None, locale: Locale, *, current: bool) -> str:
    """Say how much gas there is now. What else can be wrong has no present value: the alarm's sentence says it all."""
    if alarm.kind != "GAS":
        return ""
    peak = (
        ""
        if alarm.peak is None
        else locale.text("alarm.peak", value=locale.text("format.lel", value=locale.number(alarm.peak)))
    )
    if not current or detector is None or detector_tone(detector, current=True) == "fault" or gas_of(detector) is None:
        now = locale.text("alarm.no_value")
    else:
        now = locale.text("alarm.now", value=value_text(detector, locale), age=locale.ago(detector.age_s))
    return " · ".join(filter(None, (now, peak)))


def guide_of(alarm: AlarmView, locale: Locale) -> str:
    """Say the likely cause, and what to do where the alarm's sentence has not said it yet."""
    own = GuidanceView(alarm.likely_cause, alarm.next_action)
    guide = alarm.guidance.get(locale.language, own)
    if not guide.likely_cause:
        return ""
    if alarm.kind in {"GAS", "COMPLIANCE"}:  # what to do stands in the sentence above: words read in danger are short
        return locale.text("alarm.cause", cause=guide.likely_cause)
    return locale.text("alarm.guide", cause=guide.likely_cause, action=guide.next_action)


def _alarm_times(alarm: AlarmView, now: str, locale: Locale) -> str:
    if alarm.kind == "COMPLIANCE":
        return ""

    def after(moment: str) -> str:
        return locale.text("alarm.plus", ms=locale.number(milliseconds_between(alarm.sampled, moment), 0))

    return locale.text(
        "alarm.times",
        sampled=locale.clock(alarm.sampled, now=now, thousandths=True),
        decided=after(alarm.decided),
        output=locale.text("alarm.waiting") if alarm.first_output is None else after(alarm.first_output),
    )


def urgency(alarm: AlarmView) -> tuple[bool, int, bool, str, str]:
    """Return the sort key: what is set aside last, gas first, what nobody has taken before the rest."""
    level = {"A3": "0", "A2": "1", "A1": "2"}.get(alarm.level or "", "3")
    return (
        alarm.suppression is not None,
        _KINDS.index(alarm.kind),
        alarm.state not in UNACKNOWLEDGED,
        level,
        alarm.since,
    )
