"""A depot that was read and may run. Knows no file and no schema, so that who is handed one need not load them."""

from dataclasses import dataclass

from gateway.configuration.problems import Problem
from gateway.depot import Depot


@dataclass(frozen=True, slots=True)
class Loaded:
    """A depot that may run, and what its installer should know all the same."""

    depot: Depot
    warnings: tuple[Problem, ...]
