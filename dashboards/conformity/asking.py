"""The guided survey: one screen of questions at a time, in the office's order, and what the answers ask of it. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dashboards.conformity.entering import FieldView, field_of
from dashboards.conformity.phrases import Phrases
from dashboards.office import LineAsk, Value

ON_ONE_SCREEN = 8
MARK = "|"
"""Between register, subject and field in an input's name; none of them has it but a pair of areas, in the middle."""

RECORDS = ("extinguisher", "document", "opening", "sign", "lot", "leak", "notice", "vehicle", "weighing")


@dataclass(frozen=True, slots=True)
class AskedView:
    """One question: its input, the thing it is about, why it is asked (again), and where to record what it counts."""

    field: FieldView
    about: str
    why: str
    record: str
    grave: bool


@dataclass(frozen=True, slots=True)
class GroupView:
    """One theme of one area. `count` questions are open."""

    id: str
    title: str
    count: str


@dataclass(frozen=True, slots=True)
class SurveyView:
    """One screen. `now` is None when all is told. `expects`: what each thing's record was when it was read."""

    progress: str
    part: int
    now: GroupView | None
    after: str
    questions: tuple[AskedView, ...]
    expects: tuple[tuple[str, str], ...]
    groups: tuple[GroupView, ...]
    due: tuple[AskedView, ...]

    def filled(self, given: Mapping[str, str], errors: Mapping[str, str]) -> "SurveyView":
        """Return the screen with what was typed, and what is wrong with it beside it."""

        def with_typed(one: AskedView) -> AskedView:
            typed = given.get(one.field.name, one.field.value)
            return replace(one, field=replace(one.field, value=typed, error=errors.get(one.field.name, "")))

        return replace(self, questions=tuple(map(with_typed, self.questions)))


def survey_view(data: Mapping[str, Any], wanted: str, areas: Sequence[str], phrases: Phrases) -> SurveyView:
    """Say one screen of the survey; `wanted` is the group to show, else the first."""
    told, total = data["told"], data["total"]
    groups = list(_screens(data["groups"]))
    place = next((place for place, group in enumerate(groups) if group["id"] == wanted), 0)
    group = groups[place] if groups else None
    shown = group["questions"] if group else ()
    after = groups[(place + 1) % len(groups)]["id"] if groups else ""
    expects = {f"{one['register']}{MARK}{one['subject']}": one["expect"] for one in shown}
    return SurveyView(
        progress=phrases.locale.text("survey.progress", told=told, total=total),
        part=100 * told // total if total else 100,
        now=None if group is None else _group(group, phrases),
        after=after,
        questions=tuple(_asked(one, areas, phrases) for one in shown),
        expects=tuple(expects.items()),
        groups=tuple(_group(each, phrases) for each in groups),
        due=tuple(_asked(one, areas, phrases) for one in data["due"]),
    )


def answers(given: Mapping[str, str], request: str) -> tuple[LineAsk, ...]:
    """Return what the answers of a screen ask to be entered: a line for each thing; what is not known is left out."""
    lines: dict[tuple[str, str], dict[str, Value]] = {}
    for key, text in given.items():
        register, _, rest = key.partition(MARK)
        subject, _, field = rest.rpartition(MARK)
        if register and subject and field and field != "expect" and text.strip():
            lines.setdefault((register, subject), {})[field] = text.strip()
    for (register, subject), values in lines.items():
        if register == "between":
            one, _, other = subject.partition(MARK)
            values |= {"one": one, "other": other}
    return tuple(
        LineAsk(
            register,
            subject,
            "record",
            values,
            id=f"{request}-{number}",
            expect=given.get(f"{register}{MARK}{subject}{MARK}expect", ""),
        )
        for number, ((register, subject), values) in enumerate(lines.items())
    )


def _screens(groups: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Cut groups that are too long for one screen; the first part keeps the group's id."""
    for group in groups:
        parts = -(-len(group["questions"]) // ON_ONE_SCREEN)
        for start in range(0, len(group["questions"]), ON_ONE_SCREEN):
            part = group["id"] if not start else f"{group['id']}~{start // ON_ONE_SCREEN + 1}"
            yield {
                **group,
                "id": part,
                "part": start // ON_ONE_SCREEN + 1,
                "parts": parts,
                "questions": group["questions"][start : start + ON_ONE_SCREEN],
            }


def _group(group: Mapping[str, Any], phrases: Phrases) -> GroupView:
    theme = phrases.locale.text(f"theme.{group['theme']}")
    title = f"{phrases.area(group['area'])}: {theme}"
    if group["parts"] > 1:
        title = phrases.locale.text("survey.part", title=title, part=group["part"], parts=group["parts"])
    return GroupView(group["id"], title, phrases.locale.count("survey.open", len(group["questions"])))


def _asked(one: Mapping[str, Any], areas: Sequence[str], phrases: Phrases) -> AskedView:
    language = phrases.locale.language
    name = MARK.join((one["register"], one["subject"], one["field"]))
    ask = one["ask"].get(language) or one["label"].get(language) or one["field"]
    value = None if one["state"] == "open" else one["value"]
    field = field_of({**one, "name": name}, ask, value, areas, phrases)
    listed = one["field"].removesuffix("s_listed").replace("_", "-") if one["field"].endswith("_listed") else ""
    return AskedView(
        field=field,
        about=phrases.subject(f"{one['register']}:{one['subject']}"),
        why=_why(one, phrases),
        record=listed if listed in RECORDS else "",
        grave=one["severity"] == "danger",
    )


def _why(one: Mapping[str, Any], phrases: Phrases) -> str:
    text, because = phrases.locale.text, one["because"]
    if one["state"] == "again" and because is not None:
        what = phrases.subject(f"{because['register']}:{because['subject']}")
        return text("survey.again", what=what, by=because["by"], day=phrases.locale.day(because["effective"]))
    if one["state"] == "expired" and not one["due"]:
        return text("survey.newer")
    if one["state"] == "expired":
        return text("survey.expired", day=phrases.day(one["due"]))
    if one["state"] == "told" and one["due"]:
        return text("survey.due_till", day=phrases.day(one["due"]))
    return ""
