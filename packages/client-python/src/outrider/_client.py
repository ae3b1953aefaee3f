from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any, Literal, Self

import httpx

from ._errors import ApiError, ConnectionFailed, error_of
from ._operations import Operations

_FIRST_DELAY_SECONDS = 0.5
_MAX_DELAY_SECONDS = 30.0
# A feed sends a heartbeat every 15 seconds.
_SILENCE_SECONDS = 45.0


def reconnect_delay_seconds(attempt: int) -> float:
    """Doubles up to half a minute, at random so that clients of a restarted service spread."""
    return (0.5 + random.random() / 2) * min(_MAX_DELAY_SECONDS, _FIRST_DELAY_SECONDS * 2**attempt)


class Client(Operations):
    """The API of one service, for one account. A thread uses one at a time."""

    def sign_in(self, login: str, password: str) -> None:
        """
        Logs in with the password of an account. Expired tokens are renewed until the session ends.

        :raises Unauthorized: login or password is wrong
        :raises Forbidden: the account has no right to use the API
        """
        self._jwt = self._refresh_token = None
        self._take_token(self.login(jwt="1", body={"login": login, "password": password}))

    def sign_out(self) -> None:
        """Ends the session of the login."""
        self.logout()
        self._jwt = self._refresh_token = None

    def feed(
        self,
        name: Literal["events", "positions"],
        *,
        cursor: str | None = None,
        from_: str | None = None,
        on_heartbeat: Callable[[str, float], None] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """
        All that follows a cursor of a feed, for ever: late data and recalculated events as well. It connects again
        where the connection breaks, and goes on behind the last message.

        :param cursor: `cursor` of the last message that was dealt with
        :param from_: where to begin without a cursor: `latest` (default), `earliest`, or a time (ISO 8601)
        :param on_heartbeat: called with the cursor and the lag in seconds, every 15 seconds
        :raises ApiError: what does not pass by itself, such as a cursor that has expired
        """
        attempt = 0
        while True:
            pause = reconnect_delay_seconds(attempt)
            attempt += 1
            try:
                for message in self._feed_once(name, cursor, from_):
                    attempt = 0
                    cursor = message["cursor"]
                    if message["type"] != "heartbeat":
                        yield message
                    elif on_heartbeat is not None:
                        on_heartbeat(cursor, message["lagSeconds"])
            except ApiError as error:
                is_passing = error.status == 429 or error.status >= 500
                if not is_passing and not (error.status == 401 and self._renew()):
                    raise
                pause = max(pause, error.retry_after_seconds or 0)
            except ConnectionFailed:
                pass
            self._sleep(pause)

    def _feed_once(self, name: str, cursor: str | None, from_: str | None) -> Iterator[dict[str, Any]]:
        query = {"cursor": cursor} if cursor is not None else {} if from_ is None else {"from": from_}
        headers = {**self._authorization(), "Accept": "application/x-ndjson"}
        timeout = httpx.Timeout(_SILENCE_SECONDS)
        url = f"{self.base_url}/api/v1/feed/{name}"
        try:
            with self._http.stream("GET", url, params=query, headers=headers, timeout=timeout) as response:
                if not response.is_success:
                    response.read()
                    raise error_of(response)
                for line in response.iter_lines():
                    message = json.loads(line) if line != "" else {"type": "end"}
                    if message["type"] == "end":
                        return
                    yield message
        except (httpx.TransportError, json.JSONDecodeError) as error:
            # A line that was cut off comes again.
            raise ConnectionFailed(f"the feed broke off: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
