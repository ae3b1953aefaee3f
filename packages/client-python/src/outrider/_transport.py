from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import httpx

from ._errors import ConnectionFailed, error_of, retry_after_of

_Primitive = str | int | float | bool | None
_ACCEPT = "application/json, application/problem+json, */*"


class Transport:
    """One call of the API: authorization, limits, errors."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        timeout_seconds: float = 60,
        max_wait_seconds: float = 120,
        sleep: Callable[[float], None] = time.sleep,
        http: httpx.Client | None = None,
    ) -> None:
        """
        :param base_url: origin of the service, such as ``https://fleet.example``
        :param api_key: a key of the API; without one, call ``sign_in``
        :param max_wait_seconds: over a limit, a call waits for at most this long in all before it raises
            ``TooManyRequests``
        :param sleep: waits for so many seconds
        :param http: connections; by default an own ``httpx.Client``
        """
        self.base_url = base_url.rstrip("/")
        self.api_key = api_key
        self._jwt: str | None = None
        self._refresh_token: str | None = None
        self._max_wait_seconds = max_wait_seconds
        self._sleep = sleep
        self._http = http or httpx.Client(timeout=timeout_seconds)

    def close(self) -> None:
        self._http.close()

    @property
    def token(self) -> str | None:
        """What authorizes calls: the API key, or the token of the login."""
        return self.api_key or self._jwt

    def _renew(self) -> bool:
        """Gets a new token for the one that has expired."""
        if self.api_key is not None or self._refresh_token is None:
            return False
        headers = {"Authorization-Refresh": f"JWT {self._refresh_token}"}
        response = self._sent("POST", "/auth/refresh", headers=headers, authorized=False)
        if response.status_code != 200:
            return False
        self._take_token(response.json())
        return True

    def _take_token(self, token: Mapping[str, Any]) -> None:
        self._jwt = token["jwt"]
        self._refresh_token = token.get("refresh", token["jwt"])

    def _call(
        self,
        method: str,
        path: str,
        *,
        path_values: dict[str, str] | None = None,
        query: dict[str, Any] | None = None,
        headers: dict[str, Any] | None = None,
        body: Any = None,
        content_type: str | None = None,
    ) -> Any:
        """
        Makes one call. Over a limit it waits as long as the API says; with an expired token it gets a new one first.

        :returns: what the JSON of the answer holds, the bytes of a file, or None where the answer has no body
        :raises ApiError: the API refused it
        :raises ConnectionFailed: the service was not reached
        """
        request: dict[str, Any] = {
            "url": path.format_map({name: quote(str(value), safe=":") for name, value in (path_values or {}).items()}),
            "query": _pairs(query or {}),
            "headers": {name: str(value) for name, value in (headers or {}).items() if value is not None},
            "content": body if isinstance(body, str | bytes) else None if body is None else json.dumps(body),
            "content_type": content_type,
        }
        waited = 0.0
        has_renewed = False
        while True:
            response = self._sent(method, **request)
            if response.is_success:
                return _result_of(response)
            seconds = retry_after_of(response)
            is_limited = response.status_code == 429 or (response.status_code == 503 and method == "GET")
            if response.status_code == 401 and not has_renewed and self._renew():
                has_renewed = True
            elif is_limited and seconds is not None and waited + seconds <= self._max_wait_seconds:
                self._sleep(seconds)
                waited += seconds
            else:
                raise error_of(response)

    def _items(self, method: str, path: str, *, query: dict[str, Any], **more: Any) -> Iterator[Any]:
        cursor = None
        while True:
            page = self._call(method, path, query={**query, "cursor": cursor}, **more)
            yield from page["items"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def _sent(
        self,
        method: str,
        url: str,
        *,
        query: list[tuple[str, _Primitive]] | None = None,
        headers: dict[str, str],
        content: str | bytes | None = None,
        content_type: str | None = None,
        authorized: bool = True,
    ) -> httpx.Response:
        sent = {"Accept": _ACCEPT, **self._authorization(authorized), **headers}
        if content is not None and content_type is not None:
            sent["Content-Type"] = content_type
        try:
            return self._http.request(method, f"{self.base_url}{url}", params=query, headers=sent, content=content)
        except httpx.TransportError as error:
            raise ConnectionFailed(f"the service was not reached: {error}") from error

    def _authorization(self, authorized: bool = True) -> dict[str, str]:
        if not authorized or self.token is None:
            return {}
        return {"Authorization": f"Bearer {self.api_key}" if self.api_key is not None else f"JWT {self._jwt}"}


def _pairs(query: dict[str, Any]) -> list[tuple[str, _Primitive]]:
    pairs: list[tuple[str, _Primitive]] = []
    for name, value in query.items():
        values = value if isinstance(value, list | tuple) else [value]
        pairs += [(name, str(one)) for one in values if one is not None]
    return pairs


def _result_of(response: httpx.Response) -> Any:
    if response.status_code == 204 or not response.content:
        return None
    media_type = response.headers.get("content-type", "").split(";")[0]
    return response.json() if media_type.endswith(("/json", "+json")) else response.content

