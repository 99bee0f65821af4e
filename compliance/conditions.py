"""Judges conditions in three values: a condition on what nobody told is neither true nor false."""

from collections.abc import Callable, Mapping
from functools import partial
from math import floor, isinf
from typing import Any as Whatever

from compliance.grammar import (
    All,
    Any,
    ClassAbove,
    ClassIn,
    Compare,
    Condition,
    Due,
    Every,
    Exists,
    Flag,
    Group,
    Holds,
    Known,
    Not,
    OneOf,
    Valid,
    Younger,
)
from compliance.hearing import Frame, complete, members
from compliance.kleene import Truth, both, compare, either, exactly, opposite, throughout
from compliance.terms import classes, measure


def holds(condition: Condition, frame: Frame) -> Truth:
    """Judge a condition; what runs over members is judged once."""
    return _CONDITIONS[type(condition)](condition, frame)


def _all(condition: All, frame: Frame) -> Truth:
    found: Truth = True
    for each in condition.conditions:
        truth = holds(each, frame)
        if truth is False:
            return False
        if truth is None:
            found = None
    return found


def _any(condition: Any, frame: Frame) -> Truth:
    found: Truth = False
    for each in condition.conditions:
        truth = holds(each, frame)
        if truth is True:
            return True
        if truth is None:
            found = None
    return found


def _not(condition: Not, frame: Frame) -> Truth:
    return opposite(holds(condition.condition, frame))


def _flag(condition: Flag, frame: Frame) -> Truth:
    known = frame.known(condition.fact)
    return None if known is None else known.value is True


def _one_of(condition: OneOf, frame: Frame) -> Truth:
    known = frame.known(condition.fact)
    return None if known is None else known.value in condition.choices


def _known(condition: Known, frame: Frame) -> Truth:
    return frame.known(condition.fact) is not None


def _compare(condition: Compare, frame: Frame) -> Truth:
    left, right = measure(condition.left, frame), measure(condition.right, frame)
    if condition.dated:
        for one in left:
            for other in right:
                if not isinf(one) and not isinf(other):
                    gap = abs(other - one)
                    frame.note_change(frame.day + floor(gap))
                    frame.note_change(frame.day + floor(gap) + 1)
    return compare(left, condition.order, right)


def _valid(condition: Valid, frame: Frame) -> Truth:
    until = measure(condition.until, frame)
    frame.note_change(until.low + 1)
    frame.note_change(until.high + 1)
    if frame.day <= until.low:
        return True
    return False if frame.day > until.high else None


def _younger(condition: Younger, frame: Frame) -> Truth:
    known = frame.known(condition.fact)
    if known is None:
        return None
    if known.span.low > frame.day:
        frame.note_change(known.span.low)
        return None
    frame.note_change(known.span.low + floor(condition.days.value) + 1)
    return frame.day - known.span.low <= condition.days.value


def _due(condition: Due, frame: Frame) -> Truth:
    by = measure(condition.by, frame)
    done = frame.known(condition.done)
    if by.exact:
        frame.trace.owe(by.low)
    frame.note_change(by.low + 1)
    frame.note_change(by.high + 1)
    in_time = compare(exactly(frame.day), "<=", by)
    if done is not None and condition.is_date and done.span.low > frame.day:
        frame.note_change(done.span.low)
        done = None  # announced, not done
    if done is None:
        return True if in_time is True else None
    if condition.is_date:
        return compare(done.span, "<=", by)
    return True if done.value is True else in_time


def _exists(condition: Exists, frame: Frame) -> Truth:
    return frame.remembered(condition, frame.own, partial(_any_there, condition.group))


def _any_there(group: Group, frame: Frame) -> Truth:
    found: Truth = False
    for batch in members(group, frame).batches:
        if batch.there is True:
            return True
        found = None
    return either(found, None if complete(group, frame) is None else False)


def _every(condition: Every, frame: Frame) -> Truth:
    return frame.remembered(condition, frame.own, partial(_each_meets, condition))


def _each_meets(condition: Every, frame: Frame) -> Truth:
    found: Truth = True
    listed = members(condition.group, frame)
    there = [batch for batch in listed.batches if batch.there is True]
    sure = () if listed.sure else {own for batch in there for things in batch.things for own in things.all}
    for several, truth in frame.judged(condition.that, listed.things):
        if truth is False and (listed.sure or any(own in sure for things in several for own in things.all)):
            return False
        if truth is not True:
            found = None
    return both(found, complete(condition.group, frame))


def _class_in(condition: ClassIn, frame: Frame) -> Truth:
    return throughout([name in condition.names for name in classes(condition.class_of, frame)])


def _class_above(condition: ClassAbove, frame: Frame) -> Truth:
    scheme = frame.hearing.scheme(frame.day)
    order = [each.name for each in scheme.classes] if scheme else []
    if condition.name not in order:
        return None
    least = order.index(condition.name)
    return throughout([order.index(name) > least for name in classes(condition.class_of, frame)])


def _named(condition: Holds, frame: Frame) -> Truth:
    holder, that = frame.parent(condition.of), frame.hearing.statute.conditions[condition.name].that
    return None if holder is None else frame.remembered(that, holder, partial(holds, that))


_CONDITIONS: Mapping[type, Callable[[Whatever, Frame], Truth]] = {
    All: _all,
    Any: _any,
    Not: _not,
    Flag: _flag,
    OneOf: _one_of,
    Known: _known,
    Compare: _compare,
    Valid: _valid,
    Younger: _younger,
    Due: _due,
    Exists: _exists,
    Every: _every,
    ClassIn: _class_in,
    ClassAbove: _class_above,
    Holds: _named,
}
