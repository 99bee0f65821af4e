"""What a condition or term asks: only facts of the thing at hand, or more.

Statutes that were read together share what was found out, so that they can share what was judged.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum

from compliance.grammar import ClassAbove, ClassIn, Group, Holds, Limit, Lookup, Reference
from compliance.vocabulary import NamedCondition, Node, Statute


def node_of(node: object, law: Statute) -> Node:
    """Return what is known of a condition or term of a statute; those that mean the same share it."""
    found = law.nodes.known.get(id(node))
    return found[0] if found is not None else _learnt(node, law)


def _learnt(node: object, law: Statute) -> Node:
    asked = list(_asked(node, law.conditions))
    bound = any(what is _What.LAW for what, _ in asked)
    meaning = (law.id if bound else "", _meaning(node, law.conditions))
    found = law.nodes.equal.get(meaning)
    if found is None:
        names = {name for what, name in asked if what is _What.OWN}
        more = any(what is not _What.OWN for what, _ in asked)
        subject = any(what is _What.SUBJECT for what, _ in asked)
        found = law.nodes.equal[meaning] = Node(None if more else tuple(sorted(names)), subject, bound)
    law.nodes.known[id(node)] = (found, node)
    return found


def _meaning(node: object, conditions: Mapping[str, NamedCondition]) -> object:
    """The parts of a condition or term, with the condition itself in the place of its name."""
    if isinstance(node, Holds):
        return Holds, node.of, _meaning(conditions[node.name].that, conditions)
    if isinstance(node, tuple):
        return tuple(_meaning(each, conditions) for each in node)
    if is_dataclass(node):
        return type(node), *(_meaning(getattr(node, each.name), conditions) for each in fields(node))
    return node


class _What(Enum):
    """A fact of the thing at hand, the thing that the rule is judged on, another thing, the statute's classes."""

    OWN = 1
    SUBJECT = 2
    OTHER = 3
    LAW = 4


def _asked(node: object, conditions: Mapping[str, NamedCondition]) -> Iterator[tuple[_What, str]]:
    match node:
        case Reference(of="", name=name, derived=False):
            yield _What.OWN, name
        case Reference(of=of):
            yield _What.SUBJECT if of == "subject" else _What.OTHER, of
        case Holds(name=name, of=of):
            if of:
                yield _What.SUBJECT if of == "subject" else _What.OTHER, of
            yield from _asked(conditions[name].that, conditions)
        case Lookup() | Limit() | ClassIn() | ClassAbove():
            yield _What.LAW, ""
        case Group():
            yield _What.OTHER, node.kind
        case _:
            pass
    if isinstance(node, tuple):
        for each in node:
            yield from _asked(each, conditions)
    elif is_dataclass(node) and not isinstance(node, Reference | Holds):
        for each in fields(node):
            yield from _asked(getattr(node, each.name), conditions)
