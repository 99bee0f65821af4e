"""A detail that whoever judged it has worded in several languages, and one of them out of it. Pure."""

import json
from collections.abc import Mapping


def worded(texts: Mapping[str, str]) -> str:
    """Return the texts by language as one detail; the first is the depot's own."""
    return json.dumps(dict(texts), ensure_ascii=False)


def told_in(detail: str, language: str = "") -> str:
    """Return a detail in a language, else in the depot's; one that is no `worded` text stays as it is."""
    if not detail.startswith("{"):
        return detail
    try:
        texts = json.loads(detail)
    except ValueError:
        return detail
    if not isinstance(texts, dict) or not texts:
        return detail
    return str(texts.get(language) or next(iter(texts.values())))
