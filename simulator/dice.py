"""Chance from a seed: the same sequence on every machine and every Python."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Chance from a seed, by nothing but `random()`, whose sequence every Python keeps."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def roll(self) -> float:
        """From 0 to 1."""
        return self._chance.random()

    def between(self, low: float, high: float) -> float:
        """A number between two, in thousandths."""
        return round(low + (high - low) * self.roll(), 3)

    def one_of(self, things: Sequence[T]) -> T:
        """One of them."""
        return things[int(self.roll() * len(things))]

    def whether(self, share: float) -> bool:
        """Yes, in so many of all cases."""
        return self.roll() < share
