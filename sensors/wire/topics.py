"""Topic templates: ``{device...}/sensor/gas`` <-> ``shellies/shellygas-7/sensor/gas``. Knows no broker.

In a template ``{name}`` stands for one level, or a part of one; ``{name...}`` for one or more levels; and ``[...]`` for
a piece that may be there or not.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from sensors.sentences import Sentence

CAPTURE: Final = re.compile(r"\{([a-z][a-z0-9_]*)(\.\.\.)?\}")
DEFAULT: Final = "{topic...}"
MAX_TEMPLATE: Final = 256


class TopicError(ValueError):
    """A template that is none, or a topic that does not fit it."""


class UnknownNameError(TopicError):
    """A template with a name that the head's own topic has not."""


@lru_cache(maxsize=512)  # the templates of the profiles in use
def _pattern(template: str) -> re.Pattern[str]:
    if len(template) > MAX_TEMPLATE:
        raise TopicError(Sentence("a template of more than {most} characters", most=MAX_TEMPLATE))
    found, at, optional = "", 0, 0
    seen: set[str] = set()
    while at < len(template):
        capture = CAPTURE.match(template, at)
        sign = template[at]
        if capture:
            name, levels = capture[1], capture[2]
            if name in seen:
                found += f"(?P={name})"
            else:
                found += f"(?P<{name}>[^+#\\0]+)" if levels else f"(?P<{name}>[^/+#\\0]+?)"
            seen.add(name)
            at = capture.end()
            continue
        if sign in "{}+#\0":
            what = Sentence(
                "{sign} in {topic}: a name goes in braces, and there are no wildcards", sign=sign, topic=template
            )
            raise TopicError(what)
        if sign in "[]":
            optional += 1 if sign == "[" else -1
            if not 0 <= optional <= 1:
                raise TopicError(Sentence("a bracket of {topic} stands alone", topic=template))
            found += "(?:" if sign == "[" else ")?"
        else:
            found += re.escape(sign)
        at += 1
    if optional:
        raise TopicError(Sentence("a bracket of {topic} stands alone", topic=template))
    return re.compile(found)


def captures(template: str, topic: str) -> dict[str, str]:
    """Return what the template's names stand for in this topic.

    Raises:
        TopicError: if the topic does not fit.
    """
    match = _pattern(template).fullmatch(topic)
    if match is None:
        raise TopicError(Sentence("{topic} does not fit {other}", topic=topic, other=template))
    return {name: found for name, found in match.groupdict().items() if found is not None}


def names(template: str) -> frozenset[str]:
    """Return the names it captures.

    Raises:
        TopicError: if it is no template.
    """
    return frozenset(_pattern(template).groupindex)


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return the topic with these values in it; an optional piece stands if all its names have one.

    Raises:
        TopicError: if a name outside optional pieces has no value.
    """
    _pattern(template)

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise TopicError(Sentence("{name} of {topic} has no value", name=match[1], topic=template))
        return values[match[1]]

    def piece(match: re.Match[str]) -> str:
        inner = match[1]
        return inner if all(capture[1] in values for capture in CAPTURE.finditer(inner)) else ""

    return CAPTURE.sub(value, re.sub(r"\[([^\]]*)\]", piece, template))
