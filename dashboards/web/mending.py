"""What a page is about to mend: the entry and its register's fields, as the office has them now."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboards.conformity.mending import REMOVE, mendable
from dashboards.office import Look
from dashboards.web.papers import Papers


@dataclass(frozen=True, slots=True)
class Mended:
    """`entry` is None where a thing is removed."""

    entry: Mapping[str, Any] | None
    form: Mapping[str, Any]


async def mended(papers: Papers, way: str, register: str, subject: str, entry: str) -> Mended | None:
    """Return what is to be mended; None where there is no such thing, or it was mended already."""
    form = (await papers.forms()).get(register)
    if form is None:
        return None
    if way == REMOVE:
        return None if await papers.held(register, subject) is None else Mended(None, form)
    entries = await papers.look(Look(1, "history", name=register, subject=subject))
    found = next((one for one in entries if one["id"] == entry and mendable(one, entries)), None)
    return None if found is None else Mended(found, form)
