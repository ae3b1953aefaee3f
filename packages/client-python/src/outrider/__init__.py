"""Client of the Outrider fleet telematics API."""

from ._client import Client
from ._errors import (
    ApiError,
    Conflict,
    ConnectionFailed,
    Forbidden,
    InvalidRequest,
    NotFound,
    OutriderError,
    Stale,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from ._live import live
from . import _schema as types

__all__ = [
    "ApiError",
    "Client",
    "Conflict",
    "ConnectionFailed",
    "Forbidden",
    "InvalidRequest",
    "NotFound",
    "OutriderError",
    "Stale",
    "TooManyRequests",
    "Unauthorized",
    "Unavailable",
    "live",
    "types",
]
