"""What a condition or term asks, found out once for all statutes read together: only facts of the thing at hand, or more."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum

from compliance.grammar import ClassAbove, ClassIn, Group, Holds, Limit, Lookup, Reference
from compliance.vocabulary import NamedCondition, Node, Statute


def node_of(node: object, law: Statute) -> Node:
    """Return what is known of a condition or term of a statute; equal ones share it."""
    found = law.nodes.known.get(id(node))
    return found[0] if found is not None else _learnt(node, law)


def _learnt(node: object, law: Statute) -> Node:
    asked = list(_asked(node, law.conditions))
    bound = any(what is _What.LAW for what, _ in asked)
    owner = law.id if bound else ""
    equal = law.nodes.equal.get((owner, node))
    if equal is None:
        names = {name for what, name in asked if what is _What.OWN}
        more = any(what in (_What.SUBJECT, _What.OTHER) for what, _ in asked)
        subject = any(what is _What.SUBJECT for what, _ in asked)
        equal = law.nodes.equal[owner, node] = Node(None if more else tuple(sorted(names)), subject, bound)
    law.nodes.known[id(node)] = (equal, node)
    return equal


class _What(Enum):
    """A fact of the thing at hand, the thing that the rule is judged on, another thing, the statute itself."""

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
            yield _What.LAW, name
            if of:
                yield _What.SUBJECT if of == "subject" else _What.OTHER, of
            yield from _asked(conditions[name].that, conditions)
        case Lookup() | Limit() | ClassIn() | ClassAbove():
            yield _What.LAW, ""
            yield _What.OTHER, ""
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
