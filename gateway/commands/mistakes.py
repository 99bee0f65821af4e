"""Puts into the person's words what was wrong with something typed: click says it in English only."""

import re
from typing import Any

import click

from gateway.commands.talk import Talk

SURPLUS = re.compile(r"Got unexpected extra arguments? \((?P<what>.*)\)", re.DOTALL)


def usage(talk: Talk, error: click.UsageError) -> str:
    """Return a usage error in words of ours where its kind is known."""
    match error:
        case click.BadParameter(param=click.Parameter() as param) if right := expected(talk, param.type):
            what = param.get_error_hint(error.ctx or click.Context(click.Command(None)))
            return talk.text("cli.bad_value", what=what, right=right)
        case click.BadOptionUsage(option_name=option) if "requires an argument" in error.message:
            return talk.text("cli.no_value", option=option)
        case _:
            surplus = SURPLUS.fullmatch(error.message)
            return talk.text("cli.surplus", what=surplus["what"]) if surplus else error.format_message()


def bounds(talk: Talk, noted: re.Match[str]) -> str:
    """What click notes as ``0<x<=30.0``, in words; empty where it notes no bound."""
    mark = talk.text("format.decimal")
    low, high = (
        f"{float(value):.12g}".replace(".", mark) if value not in (None, "None") else ""
        for value in (noted["low"] or noted["above"], noted["high"])
    )
    included = "=" in (noted["over"] or noted["least"] or "")
    if low and high and included:
        return talk.text("cli.span", low=low, high=high)
    told = [talk.text("cli.least" if included else "cli.above", value=low)] if low else []
    return ", ".join(told + ([talk.text("cli.most", value=high)] if high else []))


def expected(talk: Talk, kind: click.ParamType[Any]) -> str:
    """What a value of this kind would be; empty where its error says so itself."""
    match kind:
        case click.Choice():
            return ", ".join(str(choice) for choice in kind.choices)
        case click.IntRange() | click.FloatRange():
            number = "whole" if isinstance(kind, click.IntRange) else "number"
            least = "above" if kind.min_open else "least"
            bounds = ((least, kind.min), ("most", kind.max))
            said = (talk.text(f"cli.{key}", value=f"{value:.12g}") for key, value in bounds if value is not None)
            return ", ".join([talk.text(f"cli.{number}"), *said])
        case click.types.IntParamType():
            return talk.text("cli.whole")
        case click.Path(exists=True):
            return talk.text("cli.there")
        case _:
            return ""
