"""Waiting in a test for what happens outside it: until it holds, or until patience ends, with what did not come."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

WITHIN_S = 20.0
"""How long a wait may take on a busy machine: the end of patience. What is promised is measured and asserted."""


async def until(claim: Callable[[], Any], within_s: float = WITHIN_S, what: str = "") -> Any:
    """Wait until the claim holds, looking every 5 ms, and return what it gave; fail when it does not in time."""
    deadline = time.monotonic() + within_s
    while not (result := claim()):
        if time.monotonic() > deadline:
            pytest.fail(f"not within {within_s} s: {what or claim}")
        await asyncio.sleep(0.005)
    return result


def wait_until(claim: Callable[[], Any], within_s: float = WITHIN_S, what: str = "") -> None:
    """The same in a test without a loop."""
    deadline = time.monotonic() + within_s
    while not claim():
        if time.monotonic() > deadline:
            pytest.fail(f"not within {within_s} s: {what or claim}")
        time.sleep(0.02)
