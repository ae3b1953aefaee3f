"""Tests against a running service: OUTRIDER_URL, an operator's OUTRIDER_LOGIN and OUTRIDER_PASSWORD."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import re
import typing
import unittest
from pathlib import Path

import httpx
from outrider import (
    ApiError,
    Client,
    ConnectionFailed,
    InvalidRequest,
    NotFound,
    Stale,
    TooManyRequests,
    Unauthorized,
    live,
    types,
)
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as serve_websockets

URL = os.environ["OUTRIDER_URL"]
LOGIN = os.environ["OUTRIDER_LOGIN"]
PASSWORD = os.environ["OUTRIDER_PASSWORD"]
README = Path(os.environ["OUTRIDER_README"])


def signed_in() -> Client:
    client = Client(URL)
    client.sign_in(LOGIN, PASSWORD)
    return client


class Calls(unittest.TestCase):
    def test_types_are_known_at_run_time(self) -> None:
        hints = typing.get_type_hints(types.Vehicle)
        self.assertEqual(hints["speedLimitKmh"], float | None)
        self.assertEqual(hints["name"], str)

    def test_a_vehicle_is_added_changed_and_deleted(self) -> None:
        client = signed_in()
        van = client.add_vehicle(body={"name": "Van", "externalId": "PY-1", "customAttributes": {"axles": 2}})
        self.assertEqual(client.get_vehicle(van["id"])["customAttributes"], {"axles": 2})
        changed = client.change_vehicle(van["id"], body={"customAttributes": {"axles": None, "leased": True}})
        self.assertEqual(changed["customAttributes"], {"leased": True})
        with self.assertRaises(Stale):
            client.change_vehicle(van["id"], body={"name": "Late"}, if_match='"1"')
        found = client.list_vehicles(external_id="PY-1", attribute=["leased:true"])
        self.assertEqual([each["id"] for each in found["items"]], [van["id"]])
        client.delete_vehicle(van["id"])
        with self.assertRaises(NotFound):
            client.get_vehicle(van["id"])

    def test_lists_are_read_page_after_page(self) -> None:
        client = signed_in()
        for nth in range(5):
            client.add_vehicle_group(body={"name": f"Python {nth}"})
        names = [group["name"] for group in client.all_vehicle_groups(q="python", limit=2, sort="name")]
        self.assertEqual(names, [f"Python {nth}" for nth in range(5)])

    def test_refusals_say_what_is_wrong_and_where(self) -> None:
        client = signed_in()
        with self.assertRaises(InvalidRequest) as refused:
            client.add_vehicle(body={"name": "", "speedLimitKmh": -1})  # type: ignore[typeddict-item]
        self.assertEqual({each["pointer"] for each in refused.exception.errors}, {"/name", "/speedLimitKmh"})
        self.assertIn("/speedLimitKmh", str(refused.exception))
        with self.assertRaises(Unauthorized):
            Client(URL).get_me()
        with self.assertRaises(Unauthorized):
            Client(URL).sign_in(LOGIN, "wrong")

    def test_files_are_bytes(self) -> None:
        client = signed_in()
        csv = client.export_vehicles()
        self.assertTrue(csv.startswith(b"id,name"))
        report = client.import_vehicles(body=csv, dry_run="true")
        self.assertEqual(report["created"], 0)

    def test_an_expired_token_is_renewed(self) -> None:
        client = signed_in()
        client._jwt = f"{client._jwt}x"
        self.assertEqual(client.get_me()["login"], LOGIN)

    def test_a_signed_out_session_is_over(self) -> None:
        client = signed_in()
        jwt, refresh = client._jwt, client._refresh_token
        client.sign_out()
        client._jwt, client._refresh_token = jwt, refresh
        with self.assertRaises(Unauthorized):
            client.get_me()

    def test_nobody_listens(self) -> None:
        with self.assertRaises(ConnectionFailed):
            Client("http://127.0.0.1:1").get_me()


class Limits(unittest.TestCase):
    def test_over_a_limit_it_waits_as_long_as_the_api_says_and_then_gives_up(self) -> None:
        refusals = [429, 429]

        def answer(request: httpx.Request) -> httpx.Response:
            if refusals:
                return httpx.Response(refusals.pop(), headers={"retry-after": "7"}, json={"detail": "Too many."})
            return httpx.Response(200, json={"login": request.headers["authorization"]})

        waits: list[float] = []
        http = httpx.Client(transport=httpx.MockTransport(answer))
        client = Client(URL, api_key="k", http=http, sleep=waits.append, max_wait_seconds=20)
        self.assertEqual(client.get_me()["login"], "Bearer k")
        self.assertEqual(waits, [7, 7])
        refusals[:] = [429] * 9
        with self.assertRaises(TooManyRequests) as refused:
            client.get_me()
        self.assertEqual(refused.exception.retry_after_seconds, 7)
        self.assertEqual(len(waits), 4)

    def test_a_page_of_a_proxy_is_an_error_too(self) -> None:
        transport = httpx.MockTransport(lambda _: httpx.Response(502, text="<html>"))
        with self.assertRaises(ApiError) as refused:
            Client(URL, http=httpx.Client(transport=transport)).get_me()
        self.assertEqual(refused.exception.status, 502)


class Streams(unittest.TestCase):
    def test_a_feed_goes_on_behind_its_cursor_when_the_connection_breaks(self) -> None:
        cursors: list[str | None] = []

        def answer(request: httpx.Request) -> httpx.Response:
            cursors.append(request.url.params.get("cursor"))
            nth = len(cursors)
            lines = f'{{"type":"event","cursor":"c{nth}"}}\n{{"type":"heartbeat","cursor":"h{nth}","lagSeconds":0}}\n'
            return httpx.Response(200, text=f'{lines}{{"type":"eve')

        beats: list[str] = []
        http = httpx.Client(transport=httpx.MockTransport(answer))
        client = Client(URL, api_key="k", http=http, sleep=lambda _: None)
        feed = client.feed("events", on_heartbeat=lambda cursor, _: beats.append(cursor))
        self.assertEqual([next(feed)["cursor"] for _ in range(3)], ["c1", "c2", "c3"])
        self.assertEqual((cursors, beats), ([None, "h1", "h2"], ["h1", "h2"]))

    def test_a_bad_cursor_is_refused(self) -> None:
        client = signed_in()
        with self.assertRaises(InvalidRequest):
            next(client.feed("events", cursor="nonsense"))

    def test_live_shows_a_change_and_refuses_a_bad_token(self) -> None:
        client = signed_in()

        async def changes() -> dict[str, typing.Any]:
            async for message in live(URL, token=lambda: client.token or "", definitions=True):
                if message["type"] == "resumed":
                    await asyncio.to_thread(client.add_vehicle_group, body={"name": "Seen live"})
                if message["type"] == "definition":
                    return message
            raise AssertionError

        message = asyncio.run(asyncio.wait_for(changes(), 60))
        self.assertEqual(message["changes"][0]["kind"], "group")

        async def refused() -> None:
            async for _ in live(URL, token="nonsense"):
                pass

        with self.assertRaises(Unauthorized):
            asyncio.run(asyncio.wait_for(refused(), 60))


    def test_live_connects_again_where_the_service_falls_silent(self) -> None:
        subscriptions: list[dict[str, typing.Any]] = []

        async def serve(socket: ServerConnection) -> None:
            await socket.recv()
            subscriptions.append(json.loads(await socket.recv()))
            cursor = f"0:{len(subscriptions)}"
            await socket.send(json.dumps({"type": "resumed", "cursor": cursor, "heartbeatSeconds": 0.1}))
            for _ in range(3):
                await socket.send(json.dumps({"type": "heartbeat"}))
            await socket.wait_closed()

        async def follow() -> list[str]:
            async with serve_websockets(serve, "127.0.0.1", 0) as server:
                port = server.sockets[0].getsockname()[1]
                types_seen: list[str] = []
                async for message in live(f"http://127.0.0.1:{port}", token="any"):
                    types_seen.append(message["type"])
                    if len(types_seen) == 2:
                        return types_seen
            raise AssertionError

        self.assertEqual(asyncio.run(asyncio.wait_for(follow(), 60)), ["resumed", "resumed"])
        self.assertEqual([each.get("since") for each in subscriptions], [None, "0:1"])


class Readme(unittest.TestCase):
    def test_each_example_runs(self) -> None:
        client = signed_in()
        key = client.add_api_key(body={"name": "Examples", "scopes": ["read", "write"]})["key"]
        examples = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)
        self.assertEqual(len(examples), 4)
        printed = []
        for example in examples:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                os.environ["OUTRIDER_KEY"] = key or ""
                exec(compile(example, "README.md", "exec"), {"__name__": "__main__"})
            printed.append(out.getvalue())
        self.assertEqual(printed[0], "Van 12 FLEET-12\n")
        self.assertIn("/name", printed[1])
        self.assertRegex(printed[2], "^alarm [0-9a-f-]{36} ")
        self.assertIn("resumed", printed[3])


if __name__ == "__main__":
    unittest.main()
