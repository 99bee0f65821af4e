"""The live hub: each browser's own bounded queue, filled by the link, emptied by its stream. Nobody waits for one."""

import asyncio
from collections import deque
from collections.abc import Callable

import msgspec

from dashboards.ports import Change, Heartbeat, Lost, Snapshot, ToBrowser
from dashboards.web.link import SILENCE_S
from sensors.stamps import SECOND, UtcNanos, rfc3339

QUEUE_MESSAGES = 64
MAX_BROWSERS = 256
HEARTBEAT_S = 1.0


class HubFullError(RuntimeError):
    """As many browsers as the hub will serve are already here."""


class Browser:
    """One open stream: what waits for it. `dropped` once it fell behind; it must start again from a snapshot."""

    def __init__(self) -> None:
        self._queue: deque[str] = deque()
        self._wake: asyncio.Future[None] | None = None
        self._closed = False
        self.dropped = False

    def offer(self, text: str) -> bool:
        """Queue one message; False when the browser has fallen too far behind and is dropped."""
        if self._closed:
            return True
        if len(self._queue) >= QUEUE_MESSAGES:
            self.dropped = True
            self.close()
            return False
        self._queue.append(text)
        self._rouse()
        return True

    def close(self) -> None:
        """End the stream: what is still queued is not worth sending."""
        self._closed = True
        self._queue.clear()
        self._rouse()

    async def next(self) -> str | None:
        """Return the next message; None at the end of the stream."""
        while not self._queue:
            if self._closed:
                return None
            self._wake = asyncio.get_running_loop().create_future()
            try:
                await self._wake
            finally:
                self._wake = None
        return self._queue.popleft()

    def _rouse(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)


class Hub:
    """All open streams. It is the link's listener.

    Args:
        picture: the present snapshot, or None while the gateway is not heard.
        age: seconds since the gateway was last heard; None when it never was.
        civil: seconds since 1970, for the messages' `at`.
    """

    def __init__(
        self, *, picture: Callable[[], Snapshot | None], age: Callable[[], float | None], civil: Callable[[], float]
    ) -> None:
        self._picture = picture
        self._age = age
        self._civil = civil
        self._browsers: set[Browser] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._seq = 0
        self._present = False
        self._closed = False
        self.dropped = 0

    def start(self) -> None:
        """Begin the heartbeat."""
        self._timer = asyncio.get_running_loop().call_later(HEARTBEAT_S, self._beat)

    def close(self) -> None:
        """End every stream and take no new one; the server can then stop at once."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for browser in tuple(self._browsers):
            browser.close()

    def __len__(self) -> int:
        """Count the open streams."""
        return len(self._browsers)

    def join(self) -> Browser:
        """Open a stream; its first message is the whole picture, or that there is none.

        Raises:
            HubFullError: too many are open, or the hub is closed.
        """
        if self._closed or len(self._browsers) >= MAX_BROWSERS:
            raise HubFullError
        browser = Browser()
        self._browsers.add(browser)
        snapshot = self._picture()
        browser.offer(self._text(self._lost() if snapshot is None else snapshot))
        return browser

    def leave(self, browser: Browser) -> None:
        """Forget a stream that ended."""
        self._browsers.discard(browser)

    # --- what the link says ---------------------------------------------------------------------

    def renewed(self, snapshot: Snapshot) -> None:
        """Give everybody the whole new picture."""
        self._present = True
        self._seq = snapshot.seq
        self._publish(snapshot)

    def changed(self, change: Change) -> None:
        """Pass one change on."""
        self._seq = change.seq
        self._publish(change)

    def lost(self, age_s: float | None) -> None:  # noqa: ARG002 - the age is asked anew for each message
        """Tell everybody that the gateway is not heard."""
        self._present = False
        self._publish(self._lost())

    # --- details --------------------------------------------------------------------------------

    def _beat(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(HEARTBEAT_S, self._beat)
        age = self._age()
        if self._present and age is not None and age <= SILENCE_S:
            self._publish(Heartbeat(self._seq, self._now(), round(age, 3)))
        else:
            self._publish(self._lost())

    def _publish(self, message: ToBrowser) -> None:
        if not self._browsers:
            return
        text = self._text(message)
        for browser in tuple(self._browsers):
            if not browser.offer(text):
                self.dropped += 1
                self._browsers.discard(browser)

    def _lost(self) -> Lost:
        age = self._age()
        return Lost(self._now(), None if age is None else round(age, 3))

    def _text(self, message: ToBrowser) -> str:
        return msgspec.json.encode(message).decode()

    def _now(self) -> str:
        return rfc3339(UtcNanos(int(self._civil() * SECOND)))
