"""Debian's Chromium for tests of pages, quiet and without a network of its own."""

import contextlib
import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

QUIET = ("disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync")


def chromium() -> str:
    found = shutil.which("chromium")
    root = os.environ.get("VIGIA_DEBIAN_ROOT")
    if found is None and root:
        found = str(next(Path(root).glob("usr/bin/chromium")))
    assert found, "chromium is needed: apt-get install chromium"
    return found


@contextlib.asynccontextmanager
async def launched() -> AsyncIterator[Any]:
    from playwright.async_api import async_playwright

    async with async_playwright() as driver:
        opened = await driver.chromium.launch(
            executable_path=chromium(),
            args=["--headless", "--no-sandbox", "--disable-gpu", *(f"--{flag}" for flag in QUIET)],
        )
        yield opened
        with contextlib.suppress(Exception):
            await opened.close()
