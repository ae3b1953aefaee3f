from __future__ import annotations

from typing import Any

import httpx


class OutriderError(Exception):
    """Base of all errors of this package."""


class ConnectionFailed(OutriderError):
    """The service was not reached, or the connection broke."""


class ApiError(OutriderError):
    """A call that the API refused (RFC 9457)."""

    def __init__(self, status: int, problem: dict[str, Any], retry_after_seconds: float | None) -> None:
        super().__init__(_text_of(status, problem))
        self.status = status
        self.problem = problem
        self.type: str = problem.get("type", "about:blank")
        self.title: str = problem.get("title", "")
        self.detail: str = problem.get("detail", "")
        #: Each thing that is wrong with the request, with its JSON pointer, parameter, or row and column.
        self.errors: list[dict[str, Any]] = problem.get("errors", [])
        #: Seconds after which the call may be repeated; None where the answer does not say.
        self.retry_after_seconds = retry_after_seconds


class InvalidRequest(ApiError):
    """400: `errors` names each field or parameter that is wrong."""


class Unauthorized(ApiError):
    """401: no token, or one that has expired or was revoked."""


class Forbidden(ApiError):
    """403: the account may not do it."""


class NotFound(ApiError):
    """404: it does not exist, or the account may not see it."""


class Conflict(ApiError):
    """409: another thing has a value that must be unique."""


class Stale(ApiError):
    """412: it was changed since the version that `if_match` names."""


class TooManyRequests(ApiError):
    """429: over a limit, for longer than the client waits."""


class Unavailable(ApiError):
    """503: the service cannot answer now."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: Stale,
    429: TooManyRequests,
    503: Unavailable,
}


def retry_after_of(response: httpx.Response) -> float | None:
    """Seconds of the header `Retry-After`."""
    try:
        return float(response.headers["retry-after"])
    except (KeyError, ValueError):
        return None


def error_of(response: httpx.Response) -> ApiError:
    """The refusal of an answer whose body was read."""
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        # A proxy in front of the service answers with pages of its own.
        problem = {"title": response.reason_phrase, "detail": f"the answer was {response.status_code}"}
    kind = _BY_STATUS.get(response.status_code, ApiError)
    return kind(response.status_code, problem, retry_after_of(response))


def _text_of(status: int, problem: dict[str, Any]) -> str:
    places = []
    for error in problem.get("errors", [])[:5]:
        place = error.get("pointer") or error.get("parameter") or ""
        if "row" in error:
            place = " ".join(filter(None, [f"row {error['row']}", error.get("column")]))
        places.append(f"{place}: {error.get('detail', '')}")
    return "; ".join([f"{status} {problem.get('detail') or problem.get('title', '')}", *places])
