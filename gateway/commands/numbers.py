"""A number on the command line. ``nan`` lies within no bounds, though no comparison says so, and ``inf`` is none."""

import re
from math import isfinite
from typing import Any

import click

COMMA = re.compile(r"[+-]?\d+,\d+")


class Number(click.FloatRange):
    """As click's, for numbers only, with a decimal comma or point."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - click's
        """Return the number, or fail."""
        if isinstance(value, str) and COMMA.fullmatch(value.strip()):
            value = value.replace(",", ".")
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value!r} is no number", param, ctx)
        return number
