from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from ._client import reconnect_delay_seconds
from ._errors import Unauthorized

# The token or session has ended, or the account is blocked.
_FINAL_CODES = {4401, 4403}
_ANSWERS = {"snapshot", "resumed"}
# A connection is lost after two heartbeats that did not come, and this much more.
_HEARTBEAT_SLACK_SECONDS = 1
# A lost connection does not answer that it is closed.
_CLOSE_WITHIN_SECONDS = 1
_MAX_MESSAGE_BYTES = 64 * 1024 * 1024


async def live(
    base_url: str,
    *,
    token: str | Callable[[], str],
    since: str | None = None,
    vehicles: list[str] | None = None,
    groups: list[str] | None = None,
    **switches: bool,
) -> AsyncIterator[dict[str, Any]]:
    """
    Messages of the live API, for ever. It connects again where the connection breaks or stays silent. Events and notifications that
    came meanwhile follow, each once; what the service no longer has is a message `gap`.

    :param base_url: origin of the service, such as ``https://fleet.example``
    :param token: an API key, or a token of the login; a function is called for each connection
    :param since: `cursor` of the last message that was dealt with
    :param vehicles: ids; without them and without `groups`, all that the account may see
    :param switches: what is sent: ``positions``, ``events``, ``notifications``, ``states``, ``definitions`` and others;
        with ``corrections``, events that a recalculation changed come again, and those that never happened have the
        phase ``removed``
    :raises Unauthorized: the token was refused, or the session has ended
    """
    url = f"ws{base_url.rstrip('/').removeprefix('http')}/live"
    chosen = {"vehicles": vehicles, "groups": groups}
    subscription: dict[str, Any] = {name: ids for name, ids in chosen.items() if ids is not None} or {"all": True}
    cursor = since
    attempt = 0
    while True:
        try:
            async with connect(url, max_size=_MAX_MESSAGE_BYTES, close_timeout=_CLOSE_WITHIN_SECONDS) as socket:
                # None: not known yet, or an older service, which sends no heartbeats.
                silence_seconds: float | None = None
                jwt = token if isinstance(token, str) else token()
                await socket.send(json.dumps({"type": "authorize", "jwt": jwt}))
                resumed = {} if cursor is None else {"since": cursor}
                await socket.send(json.dumps({"type": "subscribe", **subscription, **switches, **resumed}))
                while True:
                    message = json.loads(await asyncio.wait_for(socket.recv(), silence_seconds))
                    if "heartbeatSeconds" in message:
                        silence_seconds = 2 * message["heartbeatSeconds"] + _HEARTBEAT_SLACK_SECONDS
                    if message["type"] == "heartbeat":
                        continue
                    if message["type"] in _ANSWERS:
                        attempt = 0
                    yield message
                    # Afterwards: a message that was not dealt with is sent again after the next connection.
                    cursor = message.get("cursor", cursor)
        except ConnectionClosed as closed:
            code = closed.rcvd.code if closed.rcvd is not None else None
        except (OSError, TimeoutError, InvalidHandshake, InvalidMessage):
            code = None
        if code in _FINAL_CODES:
            raise Unauthorized(401, {"title": "Not authorized", "detail": f"the live API closed with {code}"}, None)
        await asyncio.sleep(reconnect_delay_seconds(attempt))
        attempt += 1
