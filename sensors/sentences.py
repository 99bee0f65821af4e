"""A sentence for a person that remembers its template and values, so that it can be said in another language."""

from typing import Self


class Sentence(str):
    """English text that was filled in from `template`; gateway/words has the same template in each language."""

    __slots__ = ("template", "values")

    template: str
    values: dict[str, object]

    def __new__(cls, template: str, **values: object) -> Self:
        """Fill in the template; without values it is the text as it stands."""
        made = super().__new__(cls, template.format_map(values) if values else template)
        made.template = template
        made.values = values
        return made
