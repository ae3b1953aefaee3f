# Generated from schemas/openapi.json by `npm run openapi`. Do not edit.
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from ._schema import *
from ._transport import Transport


class Operations(Transport):
    """Every operation of the API, as a method named after its operationId."""

    def login(self, *, body: Credentials, jwt: Literal["1"] | None = None) -> Token:
        """Log in and obtain a JWT, or begin a session of the console."""
        return self._call("POST", "/auth/login", query={"jwt": jwt}, body=body, content_type="application/json")

    def refresh(self, *, jwt: Literal["1"] | None = None, authorization_refresh: str | None = None) -> Token:
        """Obtain a new JWT for one that has expired."""
        return self._call("POST", "/auth/refresh", query={"jwt": jwt}, headers={"Authorization-Refresh": authorization_refresh})

    def logout(self) -> None:
        """End the session: its tokens work no more, not even for a refresh."""
        self._call("POST", "/auth/logout")

    def get_login_options(self) -> LoginOptions:
        """Ways to log in besides login and password."""
        return self._call("GET", "/auth/options")

    def jwks(self) -> KeySet:
        """Public keys that tokens can be verified with (RFC 7517)."""
        return self._call("GET", "/.well-known/jwks.json")

    def get_my_second_factor(self) -> SecondFactor:
        """Whether the own account has a second factor."""
        return self._call("GET", "/api/v1/me/second-factor")

    def begin_second_factor(self, *, body: CurrentPassword) -> SecondFactorSecret:
        """Obtain a secret for an app that makes codes (TOTP, RFC 6238)."""
        return self._call("POST", "/api/v1/me/second-factor", body=body, content_type="application/json")

    def confirm_second_factor(self, *, body: SecondFactorConfirmation) -> RecoveryCodes:
        """Put the secret in force, with a code that the app made of it."""
        return self._call("POST", "/api/v1/me/second-factor/confirm", body=body, content_type="application/json")

    def renew_recovery_codes(self, *, body: CurrentPassword) -> RecoveryCodes:
        """Obtain other recovery codes; those from before work no more."""
        return self._call("POST", "/api/v1/me/second-factor/recovery-codes", body=body, content_type="application/json")

    def disable_second_factor(self, *, body: CurrentPassword) -> None:
        """Remove the app: without passkeys, a login needs the password alone."""
        self._call("POST", "/api/v1/me/second-factor/disable", body=body, content_type="application/json")

    def get_second_factor(self, id: str) -> SecondFactor:
        """Whether an account has a second factor."""
        return self._call("GET", "/api/v1/users/{id}/second-factor", path_values={"id": id})

    def remove_second_factor(self, id: str) -> None:
        """Remove the second factor of an account whose user has lost it: app, passkeys, recovery codes."""
        self._call("DELETE", "/api/v1/users/{id}/second-factor", path_values={"id": id})

    def begin_passkey_sign_in(self) -> PasskeyRequest:
        """Obtain a challenge that a passkey signs."""
        return self._call("POST", "/auth/passkey/options")

    def sign_in_by_passkey(self, *, body: SignedPasskey) -> None:
        """Begin a session of the console with a passkey alone."""
        self._call("POST", "/auth/passkey", body=body, content_type="application/json")

    def list_my_passkeys(self) -> Passkeys:
        """Passkeys of the own account, in the order of their creation."""
        return self._call("GET", "/api/v1/me/passkeys")

    def add_passkey(self, *, body: NewPasskey) -> AddedPasskey:
        """Add the passkey that a browser made."""
        return self._call("POST", "/api/v1/me/passkeys", body=body, content_type="application/json")

    def begin_passkey(self, *, body: CurrentPassword) -> PasskeyOptions:
        """Obtain what a browser makes a passkey by."""
        return self._call("POST", "/api/v1/me/passkeys/options", body=body, content_type="application/json")

    def rename_passkey(self, id: str, *, body: PasskeyPatch) -> Passkey:
        """Give a passkey another name."""
        return self._call("PATCH", "/api/v1/me/passkeys/{id}", path_values={"id": id}, body=body, content_type="application/merge-patch+json")

    def remove_passkey(self, id: str, *, body: CurrentPassword) -> None:
        """Remove a passkey, and end all other sessions of the account."""
        self._call("POST", "/api/v1/me/passkeys/{id}/remove", path_values={"id": id}, body=body, content_type="application/json")

    def get_my_open_id(self) -> OpenIdLink:
        """Whether one can sign in to the own account by OpenID Connect."""
        return self._call("GET", "/api/v1/me/openid")

    def link_my_open_id(self, *, body: CurrentPassword) -> OpenIdStart:
        """Begin to link the own account to who signs in at the provider."""
        return self._call("POST", "/api/v1/me/openid/link", body=body, content_type="application/json")

    def unlink_my_open_id(self, *, body: CurrentPassword) -> None:
        """Have nobody sign in to the own account by OpenID Connect."""
        self._call("POST", "/api/v1/me/openid/unlink", body=body, content_type="application/json")

    def request_password_reset(self, *, body: PasswordResetRequest) -> None:
        """Have a link sent by which a forgotten password is replaced."""
        self._call("POST", "/auth/password-reset", body=body, content_type="application/json")

    def complete_password_reset(self, *, body: PasswordResetCompletion) -> None:
        """Set the password of an account by the link of an e-mail."""
        self._call("POST", "/auth/password-reset/complete", body=body, content_type="application/json")

    def get_email(self, id: str) -> AccountEmail:
        """Where e-mails about the account go, such as those that replace a forgotten password."""
        return self._call("GET", "/api/v1/users/{id}/email", path_values={"id": id})

    def set_email(self, id: str, *, body: NewAccountEmail) -> None:
        """Say where e-mails about the account go."""
        self._call("PUT", "/api/v1/users/{id}/email", path_values={"id": id}, body=body, content_type="application/json")

    def invite_user(self, id: str) -> None:
        """Send an account a link by which its user chooses a password."""
        self._call("POST", "/api/v1/users/{id}/invitation", path_values={"id": id})

    def get_me(self) -> User:
        """The account that calls."""
        return self._call("GET", "/api/v1/me")

    def change_me(self, *, body: MePatch) -> User:
        """Change what everyone may change of their own account."""
        return self._call("PATCH", "/api/v1/me", body=body, content_type="application/merge-patch+json")

    def change_my_password(self, *, body: PasswordChange) -> None:
        """Change the own password; every other session of the account ends."""
        self._call("PUT", "/api/v1/me/password", body=body, content_type="application/json")

    def list_users(self, *, limit: int | None = None, cursor: str | None = None, q: str | None = None, sort: Literal["login", "name", "externalId", "-login", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None, role: Literal["operator", "dealer", "user"] | None = None, blocked: Literal["true", "false"] | None = None) -> ListUsersResult:
        """Accounts that the caller may see."""
        return self._call("GET", "/api/v1/users", query={"limit": limit, "cursor": cursor, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute, "role": role, "blocked": blocked})

    def all_users(self, *, limit: int | None = None, q: str | None = None, sort: Literal["login", "name", "externalId", "-login", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None, role: Literal["operator", "dealer", "user"] | None = None, blocked: Literal["true", "false"] | None = None) -> Iterator[User]:
        """Every item of `list_users`, page after page."""
        return self._items("GET", "/api/v1/users", query={"limit": limit, "cursor": None, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute, "role": role, "blocked": blocked})

    def add_user(self, *, body: NewUser, idempotency_key: str | None = None) -> User:
        """Add an account."""
        return self._call("POST", "/api/v1/users", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_user(self, id: str) -> User:
        """One account."""
        return self._call("GET", "/api/v1/users/{id}", path_values={"id": id})

    def change_user(self, id: str, *, body: UserPatch, if_match: str | None = None) -> User:
        """Change an account (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/users/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_user(self, id: str, *, if_match: str | None = None) -> None:
        """Delete an account with its sessions and geofences; vehicles stay."""
        self._call("DELETE", "/api/v1/users/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def block_user(self, id: str) -> User:
        """Block an account, and a dealer’s users with it: tokens, sockets and sessions end at once."""
        return self._call("POST", "/api/v1/users/{id}/block", path_values={"id": id})

    def unblock_user(self, id: str) -> User:
        """Let a blocked account in again, and a dealer’s users with it; a user stays blocked while the dealer is."""
        return self._call("POST", "/api/v1/users/{id}/unblock", path_values={"id": id})

    def get_expiry(self, id: str) -> Expiry:
        """When the time of an account is over."""
        return self._call("GET", "/api/v1/users/{id}/expiry", path_values={"id": id})

    def set_expiry(self, id: str, *, body: NewExpiry) -> None:
        """Say when the time of an account is over."""
        self._call("PUT", "/api/v1/users/{id}/expiry", path_values={"id": id}, body=body, content_type="application/json")

    def get_fleet_retention(self, id: str) -> FleetRetention:
        """For how long the fleet of an account keeps histories."""
        return self._call("GET", "/api/v1/users/{id}/retention", path_values={"id": id})

    def set_fleet_retention(self, id: str, *, body: FleetRetention) -> None:
        """Say for how long the fleet of a dealer or of the operator keeps histories."""
        self._call("PUT", "/api/v1/users/{id}/retention", path_values={"id": id}, body=body, content_type="application/json")

    def grant_api_access(self, id: str) -> User:
        """Grant the right to use the API."""
        return self._call("PUT", "/api/v1/users/{id}/api-access", path_values={"id": id})

    def withdraw_api_access(self, id: str) -> User:
        """Withdraw the right to use the API."""
        return self._call("DELETE", "/api/v1/users/{id}/api-access", path_values={"id": id})

    def set_password(self, id: str, *, body: NewPassword) -> None:
        """Give an account another password; all its sessions end."""
        self._call("PUT", "/api/v1/users/{id}/password", path_values={"id": id}, body=body, content_type="application/json")

    def list_sessions(self, id: str) -> ListSessionsResult:
        """Where the account is logged in, the last used first."""
        return self._call("GET", "/api/v1/users/{id}/sessions", path_values={"id": id})

    def end_sessions(self, id: str) -> None:
        """End all sessions of an account but the one of the call."""
        self._call("DELETE", "/api/v1/users/{id}/sessions", path_values={"id": id})

    def end_session(self, id: str, session_id: str) -> None:
        """End a session."""
        self._call("DELETE", "/api/v1/users/{id}/sessions/{sessionId}", path_values={"id": id, "sessionId": session_id})

    def list_api_keys(self, *, limit: int | None = None, cursor: str | None = None, user_id: str | None = None) -> ListApiKeysResult:
        """API keys of the own account, in the order of their creation."""
        return self._call("GET", "/api/v1/api-keys", query={"limit": limit, "cursor": cursor, "userId": user_id})

    def all_api_keys(self, *, limit: int | None = None, user_id: str | None = None) -> Iterator[ApiKey]:
        """Every item of `list_api_keys`, page after page."""
        return self._items("GET", "/api/v1/api-keys", query={"limit": limit, "cursor": None, "userId": user_id})

    def add_api_key(self, *, body: NewApiKey, idempotency_key: str | None = None) -> CreatedApiKey:
        """Make an API key, which stands for the account in programs."""
        return self._call("POST", "/api/v1/api-keys", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_api_key(self, id: str) -> ApiKey:
        """One API key, without its secret."""
        return self._call("GET", "/api/v1/api-keys/{id}", path_values={"id": id})

    def change_api_key(self, id: str, *, body: ApiKeyPatch, if_match: str | None = None) -> ApiKey:
        """Change what an API key is called and allows; its secret stays."""
        return self._call("PATCH", "/api/v1/api-keys/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_api_key(self, id: str, *, if_match: str | None = None) -> None:
        """Revoke an API key: from then on it opens nothing."""
        self._call("DELETE", "/api/v1/api-keys/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def list_message_channels(self) -> ListMessageChannelsResult:
        """What the caller set up to have messages sent by, besides e-mails and webhooks."""
        return self._call("GET", "/api/v1/me/message-channels")

    def add_message_channel(self, *, body: NewMessageChannel, idempotency_key: str | None = None) -> MessageChannel:
        """Add a chat of Telegram, a call of any HTTP API such as that of an SMS gateway, or a browser."""
        return self._call("POST", "/api/v1/me/message-channels", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_push_key(self) -> PushKey:
        """What a browser subscribes to push messages with."""
        return self._call("GET", "/api/v1/me/push-key")

    def get_message_channel(self, id: str) -> MessageChannel:
        """One channel."""
        return self._call("GET", "/api/v1/me/message-channels/{id}", path_values={"id": id})

    def change_message_channel(self, id: str, *, body: MessageChannelPatch) -> MessageChannel:
        """Change a channel."""
        return self._call("PATCH", "/api/v1/me/message-channels/{id}", path_values={"id": id}, body=body, content_type="application/merge-patch+json")

    def delete_message_channel(self, id: str) -> None:
        """Delete a channel; rules do not name it any more."""
        self._call("DELETE", "/api/v1/me/message-channels/{id}", path_values={"id": id})

    def confirm_message_channel(self, id: str, *, body: MessageChannelCode) -> MessageChannel:
        """Hand back the code that was sent to a chat."""
        return self._call("POST", "/api/v1/me/message-channels/{id}/confirm", path_values={"id": id}, body=body, content_type="application/json")

    def list_message_channel_tests(self, id: str) -> ListMessageChannelTestsResult:
        """What became of the test messages of the last hour, the newest first; 100 at most."""
        return self._call("GET", "/api/v1/me/message-channels/{id}/tests", path_values={"id": id})

    def add_message_channel_test(self, id: str) -> MessageChannelTest:
        """Send a message over a channel, to see whether it arrives; to one that is not confirmed, its code."""
        return self._call("POST", "/api/v1/me/message-channels/{id}/tests", path_values={"id": id})

    def get_my_preferences(self) -> Preferences:
        """How the caller wants the console: language, time zone, units, theme and map."""
        return self._call("GET", "/api/v1/me/preferences")

    def change_my_preferences(self, *, body: PreferencesPatch) -> Preferences:
        """Change how the caller wants the console (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/me/preferences", body=body, content_type="application/merge-patch+json")

    def get_my_quotas(self) -> Quotas:
        """What the account may use, and what it uses."""
        return self._call("GET", "/api/v1/me/quotas")

    def get_quotas(self, id: str) -> Quotas:
        """What an account may use, and what it uses."""
        return self._call("GET", "/api/v1/users/{id}/quotas", path_values={"id": id})

    def set_quotas(self, id: str, *, body: QuotasPatch) -> Quotas:
        """Set limits of an account (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/users/{id}/quotas", path_values={"id": id}, body=body, content_type="application/merge-patch+json")

    def list_audit(self, *, limit: int | None = None, cursor: str | None = None, from_: str | None = None, to: str | None = None, user_id: str | None = None, subject: str | None = None, action: Literal["created", "changed", "deleted", "blocked", "unblocked", "moved", "suspended", "resumed", "api-access-granted", "api-access-withdrawn", "password-changed", "password-reset", "email-changed", "invited", "second-factor-enabled", "second-factor-removed", "passkey-added", "passkey-removed", "sign-in-linked", "sign-in-unlinked", "recovery-codes-renewed", "recovery-code-used", "quotas-changed", "login", "login-failed", "logout", "session-ended", "token-reused", "recalculated", "history-imported", "history-erased", "person-exported", "report-requested", "erasure-cancelled", "erased", "tested", "replayed"] | None = None, kind: Literal["user", "vehicle", "group", "geofence", "notification-rule", "video-profile", "driver", "driver-assignment", "message-channel", "forwarding-destination", "report-schedule", "share-link", "api-key", "counter-correction", "custom-counter", "maintenance-plan", "service-record", "video-task", "command"] | None = None) -> ListAuditResult:
        """Who changed what, when, and from where: the newest first."""
        return self._call("GET", "/api/v1/audit", query={"limit": limit, "cursor": cursor, "from": from_, "to": to, "userId": user_id, "subject": subject, "action": action, "kind": kind})

    def all_audit(self, *, limit: int | None = None, from_: str | None = None, to: str | None = None, user_id: str | None = None, subject: str | None = None, action: Literal["created", "changed", "deleted", "blocked", "unblocked", "moved", "suspended", "resumed", "api-access-granted", "api-access-withdrawn", "password-changed", "password-reset", "email-changed", "invited", "second-factor-enabled", "second-factor-removed", "passkey-added", "passkey-removed", "sign-in-linked", "sign-in-unlinked", "recovery-codes-renewed", "recovery-code-used", "quotas-changed", "login", "login-failed", "logout", "session-ended", "token-reused", "recalculated", "history-imported", "history-erased", "person-exported", "report-requested", "erasure-cancelled", "erased", "tested", "replayed"] | None = None, kind: Literal["user", "vehicle", "group", "geofence", "notification-rule", "video-profile", "driver", "driver-assignment", "message-channel", "forwarding-destination", "report-schedule", "share-link", "api-key", "counter-correction", "custom-counter", "maintenance-plan", "service-record", "video-task", "command"] | None = None) -> Iterator[AuditEntry]:
        """Every item of `list_audit`, page after page."""
        return self._items("GET", "/api/v1/audit", query={"limit": limit, "cursor": None, "from": from_, "to": to, "userId": user_id, "subject": subject, "action": action, "kind": kind})

    def list_vehicles(self, *, limit: int | None = None, cursor: str | None = None, q: str | None = None, sort: Literal["name", "plate", "terminalId", "externalId", "-name", "-plate", "-terminalId", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None, terminal_id: str | None = None, group_id: str | None = None, suspended: Literal["true", "false"] | None = None, state: Literal["moving", "parking", "idling", "offline", "unknown"] | None = None, protocol: Literal["learn", "any", "omnicomm", "teltonika", "wialon-ips", "osmand", "jt808", "gt06", "ruptela", "galileosky", "egts", "h02", "gps103", "meitrack", "queclink", "tk103", "suntech", "wialon-retranslator", "navtelecom", "owntracks", "flespi", "mqtt-json"] | None = None, dealer_id: str | None = None) -> ListVehiclesResult:
        """Vehicles that the caller may see."""
        return self._call("GET", "/api/v1/vehicles", query={"limit": limit, "cursor": cursor, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute, "terminalId": terminal_id, "groupId": group_id, "suspended": suspended, "state": state, "protocol": protocol, "dealerId": dealer_id})

    def all_vehicles(self, *, limit: int | None = None, q: str | None = None, sort: Literal["name", "plate", "terminalId", "externalId", "-name", "-plate", "-terminalId", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None, terminal_id: str | None = None, group_id: str | None = None, suspended: Literal["true", "false"] | None = None, state: Literal["moving", "parking", "idling", "offline", "unknown"] | None = None, protocol: Literal["learn", "any", "omnicomm", "teltonika", "wialon-ips", "osmand", "jt808", "gt06", "ruptela", "galileosky", "egts", "h02", "gps103", "meitrack", "queclink", "tk103", "suntech", "wialon-retranslator", "navtelecom", "owntracks", "flespi", "mqtt-json"] | None = None, dealer_id: str | None = None) -> Iterator[Vehicle]:
        """Every item of `list_vehicles`, page after page."""
        return self._items("GET", "/api/v1/vehicles", query={"limit": limit, "cursor": None, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute, "terminalId": terminal_id, "groupId": group_id, "suspended": suspended, "state": state, "protocol": protocol, "dealerId": dealer_id})

    def add_vehicle(self, *, body: NewVehicle, idempotency_key: str | None = None) -> Vehicle:
        """Add a vehicle profile: from then on its terminal’s data is taken."""
        return self._call("POST", "/api/v1/vehicles", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def change_vehicles(self, *, body: VehiclesPatch, dry_run: Literal["true", "false"] | None = None) -> VehiclesChanged:
        """Make the same change to many vehicles (JSON merge patch): to all of them, or to none."""
        return self._call("PATCH", "/api/v1/vehicles", query={"dryRun": dry_run}, body=body, content_type="application/merge-patch+json")

    def get_vehicle(self, id: str) -> Vehicle:
        """One vehicle."""
        return self._call("GET", "/api/v1/vehicles/{id}", path_values={"id": id})

    def change_vehicle(self, id: str, *, body: VehiclePatch, if_match: str | None = None) -> Vehicle:
        """Change a vehicle (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/vehicles/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_vehicle(self, id: str, *, if_match: str | None = None) -> None:
        """Delete a vehicle profile: from then on its terminal’s data is refused."""
        self._call("DELETE", "/api/v1/vehicles/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def suspend_vehicle(self, id: str, *, body: NewSuspension) -> Vehicle:
        """Suspend a vehicle: its data is hidden from all but operators."""
        return self._call("POST", "/api/v1/vehicles/{id}/suspend", path_values={"id": id}, body=body, content_type="application/json")

    def resume_vehicle(self, id: str) -> Vehicle:
        """Show the data of a suspended vehicle again, with all that came meanwhile."""
        return self._call("POST", "/api/v1/vehicles/{id}/resume", path_values={"id": id})

    def get_vehicle_state(self, id: str) -> VehicleState:
        """What the vehicle does now, its last record and its last position."""
        return self._call("GET", "/api/v1/vehicles/{id}/state", path_values={"id": id})

    def get_rejected_positions(self, id: str) -> RejectedPositions:
        """Why the vehicle does not move: positions of the last 24 hours that were rejected, by reason."""
        return self._call("GET", "/api/v1/vehicles/{id}/rejected-positions", path_values={"id": id})

    def import_history(self, id: str, *, body: str | bytes) -> TakenHistory:
        """Add positions to the past of a vehicle."""
        return self._call("POST", "/api/v1/vehicles/{id}/history", path_values={"id": id}, body=body, content_type="text/csv")

    def erase_history(self, id: str, *, body: HistoryErasure, dry_run: Literal["true", "false"] | None = None, idempotency_key: str | None = None) -> ErasableHistory:
        """Erase what a vehicle did before a time, for good."""
        return self._call("POST", "/api/v1/vehicles/{id}/history/erase", path_values={"id": id}, query={"dryRun": dry_run}, headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def export_user(self, id: str, *, idempotency_key: str | None = None) -> PersonExportJob:
        """Have all that is held about an account made as a file."""
        return self._call("POST", "/api/v1/users/{id}/export", path_values={"id": id}, headers={"Idempotency-Key": idempotency_key})

    def export_driver(self, id: str, *, idempotency_key: str | None = None) -> PersonExportJob:
        """Have all that is held about a driver made as a file."""
        return self._call("POST", "/api/v1/drivers/{id}/export", path_values={"id": id}, headers={"Idempotency-Key": idempotency_key})

    def get_person_export(self, id: str, *, range: str | None = None, if_none_match: str | None = None, if_range: str | None = None) -> GetPersonExportResult:
        """The file of an export that is done, for who asked for it."""
        return self._call("GET", "/api/v1/person-exports/{id}/file", path_values={"id": id}, headers={"Range": range, "If-None-Match": if_none_match, "If-Range": if_range})

    def export_sensors(self, *, group_id: str | None = None, excel: Literal["true", "false"] | None = None) -> bytes:
        """The sensors of all vehicles that the caller may see, as CSV (RFC 4180)."""
        return self._call("GET", "/api/v1/vehicles/sensors/export", query={"groupId": group_id, "excel": excel})

    def import_sensors(self, *, body: str | bytes, dry_run: Literal["true", "false"] | None = None) -> SensorImport:
        """Add and change sensors of many vehicles by a CSV: all of them, or none."""
        return self._call("POST", "/api/v1/vehicles/sensors/import", query={"dryRun": dry_run}, body=body, content_type="text/csv")

    def list_sensor_presets(self) -> SensorPresets:
        """Sensors that terminals usually have, by their families."""
        return self._call("GET", "/api/v1/sensor-presets")

    def list_sensors(self) -> SensorList:
        """Names of the sensors of the caller’s vehicles."""
        return self._call("GET", "/api/v1/sensors")

    def try_sensor(self, id: str, *, body: SensorTrialTerms) -> SensorTrial:
        """What a sensor would have shown for the last records of the vehicle."""
        return self._call("POST", "/api/v1/vehicles/{id}/sensor-trial", path_values={"id": id}, body=body, content_type="application/json")

    def list_command_types(self, id: str) -> CommandTypes:
        """What the vehicle’s terminal can be asked to do, and the caller may ask."""
        return self._call("GET", "/api/v1/vehicles/{id}/command-types", path_values={"id": id})

    def list_commands(self, id: str, *, limit: int | None = None, cursor: str | None = None, state: Literal["queued", "sent", "acknowledged", "refused", "expired", "unanswered", "cancelled"] | None = None) -> ListCommandsResult:
        """Commands to the vehicle’s terminal, the newest first."""
        return self._call("GET", "/api/v1/vehicles/{id}/commands", path_values={"id": id}, query={"limit": limit, "cursor": cursor, "state": state})

    def all_commands(self, id: str, *, limit: int | None = None, state: Literal["queued", "sent", "acknowledged", "refused", "expired", "unanswered", "cancelled"] | None = None) -> Iterator[Command]:
        """Every item of `list_commands`, page after page."""
        return self._items("GET", "/api/v1/vehicles/{id}/commands", path_values={"id": id}, query={"limit": limit, "cursor": None, "state": state})

    def add_command(self, id: str, *, body: NewCommand, idempotency_key: str | None = None) -> Command:
        """Ask the vehicle’s terminal to do something."""
        return self._call("POST", "/api/v1/vehicles/{id}/commands", path_values={"id": id}, headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_command(self, id: str, command_id: str) -> Command:
        """One command, and what became of it."""
        return self._call("GET", "/api/v1/vehicles/{id}/commands/{command_id}", path_values={"id": id, "command_id": command_id})

    def cancel_command(self, id: str, command_id: str) -> None:
        """Cancel a command that was not sent."""
        self._call("DELETE", "/api/v1/vehicles/{id}/commands/{command_id}", path_values={"id": id, "command_id": command_id})

    def list_terminal_protocols(self) -> TerminalProtocols:
        """Protocols that terminals can speak: where to point them, and how."""
        return self._call("GET", "/api/v1/terminal-protocols")

    def list_unknown_terminals(self, *, limit: int | None = None, cursor: str | None = None) -> ListUnknownTerminalsResult:
        """Terminals and devices that were refused, the last heard first."""
        return self._call("GET", "/api/v1/unknown-terminals", query={"limit": limit, "cursor": cursor})

    def all_unknown_terminals(self, *, limit: int | None = None) -> Iterator[UnknownTerminal]:
        """Every item of `list_unknown_terminals`, page after page."""
        return self._items("GET", "/api/v1/unknown-terminals", query={"limit": limit, "cursor": None})

    def export_vehicles(self, *, group_id: str | None = None, excel: Literal["true", "false"] | None = None) -> bytes:
        """All vehicles that the caller may see, as CSV (RFC 4180)."""
        return self._call("GET", "/api/v1/vehicles/export", query={"groupId": group_id, "excel": excel})

    def import_vehicles(self, *, body: str | bytes, dry_run: Literal["true", "false"] | None = None) -> VehicleImport:
        """Add and change many vehicles by a CSV: all of them, or none."""
        return self._call("POST", "/api/v1/vehicles/import", query={"dryRun": dry_run}, body=body, content_type="text/csv")

    def list_vehicle_groups(self, *, limit: int | None = None, cursor: str | None = None, q: str | None = None, sort: Literal["name", "externalId", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None) -> ListVehicleGroupsResult:
        """Groups that the caller may see."""
        return self._call("GET", "/api/v1/vehicle-groups", query={"limit": limit, "cursor": cursor, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute})

    def all_vehicle_groups(self, *, limit: int | None = None, q: str | None = None, sort: Literal["name", "externalId", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None) -> Iterator[VehicleGroup]:
        """Every item of `list_vehicle_groups`, page after page."""
        return self._items("GET", "/api/v1/vehicle-groups", query={"limit": limit, "cursor": None, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute})

    def add_vehicle_group(self, *, body: NewVehicleGroup, idempotency_key: str | None = None) -> VehicleGroup:
        """Add a group."""
        return self._call("POST", "/api/v1/vehicle-groups", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_vehicle_group(self, id: str) -> VehicleGroup:
        """One group."""
        return self._call("GET", "/api/v1/vehicle-groups/{id}", path_values={"id": id})

    def change_vehicle_group(self, id: str, *, body: VehicleGroupPatch, if_match: str | None = None) -> VehicleGroup:
        """Change a group (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/vehicle-groups/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_vehicle_group(self, id: str, *, if_match: str | None = None) -> None:
        """Delete a group, and take it out of every vehicle, account and geofence that names it."""
        self._call("DELETE", "/api/v1/vehicle-groups/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def list_vehicles_of_group(self, id: str, *, limit: int | None = None, cursor: str | None = None) -> ListVehiclesOfGroupResult:
        """Vehicles in the group."""
        return self._call("GET", "/api/v1/vehicle-groups/{id}/vehicles", path_values={"id": id}, query={"limit": limit, "cursor": cursor})

    def all_vehicles_of_group(self, id: str, *, limit: int | None = None) -> Iterator[Vehicle]:
        """Every item of `list_vehicles_of_group`, page after page."""
        return self._items("GET", "/api/v1/vehicle-groups/{id}/vehicles", path_values={"id": id}, query={"limit": limit, "cursor": None})

    def change_vehicles_of_group(self, id: str, *, body: VehiclesOfGroupPatch, dry_run: Literal["true", "false"] | None = None) -> MembersChanged:
        """Put vehicles into the group and take others out: all of them, or none."""
        return self._call("PATCH", "/api/v1/vehicle-groups/{id}/vehicles", path_values={"id": id}, query={"dryRun": dry_run}, body=body, content_type="application/merge-patch+json")

    def list_users_of_group(self, id: str, *, limit: int | None = None, cursor: str | None = None) -> ListUsersOfGroupResult:
        """Accounts with access to the group, of those that the caller may see."""
        return self._call("GET", "/api/v1/vehicle-groups/{id}/users", path_values={"id": id}, query={"limit": limit, "cursor": cursor})

    def all_users_of_group(self, id: str, *, limit: int | None = None) -> Iterator[User]:
        """Every item of `list_users_of_group`, page after page."""
        return self._items("GET", "/api/v1/vehicle-groups/{id}/users", path_values={"id": id}, query={"limit": limit, "cursor": None})

    def change_users_of_group(self, id: str, *, body: UsersOfGroupPatch, dry_run: Literal["true", "false"] | None = None) -> MembersChanged:
        """Give accounts access to the group and take it from others: all of them, or none."""
        return self._call("PATCH", "/api/v1/vehicle-groups/{id}/users", path_values={"id": id}, query={"dryRun": dry_run}, body=body, content_type="application/merge-patch+json")

    def put_vehicle_in_group(self, id: str, vehicle_id: str) -> None:
        """Put a vehicle into the group."""
        self._call("PUT", "/api/v1/vehicle-groups/{id}/vehicles/{vehicleId}", path_values={"id": id, "vehicleId": vehicle_id})

    def take_vehicle_from_group(self, id: str, vehicle_id: str) -> None:
        """Take a vehicle out of the group."""
        self._call("DELETE", "/api/v1/vehicle-groups/{id}/vehicles/{vehicleId}", path_values={"id": id, "vehicleId": vehicle_id})

    def grant_group_access(self, id: str, user_id: str) -> None:
        """Give an account access to the group."""
        self._call("PUT", "/api/v1/vehicle-groups/{id}/users/{userId}", path_values={"id": id, "userId": user_id})

    def withdraw_group_access(self, id: str, user_id: str) -> None:
        """Take an account’s access to the group."""
        self._call("DELETE", "/api/v1/vehicle-groups/{id}/users/{userId}", path_values={"id": id, "userId": user_id})

    def move_vehicles(self, *, body: VehiclesMove) -> VehiclesMoved:
        """Move vehicles to another dealer: all of them, or none."""
        return self._call("POST", "/api/v1/vehicles/move", body=body, content_type="application/json")

    def list_share_links(self, *, limit: int | None = None, cursor: str | None = None, own: Literal["true", "false"] | None = None) -> ListShareLinksResult:
        """Links that show vehicles to others; a dealer’s users’ as well, for an operator everybody’s."""
        return self._call("GET", "/api/v1/share-links", query={"limit": limit, "cursor": cursor, "own": own})

    def all_share_links(self, *, limit: int | None = None, own: Literal["true", "false"] | None = None) -> Iterator[ShareLink]:
        """Every item of `list_share_links`, page after page."""
        return self._items("GET", "/api/v1/share-links", query={"limit": limit, "cursor": None, "own": own})

    def add_share_link(self, *, body: NewShareLink) -> CreatedShareLink:
        """Make a link that shows vehicles to anyone who has it, without a login."""
        return self._call("POST", "/api/v1/share-links", body=body, content_type="application/json")

    def get_share_link(self, id: str) -> ShareLink:
        """One share link, without its token."""
        return self._call("GET", "/api/v1/share-links/{id}", path_values={"id": id})

    def delete_share_link(self, id: str) -> None:
        """Revoke a share link: from then on it shows nothing."""
        self._call("DELETE", "/api/v1/share-links/{id}", path_values={"id": id})

    def export_drivers(self, *, excel: Literal["true", "false"] | None = None) -> bytes:
        """All drivers that the caller may see, as CSV (RFC 4180)."""
        return self._call("GET", "/api/v1/drivers/export", query={"excel": excel})

    def import_drivers(self, *, body: str | bytes, dry_run: Literal["true", "false"] | None = None) -> DriverImport:
        """Add and change many drivers by a CSV: all of them, or none."""
        return self._call("POST", "/api/v1/drivers/import", query={"dryRun": dry_run}, body=body, content_type="text/csv")

    def list_drivers(self, *, limit: int | None = None, cursor: str | None = None, q: str | None = None, sort: Literal["name", "externalId", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None, group_id: str | None = None, licence: Literal["valid", "expires-soon", "expired", "unknown"] | None = None) -> ListDriversResult:
        """Drivers that the caller may see."""
        return self._call("GET", "/api/v1/drivers", query={"limit": limit, "cursor": cursor, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute, "groupId": group_id, "licence": licence})

    def all_drivers(self, *, limit: int | None = None, q: str | None = None, sort: Literal["name", "externalId", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None, group_id: str | None = None, licence: Literal["valid", "expires-soon", "expired", "unknown"] | None = None) -> Iterator[Driver]:
        """Every item of `list_drivers`, page after page."""
        return self._items("GET", "/api/v1/drivers", query={"limit": limit, "cursor": None, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute, "groupId": group_id, "licence": licence})

    def add_driver(self, *, body: NewDriver, idempotency_key: str | None = None) -> Driver:
        """Add a driver."""
        return self._call("POST", "/api/v1/drivers", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_driver(self, id: str) -> Driver:
        """One driver."""
        return self._call("GET", "/api/v1/drivers/{id}", path_values={"id": id})

    def change_driver(self, id: str, *, body: DriverPatch, if_match: str | None = None) -> Driver:
        """Change a driver (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/drivers/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_driver(self, id: str, *, if_match: str | None = None) -> None:
        """Delete a driver, and all that is known of the person."""
        self._call("DELETE", "/api/v1/drivers/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def list_unknown_driver_codes(self) -> UnknownDriverCodes:
        """Codes of the last 31 days that no driver has or had."""
        return self._call("GET", "/api/v1/unknown-driver-codes")

    def list_driver_assignments(self, *, vehicle_id: str | None = None, driver_id: str | None = None, from_: str | None = None, to: str | None = None) -> DriverAssignments:
        """Who was said to drive which vehicle, the newest first."""
        return self._call("GET", "/api/v1/driver-assignments", query={"vehicleId": vehicle_id, "driverId": driver_id, "from": from_, "to": to})

    def add_driver_assignment(self, *, body: NewDriverAssignment, idempotency_key: str | None = None) -> DriverAssignment:
        """Say who drives a vehicle, for an interval, past or future."""
        return self._call("POST", "/api/v1/driver-assignments", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def change_driver_assignment(self, id: str, *, body: DriverAssignmentPatch) -> DriverAssignment:
        """End an assignment, or change when it ends."""
        return self._call("PATCH", "/api/v1/driver-assignments/{id}", path_values={"id": id}, body=body, content_type="application/merge-patch+json")

    def delete_driver_assignment(self, id: str) -> None:
        """Take an assignment back, as if it had never been made."""
        self._call("DELETE", "/api/v1/driver-assignments/{id}", path_values={"id": id})

    def import_maintenance_plans(self, *, body: str | bytes, dry_run: Literal["true", "false"] | None = None) -> MaintenancePlanImport:
        """Make many maintenance plans by a CSV: all of them, or none."""
        return self._call("POST", "/api/v1/maintenance-plans/import", query={"dryRun": dry_run}, body=body, content_type="text/csv")

    def import_counter_readings(self, *, body: str | bytes, dry_run: Literal["true", "false"] | None = None) -> CounterReadingImport:
        """Set what counters of many vehicles showed by a CSV: all of them, or none."""
        return self._call("POST", "/api/v1/counter-corrections/import", query={"dryRun": dry_run}, body=body, content_type="text/csv")

    def get_counters(self, id: str) -> VehicleCounters:
        """Odometer, engine hours and custom counters of a vehicle, and how they were corrected."""
        return self._call("GET", "/api/v1/vehicles/{id}/counters", path_values={"id": id})

    def add_counter(self, id: str, *, body: NewCustomCounter, idempotency_key: str | None = None) -> CustomCounter:
        """Make a custom counter of a vehicle."""
        return self._call("POST", "/api/v1/vehicles/{id}/counters", path_values={"id": id}, headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_counter(self, id: str, counter_id: str) -> CustomCounter:
        """One custom counter of a vehicle."""
        return self._call("GET", "/api/v1/vehicles/{id}/counters/{counterId}", path_values={"id": id, "counterId": counter_id})

    def change_counter(self, id: str, counter_id: str, *, body: CustomCounterPatch, if_match: str | None = None) -> CustomCounter:
        """Change a custom counter: what was counted stays, and it goes on from there."""
        return self._call("PATCH", "/api/v1/vehicles/{id}/counters/{counterId}", path_values={"id": id, "counterId": counter_id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_counter(self, id: str, counter_id: str, *, if_match: str | None = None) -> None:
        """Delete a custom counter, with its corrections."""
        self._call("DELETE", "/api/v1/vehicles/{id}/counters/{counterId}", path_values={"id": id, "counterId": counter_id}, headers={"If-Match": if_match})

    def correct_counter(self, id: str, *, body: NewCounterCorrection, idempotency_key: str | None = None) -> CounterCorrection:
        """Set what a counter of a vehicle showed at a time: it goes on from there."""
        return self._call("POST", "/api/v1/vehicles/{id}/counter-corrections", path_values={"id": id}, headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def delete_counter_correction(self, id: str, correction_id: str) -> None:
        """Take a correction back: the counter is what it was without it."""
        self._call("DELETE", "/api/v1/vehicles/{id}/counter-corrections/{correctionId}", path_values={"id": id, "correctionId": correction_id})

    def list_maintenance(self, *, vehicle_id: str | None = None, plan_id: str | None = None, stage: Literal["ok", "warning", "due"] | None = None, limit: int | None = None) -> MaintenanceList:
        """How maintenance plans stand, vehicle by vehicle, the most urgent first."""
        return self._call("GET", "/api/v1/maintenance", query={"vehicleId": vehicle_id, "planId": plan_id, "stage": stage, "limit": limit})

    def list_maintenance_plans(self, *, limit: int | None = None, cursor: str | None = None) -> ListMaintenancePlansResult:
        """Maintenance plans of the vehicles and groups that the caller may see."""
        return self._call("GET", "/api/v1/maintenance-plans", query={"limit": limit, "cursor": cursor})

    def all_maintenance_plans(self, *, limit: int | None = None) -> Iterator[MaintenancePlan]:
        """Every item of `list_maintenance_plans`, page after page."""
        return self._items("GET", "/api/v1/maintenance-plans", query={"limit": limit, "cursor": None})

    def add_maintenance_plan(self, *, body: NewMaintenancePlan, idempotency_key: str | None = None) -> MaintenancePlan:
        """Plan maintenance of a vehicle, or of each vehicle of a group."""
        return self._call("POST", "/api/v1/maintenance-plans", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_maintenance_plan(self, id: str) -> MaintenancePlan:
        """One maintenance plan."""
        return self._call("GET", "/api/v1/maintenance-plans/{id}", path_values={"id": id})

    def change_maintenance_plan(self, id: str, *, body: MaintenancePlanPatch, if_match: str | None = None) -> MaintenancePlan:
        """Change a maintenance plan."""
        return self._call("PATCH", "/api/v1/maintenance-plans/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_maintenance_plan(self, id: str, *, if_match: str | None = None) -> None:
        """Delete a maintenance plan; its service records stay."""
        self._call("DELETE", "/api/v1/maintenance-plans/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def list_service_records(self, id: str, *, limit: int | None = None, cursor: str | None = None) -> ListServiceRecordsResult:
        """Services of a vehicle that were done, the newest entry first."""
        return self._call("GET", "/api/v1/vehicles/{id}/service-records", path_values={"id": id}, query={"limit": limit, "cursor": cursor})

    def all_service_records(self, id: str, *, limit: int | None = None) -> Iterator[ServiceRecord]:
        """Every item of `list_service_records`, page after page."""
        return self._items("GET", "/api/v1/vehicles/{id}/service-records", path_values={"id": id}, query={"limit": limit, "cursor": None})

    def add_service_record(self, id: str, *, body: NewServiceRecord, idempotency_key: str | None = None) -> ServiceRecord:
        """Record a service: its plan is counted anew from there."""
        return self._call("POST", "/api/v1/vehicles/{id}/service-records", path_values={"id": id}, headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def delete_service_record(self, id: str, record_id: str) -> None:
        """Delete a service record: its plan is counted as if it had not been."""
        self._call("DELETE", "/api/v1/vehicles/{id}/service-records/{recordId}", path_values={"id": id, "recordId": record_id})

    def add_service_file(self, id: str, record_id: str, *, body: NewServiceFile, idempotency_key: str | None = None) -> ServiceFile:
        """Put a file beside a service record: an invoice, a photo."""
        return self._call("POST", "/api/v1/vehicles/{id}/service-records/{recordId}/files", path_values={"id": id, "recordId": record_id}, headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_service_file(self, id: str, record_id: str, file_id: str, *, range: str | None = None, if_none_match: str | None = None, if_range: str | None = None) -> bytes:
        """A file of a service record."""
        return self._call("GET", "/api/v1/vehicles/{id}/service-records/{recordId}/files/{fileId}", path_values={"id": id, "recordId": record_id, "fileId": file_id}, headers={"Range": range, "If-None-Match": if_none_match, "If-Range": if_range})

    def delete_service_file(self, id: str, record_id: str, file_id: str) -> None:
        """Delete a file of a service record."""
        self._call("DELETE", "/api/v1/vehicles/{id}/service-records/{recordId}/files/{fileId}", path_values={"id": id, "recordId": record_id, "fileId": file_id})

    def list_geozones(self, *, limit: int | None = None, cursor: str | None = None, q: str | None = None, sort: Literal["name", "externalId", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None) -> ListGeozonesResult:
        """Geozones that the caller may see."""
        return self._call("GET", "/api/v1/geozones", query={"limit": limit, "cursor": cursor, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute})

    def all_geozones(self, *, limit: int | None = None, q: str | None = None, sort: Literal["name", "externalId", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None) -> Iterator[Geozone]:
        """Every item of `list_geozones`, page after page."""
        return self._items("GET", "/api/v1/geozones", query={"limit": limit, "cursor": None, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute})

    def add_geozone(self, *, body: NewGeozone, idempotency_key: str | None = None) -> Geozone:
        """Draw a geozone: it belongs to the caller and watches what the caller may see."""
        return self._call("POST", "/api/v1/geozones", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_geozone(self, id: str) -> Geozone:
        """One geozone."""
        return self._call("GET", "/api/v1/geozones/{id}", path_values={"id": id})

    def change_geozone(self, id: str, *, body: GeozonePatch, if_match: str | None = None) -> Geozone:
        """Change a geozone (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/geozones/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_geozone(self, id: str, *, if_match: str | None = None) -> None:
        """Delete a geozone; visits to it end."""
        self._call("DELETE", "/api/v1/geozones/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def export_geozones(self, *, all: Literal["true", "false"] | None = None, format: Literal["geojson", "kml", "csv"] | None = None) -> GeozoneCollection:
        """All geozones of the caller as one GeoJSON FeatureCollection (RFC 7946), as KML or as CSV."""
        return self._call("GET", "/api/v1/geozones/export", query={"all": all, "format": format})

    def import_geozones(self, *, body: NewGeozoneCollection, dry_run: Literal["true", "false"] | None = None) -> GeozoneImport:
        """Draw and change many geozones by a GeoJSON FeatureCollection: all of them, or none."""
        return self._call("POST", "/api/v1/geozones/import", query={"dryRun": dry_run}, body=body, content_type="application/geo+json")

    def read_geozone_file(self, *, body: str | bytes, format: Literal["geojson", "kml", "gpx"], name: str | None = None, radius_m: float | None = None, width_m: float | None = None) -> GeozoneFile:
        """What a file draws, as features that the import takes: nothing is changed."""
        return self._call("POST", "/api/v1/geozones/read-file", query={"format": format, "name": name, "radiusM": radius_m, "widthM": width_m}, body=body, content_type="application/octet-stream")

    def import_geozone_file(self, *, body: str | bytes, format: Literal["geojson", "kml", "gpx"], name: str | None = None, radius_m: float | None = None, width_m: float | None = None, dry_run: Literal["true", "false"] | None = None) -> GeozoneFileImport:
        """Draw and change many geozones by a file of another program: all of them, or none."""
        return self._call("POST", "/api/v1/geozones/import-file", query={"format": format, "name": name, "radiusM": radius_m, "widthM": width_m, "dryRun": dry_run}, body=body, content_type="application/octet-stream")

    def name_place(self, *, latitude: str, longitude: str) -> PlaceAnswer:
        """What a place is called."""
        return self._call("GET", "/api/v1/place", query={"latitude": latitude, "longitude": longitude})

    def list_notification_rules(self, *, limit: int | None = None, cursor: str | None = None, owner_id: str | None = None) -> ListNotificationRulesResult:
        """Notification rules of the caller; for an operator, everyone’s."""
        return self._call("GET", "/api/v1/notification-rules", query={"limit": limit, "cursor": cursor, "ownerId": owner_id})

    def all_notification_rules(self, *, limit: int | None = None, owner_id: str | None = None) -> Iterator[NotificationRule]:
        """Every item of `list_notification_rules`, page after page."""
        return self._items("GET", "/api/v1/notification-rules", query={"limit": limit, "cursor": None, "ownerId": owner_id})

    def add_notification_rule(self, *, body: NewNotificationRule, idempotency_key: str | None = None) -> NotificationRuleAsSet:
        """Add a rule: its owner, the caller, is notified of the events it selects."""
        return self._call("POST", "/api/v1/notification-rules", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_notification_rule(self, id: str) -> NotificationRule:
        """One rule."""
        return self._call("GET", "/api/v1/notification-rules/{id}", path_values={"id": id})

    def change_notification_rule(self, id: str, *, body: NotificationRulePatch, if_match: str | None = None) -> NotificationRuleAsSet:
        """Change a rule (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/notification-rules/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_notification_rule(self, id: str, *, if_match: str | None = None) -> None:
        """Delete a rule; its notifications stay in the inbox."""
        self._call("DELETE", "/api/v1/notification-rules/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def test_notification_rule(self, id: str) -> NotificationRuleTrial:
        """Which events of the last week the rule would have notified of, and why not the others."""
        return self._call("POST", "/api/v1/notification-rules/{id}/test", path_values={"id": id})

    def test_notification_rule_draft(self, *, body: NotificationRuleDraft) -> NotificationRuleTrial:
        """The same for a rule that is not saved yet."""
        return self._call("POST", "/api/v1/notification-rules/test", body=body, content_type="application/json")

    def preview_notification_message(self, *, body: MessagePreviewRequest) -> MessagePreview:
        """What a message would say of an event, by example."""
        return self._call("POST", "/api/v1/notification-rules/preview", body=body, content_type="application/json")

    def list_channel_tests(self, id: str) -> ListChannelTestsResult:
        """What became of the caller’s test messages of the last hour, the newest first; 100 at most."""
        return self._call("GET", "/api/v1/notification-rules/{id}/channel-tests", path_values={"id": id})

    def add_channel_test(self, id: str, *, body: NewChannelTest) -> ChannelTest:
        """Send a message over a channel of the rule, to see whether it arrives."""
        return self._call("POST", "/api/v1/notification-rules/{id}/channel-tests", path_values={"id": id}, body=body, content_type="application/json")

    def list_notifications(self, *, limit: int | None = None, cursor: str | None = None, from_: str | None = None, to: str | None = None, unread: Literal["true", "false"] | None = None, kind: Literal["geofence-visit", "speeding", "trip", "parking", "idling", "ignition", "alarm", "power-cut", "offline", "maintenance-due", "driver-shift", "refuelling", "fuel-drain", "sensor-threshold", "harsh-driving", "licence-expiry"] | None = None, vehicle_id: str | None = None, rule_id: str | None = None) -> ListNotificationsResult:
        """Notifications of the caller, the newest first."""
        return self._call("GET", "/api/v1/notifications", query={"limit": limit, "cursor": cursor, "from": from_, "to": to, "unread": unread, "kind": kind, "vehicleId": vehicle_id, "ruleId": rule_id})

    def all_notifications(self, *, limit: int | None = None, from_: str | None = None, to: str | None = None, unread: Literal["true", "false"] | None = None, kind: Literal["geofence-visit", "speeding", "trip", "parking", "idling", "ignition", "alarm", "power-cut", "offline", "maintenance-due", "driver-shift", "refuelling", "fuel-drain", "sensor-threshold", "harsh-driving", "licence-expiry"] | None = None, vehicle_id: str | None = None, rule_id: str | None = None) -> Iterator[Notification]:
        """Every item of `list_notifications`, page after page."""
        return self._items("GET", "/api/v1/notifications", query={"limit": limit, "cursor": None, "from": from_, "to": to, "unread": unread, "kind": kind, "vehicleId": vehicle_id, "ruleId": rule_id})

    def read_notification(self, id: str) -> Notification:
        """Note that a notification was read."""
        return self._call("POST", "/api/v1/notifications/{id}/read", path_values={"id": id})

    def read_all_notifications(self, *, up_to: int | None = None) -> NotificationsMarked:
        """Note that all notifications were read."""
        return self._call("POST", "/api/v1/notifications/read-all", query={"upTo": up_to})

    def list_webhook_deliveries(self, *, limit: int | None = None, cursor: str | None = None, from_: str | None = None, to: str | None = None, channel: Literal["email", "webhook", "telegram", "http", "web-push", "any"] | None = None, state: Literal["pending", "delivered", "failed", "cancelled"] | None = None, rule_id: str | None = None) -> ListWebhookDeliveriesResult:
        """How the caller’s notifications were delivered, the newest first."""
        return self._call("GET", "/api/v1/webhook-deliveries", query={"limit": limit, "cursor": cursor, "from": from_, "to": to, "channel": channel, "state": state, "ruleId": rule_id})

    def all_webhook_deliveries(self, *, limit: int | None = None, from_: str | None = None, to: str | None = None, channel: Literal["email", "webhook", "telegram", "http", "web-push", "any"] | None = None, state: Literal["pending", "delivered", "failed", "cancelled"] | None = None, rule_id: str | None = None) -> Iterator[Delivery]:
        """Every item of `list_webhook_deliveries`, page after page."""
        return self._items("GET", "/api/v1/webhook-deliveries", query={"limit": limit, "cursor": None, "from": from_, "to": to, "channel": channel, "state": state, "ruleId": rule_id})

    def resend_webhook_delivery(self, id: str) -> Delivery:
        """Send a delivery again, now and for as long as a new one."""
        return self._call("POST", "/api/v1/webhook-deliveries/{id}/resend", path_values={"id": id})

    def list_incidents(self, *, limit: int | None = None, cursor: str | None = None, from_: str | None = None, to: str | None = None, state: Literal["open", "acknowledged", "closed", "active"] | None = None, severity: Literal["warning", "critical"] | None = None, vehicle_id: str | None = None, assignee_id: str | None = None) -> ListIncidentsResult:
        """Incidents that the caller deals with, the newest first."""
        return self._call("GET", "/api/v1/incidents", query={"limit": limit, "cursor": cursor, "from": from_, "to": to, "state": state, "severity": severity, "vehicleId": vehicle_id, "assigneeId": assignee_id})

    def all_incidents(self, *, limit: int | None = None, from_: str | None = None, to: str | None = None, state: Literal["open", "acknowledged", "closed", "active"] | None = None, severity: Literal["warning", "critical"] | None = None, vehicle_id: str | None = None, assignee_id: str | None = None) -> Iterator[Incident]:
        """Every item of `list_incidents`, page after page."""
        return self._items("GET", "/api/v1/incidents", query={"limit": limit, "cursor": None, "from": from_, "to": to, "state": state, "severity": severity, "vehicleId": vehicle_id, "assigneeId": assignee_id})

    def get_incident(self, id: str) -> IncidentWithEntries:
        """One incident, with its history."""
        return self._call("GET", "/api/v1/incidents/{id}", path_values={"id": id})

    def add_incident_entry(self, id: str, *, body: NewIncidentEntry, idempotency_key: str | None = None) -> IncidentWithEntries:
        """Acknowledge, assign, comment, escalate or close an incident."""
        return self._call("POST", "/api/v1/incidents/{id}/entries", path_values={"id": id}, headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def list_incident_assignees(self, id: str, *, limit: int | None = None, cursor: str | None = None, q: str | None = None) -> ListIncidentAssigneesResult:
        """Accounts that may see an incident, and so be assigned it, in the order of their names."""
        return self._call("GET", "/api/v1/incidents/{id}/assignees", path_values={"id": id}, query={"limit": limit, "cursor": cursor, "q": q})

    def all_incident_assignees(self, id: str, *, limit: int | None = None, q: str | None = None) -> Iterator[Colleague]:
        """Every item of `list_incident_assignees`, page after page."""
        return self._items("GET", "/api/v1/incidents/{id}/assignees", path_values={"id": id}, query={"limit": limit, "cursor": None, "q": q})

    def follow_events(self, *, cursor: str | None = None, from_: str | None = None, limit: int | None = None, wait_seconds: int | None = None, last_event_id: str | None = None) -> FollowEventsResult:
        """Every event from a cursor on, late and recalculated ones included."""
        return self._call("GET", "/api/v1/feed/events", query={"cursor": cursor, "from": from_, "limit": limit, "waitSeconds": wait_seconds}, headers={"Last-Event-ID": last_event_id})

    def all_follow_events(self, *, from_: str | None = None, limit: int | None = None, wait_seconds: int | None = None, last_event_id: str | None = None) -> Iterator[FeedEvent]:
        """Every item of `follow_events`, page after page."""
        return self._items("GET", "/api/v1/feed/events", query={"cursor": None, "from": from_, "limit": limit, "waitSeconds": wait_seconds}, headers={"Last-Event-ID": last_event_id})

    def follow_positions(self, *, cursor: str | None = None, from_: str | None = None, limit: int | None = None, wait_seconds: int | None = None, last_event_id: str | None = None) -> FollowPositionsResult:
        """Every position from a cursor on, in the order in which they came."""
        return self._call("GET", "/api/v1/feed/positions", query={"cursor": cursor, "from": from_, "limit": limit, "waitSeconds": wait_seconds}, headers={"Last-Event-ID": last_event_id})

    def all_follow_positions(self, *, from_: str | None = None, limit: int | None = None, wait_seconds: int | None = None, last_event_id: str | None = None) -> Iterator[FeedPosition]:
        """Every item of `follow_positions`, page after page."""
        return self._items("GET", "/api/v1/feed/positions", query={"cursor": None, "from": from_, "limit": limit, "waitSeconds": wait_seconds}, headers={"Last-Event-ID": last_event_id})

    def list_forwarding_destinations(self, *, limit: int | None = None, cursor: str | None = None) -> ListForwardingDestinationsResult:
        """Systems that positions and events are forwarded to, and how far each is."""
        return self._call("GET", "/api/v1/forwarding-destinations", query={"limit": limit, "cursor": cursor})

    def all_forwarding_destinations(self, *, limit: int | None = None) -> Iterator[ForwardingDestination]:
        """Every item of `list_forwarding_destinations`, page after page."""
        return self._items("GET", "/api/v1/forwarding-destinations", query={"limit": limit, "cursor": None})

    def add_forwarding_destination(self, *, body: NewForwardingDestination, idempotency_key: str | None = None) -> ForwardingDestination:
        """Have positions and events forwarded to another system."""
        return self._call("POST", "/api/v1/forwarding-destinations", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_forwarding_destination(self, id: str) -> ForwardingDestination:
        """One forwarding destination, and how far it is."""
        return self._call("GET", "/api/v1/forwarding-destinations/{id}", path_values={"id": id})

    def change_forwarding_destination(self, id: str, *, body: ForwardingDestinationPatch, if_match: str | None = None) -> ForwardingDestination:
        """Change, pause or resume a destination."""
        return self._call("PATCH", "/api/v1/forwarding-destinations/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_forwarding_destination(self, id: str, *, if_match: str | None = None) -> None:
        """Forward nothing more to a destination, and forget how far it was."""
        self._call("DELETE", "/api/v1/forwarding-destinations/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def replay_forwarding_destination(self, id: str, *, body: ForwardingReplay) -> ForwardingDestination:
        """Forward once more what was written to the log from a time on."""
        return self._call("POST", "/api/v1/forwarding-destinations/{id}/replay", path_values={"id": id}, body=body, content_type="application/json")

    def test_forwarding_destination(self, id: str) -> ForwardingTest:
        """Try whether a destination takes something."""
        return self._call("POST", "/api/v1/forwarding-destinations/{id}/test", path_values={"id": id})

    def list_report_kinds(self) -> ReportKinds:
        """Kinds of reports: their columns, parameters and formats."""
        return self._call("GET", "/api/v1/reports")

    def report_track(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, max_points: int | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow", "geojson", "gpx", "kml"] | None = None) -> ReportTrackResult:
        """Positions in a time range, by vehicle and time."""
        return self._call("GET", "/api/v1/reports/track", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "maxPoints": max_points, "format": format})

    def all_report_track(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, max_points: int | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow", "geojson", "gpx", "kml"] | None = None) -> Iterator[TrackPosition]:
        """Every item of `report_track`, page after page."""
        return self._items("GET", "/api/v1/reports/track", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "maxPoints": max_points, "format": format})

    def report_trips(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day"] | None = None, driver_id: str | Sequence[str] | None = None, geometry: Literal["true", "false"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportTripsResult:
        """Trips that overlap a time range."""
        return self._call("GET", "/api/v1/reports/trips", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "geometry": geometry, "format": format})

    def all_report_trips(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day"] | None = None, driver_id: str | Sequence[str] | None = None, geometry: Literal["true", "false"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[TripsRow]:
        """Every item of `report_trips`, page after page."""
        return self._items("GET", "/api/v1/reports/trips", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "geometry": geometry, "format": format})

    def report_stops(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day", "kind"] | None = None, driver_id: str | Sequence[str] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportStopsResult:
        """Stops, parked or idling, that overlap a time range."""
        return self._call("GET", "/api/v1/reports/stops", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "format": format})

    def all_report_stops(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day", "kind"] | None = None, driver_id: str | Sequence[str] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[StopsRow]:
        """Every item of `report_stops`, page after page."""
        return self._items("GET", "/api/v1/reports/stops", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "format": format})

    def report_mileage(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportMileageResult:
        """How far vehicles went, by the day, the week or the month."""
        return self._call("GET", "/api/v1/reports/mileage", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def all_report_mileage(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[MileageRow]:
        """Every item of `report_mileage`, page after page."""
        return self._items("GET", "/api/v1/reports/mileage", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def report_engine_hours(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportEngineHoursResult:
        """How long engines ran, by the day, the week or the month."""
        return self._call("GET", "/api/v1/reports/engine-hours", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def all_report_engine_hours(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[EngineHoursRow]:
        """Every item of `report_engine_hours`, page after page."""
        return self._items("GET", "/api/v1/reports/engine-hours", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def report_speeding(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day", "geozone"] | None = None, driver_id: str | Sequence[str] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportSpeedingResult:
        """When vehicles were over a limit."""
        return self._call("GET", "/api/v1/reports/speeding", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "format": format})

    def all_report_speeding(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day", "geozone"] | None = None, driver_id: str | Sequence[str] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[SpeedingRow]:
        """Every item of `report_speeding`, page after page."""
        return self._items("GET", "/api/v1/reports/speeding", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "format": format})

    def report_geozone_visits(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "geozone"] | None = None, geozone_id: str | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportGeozoneVisitsResult:
        """Visits of geozones, and what lies between them."""
        return self._call("GET", "/api/v1/reports/geozone-visits", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "geozoneId": geozone_id, "format": format})

    def all_report_geozone_visits(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "geozone"] | None = None, geozone_id: str | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[GeozoneVisitsRow]:
        """Every item of `report_geozone_visits`, page after page."""
        return self._items("GET", "/api/v1/reports/geozone-visits", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "geozoneId": geozone_id, "format": format})

    def report_shape_visits(self, *, body: VisitedShape, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportShapeVisitsResult:
        """Ask the past about a shape that was never saved."""
        return self._call("POST", "/api/v1/reports/geozone-visits", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format}, body=body, content_type="application/json")

    def all_report_shape_visits(self, *, body: VisitedShape, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[ShapeVisitsRow]:
        """Every item of `report_shape_visits`, page after page."""
        return self._items("POST", "/api/v1/reports/geozone-visits", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format}, body=body, content_type="application/json")

    def report_geozone_matrix(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "geozone"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, geozone_id: str | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportGeozoneMatrixResult:
        """Which vehicles were in which geozones, how often and how long."""
        return self._call("GET", "/api/v1/reports/geozone-matrix", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "geozoneId": geozone_id, "format": format})

    def all_report_geozone_matrix(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "geozone"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, geozone_id: str | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[GeozoneMatrixRow]:
        """Every item of `report_geozone_matrix`, page after page."""
        return self._items("GET", "/api/v1/reports/geozone-matrix", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "geozoneId": geozone_id, "format": format})

    def report_events(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day", "geozone", "kind", "sensor"] | None = None, driver_id: str | Sequence[str] | None = None, kind: str | Sequence[Literal["geofence-visit", "speeding", "trip", "parking", "idling", "ignition", "alarm", "power-cut", "offline", "maintenance-due", "driver-shift", "refuelling", "fuel-drain", "sensor-threshold", "harsh-driving"]] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportEventsResult:
        """All that happened, by vehicle and time."""
        return self._call("GET", "/api/v1/reports/events", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "kind": kind, "format": format})

    def all_report_events(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day", "geozone", "kind", "sensor"] | None = None, driver_id: str | Sequence[str] | None = None, kind: str | Sequence[Literal["geofence-visit", "speeding", "trip", "parking", "idling", "ignition", "alarm", "power-cut", "offline", "maintenance-due", "driver-shift", "refuelling", "fuel-drain", "sensor-threshold", "harsh-driving"]] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[EventsRow]:
        """Every item of `report_events`, page after page."""
        return self._items("GET", "/api/v1/reports/events", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "kind": kind, "format": format})

    def report_summary(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportSummaryResult:
        """Everything about each vehicle and period, in a row."""
        return self._call("GET", "/api/v1/reports/summary", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def all_report_summary(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[SummaryRow]:
        """Every item of `report_summary`, page after page."""
        return self._items("GET", "/api/v1/reports/summary", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def report_current_state(self, *, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportCurrentStateResult:
        """Where vehicles are and what they do, now."""
        return self._call("GET", "/api/v1/reports/current-state", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def all_report_current_state(self, *, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[CurrentStateRow]:
        """Every item of `report_current_state`, page after page."""
        return self._items("GET", "/api/v1/reports/current-state", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def report_utilisation(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportUtilisationResult:
        """How vehicles are used, hour of the day by hour of the day."""
        return self._call("GET", "/api/v1/reports/utilisation", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def all_report_utilisation(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[UtilisationRow]:
        """Every item of `report_utilisation`, page after page."""
        return self._items("GET", "/api/v1/reports/utilisation", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def report_idling(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportIdlingResult:
        """How long vehicles stood with the ignition on."""
        return self._call("GET", "/api/v1/reports/idling", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def all_report_idling(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[IdlingRow]:
        """Every item of `report_idling`, page after page."""
        return self._items("GET", "/api/v1/reports/idling", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def report_fuel(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportFuelResult:
        """What vehicles used of fuel, and what was filled in and drained."""
        return self._call("GET", "/api/v1/reports/fuel", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def all_report_fuel(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[FuelRow]:
        """Every item of `report_fuel`, page after page."""
        return self._items("GET", "/api/v1/reports/fuel", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def report_refuellings(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day", "kind"] | None = None, driver_id: str | Sequence[str] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportRefuellingsResult:
        """Refuellings and fuel drains."""
        return self._call("GET", "/api/v1/reports/refuellings", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "format": format})

    def all_report_refuellings(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day", "kind"] | None = None, driver_id: str | Sequence[str] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[RefuellingsRow]:
        """Every item of `report_refuellings`, page after page."""
        return self._items("GET", "/api/v1/reports/refuellings", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "format": format})

    def report_maintenance(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "kind"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportMaintenanceResult:
        """Services that were done, what they cost, and what is due next."""
        return self._call("GET", "/api/v1/reports/maintenance", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def all_report_maintenance(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "kind"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[MaintenanceRow]:
        """Every item of `report_maintenance`, page after page."""
        return self._items("GET", "/api/v1/reports/maintenance", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def report_sensors(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "sensor"] | None = None, sensor: str | Sequence[str] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportSensorsResult:
        """Statistics of sensors: lowest, mean and highest values, and how long beyond thresholds, or on."""
        return self._call("GET", "/api/v1/reports/sensors", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "sensor": sensor, "period": period, "format": format})

    def all_report_sensors(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "sensor"] | None = None, sensor: str | Sequence[str] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[SensorsRow]:
        """Every item of `report_sensors`, page after page."""
        return self._items("GET", "/api/v1/reports/sensors", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "sensor": sensor, "period": period, "format": format})

    def report_sensor_series(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "sensor"] | None = None, sensor: str | Sequence[str] | None = None, max_points: int | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportSensorSeriesResult:
        """Values of sensors over time: the lowest, the mean and the highest of each interval."""
        return self._call("GET", "/api/v1/reports/sensor-series", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "sensor": sensor, "maxPoints": max_points, "format": format})

    def all_report_sensor_series(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "sensor"] | None = None, sensor: str | Sequence[str] | None = None, max_points: int | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[SensorSeriesRow]:
        """Every item of `report_sensor_series`, page after page."""
        return self._items("GET", "/api/v1/reports/sensor-series", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "sensor": sensor, "maxPoints": max_points, "format": format})

    def report_work_time(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, work_hours: str | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportWorkTimeResult:
        """What vehicles do within working hours and outside of them."""
        return self._call("GET", "/api/v1/reports/work-time", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "workHours": work_hours, "period": period, "format": format})

    def all_report_work_time(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, work_hours: str | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[WorkTimeRow]:
        """Every item of `report_work_time`, page after page."""
        return self._items("GET", "/api/v1/reports/work-time", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "workHours": work_hours, "period": period, "format": format})

    def report_violations(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "kind"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportViolationsResult:
        """Speeding, alarms, power cuts and silence, by vehicle and day, with the worst of each kind."""
        return self._call("GET", "/api/v1/reports/violations", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def all_report_violations(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "kind"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[ViolationsRow]:
        """Every item of `report_violations`, page after page."""
        return self._items("GET", "/api/v1/reports/violations", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def report_eco_driving(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day"] | None = None, eco_weights: str | None = None, driver_id: str | Sequence[str] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportEcoDrivingResult:
        """How economically and carefully vehicles were driven: a score of 0 to 100 for each trip."""
        return self._call("GET", "/api/v1/reports/eco-driving", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "ecoWeights": eco_weights, "driverId": driver_id, "format": format})

    def all_report_eco_driving(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day"] | None = None, eco_weights: str | None = None, driver_id: str | Sequence[str] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[EcoDrivingRow]:
        """Every item of `report_eco_driving`, page after page."""
        return self._items("GET", "/api/v1/reports/eco-driving", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "ecoWeights": eco_weights, "driverId": driver_id, "format": format})

    def report_drivers(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["driver", "day"] | None = None, eco_weights: str | None = None, driver_id: str | Sequence[str] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportDriversResult:
        """What drivers did: shifts, distance, hours, speeding, fuel and their score."""
        return self._call("GET", "/api/v1/reports/drivers", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "ecoWeights": eco_weights, "driverId": driver_id, "period": period, "format": format})

    def all_report_drivers(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["driver", "day"] | None = None, eco_weights: str | None = None, driver_id: str | Sequence[str] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[DriversRow]:
        """Every item of `report_drivers`, page after page."""
        return self._items("GET", "/api/v1/reports/drivers", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "ecoWeights": eco_weights, "driverId": driver_id, "period": period, "format": format})

    def report_fleet_digest(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportFleetDigestResult:
        """The fleet on a page: distance, hours, stops, violations and the last place of each vehicle."""
        return self._call("GET", "/api/v1/reports/fleet-digest", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def all_report_fleet_digest(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[FleetDigestRow]:
        """Every item of `report_fleet_digest`, page after page."""
        return self._items("GET", "/api/v1/reports/fleet-digest", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def report_positions_at(self, *, at: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None) -> ReportPositionsAtResult:
        """Where vehicles were at a moment: of each, the last valid fix until then."""
        return self._call("GET", "/api/v1/reports/positions-at", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "at": at})

    def all_report_positions_at(self, *, at: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None) -> Iterator[PositionAt]:
        """Every item of `report_positions_at`, page after page."""
        return self._items("GET", "/api/v1/reports/positions-at", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "at": at})

    def add_report_job(self, *, body: NewReportJob, idempotency_key: str | None = None) -> ReportJob:
        """Have a large report made as a file."""
        return self._call("POST", "/api/v1/report-jobs", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_report_file(self, id: str, *, range: str | None = None, if_none_match: str | None = None, if_range: str | None = None) -> GetReportFileResult:
        """The file of a report that is done."""
        return self._call("GET", "/api/v1/report-jobs/{id}/file", path_values={"id": id}, headers={"Range": range, "If-None-Match": if_none_match, "If-Range": if_range})

    def list_report_schedules(self, *, limit: int | None = None, cursor: str | None = None) -> ListReportSchedulesResult:
        """The caller’s schedules of reports; for an operator everybody’s."""
        return self._call("GET", "/api/v1/report-schedules", query={"limit": limit, "cursor": cursor})

    def all_report_schedules(self, *, limit: int | None = None) -> Iterator[ReportSchedule]:
        """Every item of `list_report_schedules`, page after page."""
        return self._items("GET", "/api/v1/report-schedules", query={"limit": limit, "cursor": None})

    def add_report_schedule(self, *, body: NewReportSchedule, idempotency_key: str | None = None) -> ReportSchedule:
        """Have a report made every day, week or month, and sent by e-mail."""
        return self._call("POST", "/api/v1/report-schedules", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_report_schedule(self, id: str) -> ReportSchedule:
        """One schedule."""
        return self._call("GET", "/api/v1/report-schedules/{id}", path_values={"id": id})

    def change_report_schedule(self, id: str, *, body: ReportSchedulePatch, if_match: str | None = None) -> ReportSchedule:
        """Change fields of a schedule."""
        return self._call("PATCH", "/api/v1/report-schedules/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_report_schedule(self, id: str, *, if_match: str | None = None) -> None:
        """Delete a schedule; reports that it made stay for their time."""
        self._call("DELETE", "/api/v1/report-schedules/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def list_report_deliveries(self, id: str, *, limit: int | None = None, cursor: str | None = None) -> ListReportDeliveriesResult:
        """E-mails of a schedule’s reports, the newest first."""
        return self._call("GET", "/api/v1/report-schedules/{id}/deliveries", path_values={"id": id}, query={"limit": limit, "cursor": cursor})

    def all_report_deliveries(self, id: str, *, limit: int | None = None) -> Iterator[ReportDelivery]:
        """Every item of `list_report_deliveries`, page after page."""
        return self._items("GET", "/api/v1/report-schedules/{id}/deliveries", path_values={"id": id}, query={"limit": limit, "cursor": None})

    def get_my_report_templates(self) -> ReportTemplates:
        """Reports that the caller saved to ask for them again."""
        return self._call("GET", "/api/v1/me/report-templates")

    def set_my_report_templates(self, *, body: NewReportTemplates, if_match: str | None = None) -> ReportTemplates:
        """Replace the saved reports of the caller."""
        return self._call("PUT", "/api/v1/me/report-templates", headers={"If-Match": if_match}, body=body, content_type="application/json")

    def recalculate_geozone(self, id: str, *, from_: str, to: str, idempotency_key: str | None = None) -> RecalculationJob:
        """Ask a geozone about the past."""
        return self._call("POST", "/api/v1/geozones/{id}/recalculate", path_values={"id": id}, query={"from": from_, "to": to}, headers={"Idempotency-Key": idempotency_key})

    def recalculate_vehicle(self, id: str, *, from_: str, to: str, idempotency_key: str | None = None) -> RecalculationJob:
        """Make the events of a vehicle anew."""
        return self._call("POST", "/api/v1/vehicles/{id}/recalculate", path_values={"id": id}, query={"from": from_, "to": to}, headers={"Idempotency-Key": idempotency_key})

    def list_jobs(self, *, limit: int | None = None, cursor: str | None = None, kind: Literal["recalculate-geozone", "recalculate-vehicle", "late-data", "old-data", "report", "erasure", "erase-history", "retention", "person-export"] | None = None, state: Literal["queued", "running", "done", "failed", "cancelled"] | None = None) -> ListJobsResult:
        """Jobs, the newest first."""
        return self._call("GET", "/api/v1/jobs", query={"limit": limit, "cursor": cursor, "kind": kind, "state": state})

    def all_jobs(self, *, limit: int | None = None, kind: Literal["recalculate-geozone", "recalculate-vehicle", "late-data", "old-data", "report", "erasure", "erase-history", "retention", "person-export"] | None = None, state: Literal["queued", "running", "done", "failed", "cancelled"] | None = None) -> Iterator[Job]:
        """Every item of `list_jobs`, page after page."""
        return self._items("GET", "/api/v1/jobs", query={"limit": limit, "cursor": None, "kind": kind, "state": state})

    def get_job(self, id: str) -> Job:
        """How far a job is."""
        return self._call("GET", "/api/v1/jobs/{id}", path_values={"id": id})

    def cancel_job(self, id: str) -> Job:
        """Call a job off."""
        return self._call("POST", "/api/v1/jobs/{id}/cancel", path_values={"id": id})

    def get_operator_status(self) -> OperatorStatus:
        """How the service is: its parts, what it uses of its bounds, and its last hour."""
        return self._call("GET", "/api/v1/operator/status")

    def list_all_sessions(self, *, limit: int | None = None, cursor: str | None = None) -> ListAllSessionsResult:
        """Sessions of all accounts, the last used first."""
        return self._call("GET", "/api/v1/operator/sessions", query={"limit": limit, "cursor": cursor})

    def all_all_sessions(self, *, limit: int | None = None) -> Iterator[OwnedSession]:
        """Every item of `list_all_sessions`, page after page."""
        return self._items("GET", "/api/v1/operator/sessions", query={"limit": limit, "cursor": None})

    def list_archive_gaps(self) -> ArchiveGaps:
        """Parts of the archive that were lost and could not be written again, the newest first."""
        return self._call("GET", "/api/v1/operator/archive-gaps")

    def accept_archive_gap(self, *, body: ArchiveGapId) -> ArchiveGap:
        """Accept that a part of the archive is lost: nobody is warned of it any more."""
        return self._call("POST", "/api/v1/operator/archive-gaps/accept", body=body, content_type="application/json")

    def list_dead_letters(self, *, limit: int | None = None, cursor: str | None = None) -> ListDeadLettersResult:
        """Records that could not be processed and were put aside, the newest first."""
        return self._call("GET", "/api/v1/operator/dead-letters", query={"limit": limit, "cursor": cursor})

    def all_dead_letters(self, *, limit: int | None = None) -> Iterator[DeadLetter]:
        """Every item of `list_dead_letters`, page after page."""
        return self._items("GET", "/api/v1/operator/dead-letters", query={"limit": limit, "cursor": None})

    def get_dead_letter(self, *, id: str) -> bytes:
        """The bytes of a record that was put aside."""
        return self._call("GET", "/api/v1/operator/dead-letters/file", query={"id": id})

    def list_map_files(self) -> ListMapFilesResult:
        """Files in the folders of maps, and which of them are served."""
        return self._call("GET", "/api/v1/operator/maps")

    def list_video_profiles(self, *, limit: int | None = None, cursor: str | None = None, terminal_id: str | None = None) -> ListVideoProfilesResult:
        """Video profiles of vehicles that the caller may see; by `terminalId` the one of a vehicle’s terminal."""
        return self._call("GET", "/service/ovms/api/profiles", query={"limit": limit, "cursor": cursor, "terminalId": terminal_id})

    def all_video_profiles(self, *, limit: int | None = None, terminal_id: str | None = None) -> Iterator[VideoProfile]:
        """Every item of `list_video_profiles`, page after page."""
        return self._items("GET", "/service/ovms/api/profiles", query={"limit": limit, "cursor": None, "terminalId": terminal_id})

    def add_video_profile(self, *, body: NewVideoProfile, idempotency_key: str | None = None) -> VideoProfile:
        """Add the video profile of a vehicle; a vehicle has one at most."""
        return self._call("POST", "/service/ovms/api/profiles", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_video_profile(self, profile_id: str) -> VideoProfile:
        """One video profile."""
        return self._call("GET", "/service/ovms/api/profiles/{profile_id}", path_values={"profile_id": profile_id})

    def change_video_profile(self, profile_id: str, *, body: VideoProfilePatch, if_match: str | None = None) -> VideoProfile:
        """Change a video profile (JSON merge patch)."""
        return self._call("PATCH", "/service/ovms/api/profiles/{profile_id}", path_values={"profile_id": profile_id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_video_profile(self, profile_id: str, *, if_match: str | None = None) -> None:
        """Delete a video profile; its unfinished tasks fail, its files stay."""
        self._call("DELETE", "/service/ovms/api/profiles/{profile_id}", path_values={"profile_id": profile_id}, headers={"If-Match": if_match})

    def list_video_tasks(self, *, limit: int | None = None, cursor: str | None = None, profile_id: str | None = None, status: Literal["new", "waiting", "requested", "downloading", "processing", "done", "failed", "cancelled"] | None = None) -> ListVideoTasksResult:
        """Tasks of vehicles that the caller may see, the newest first."""
        return self._call("GET", "/service/ovms/api/tasks", query={"limit": limit, "cursor": cursor, "profileId": profile_id, "status": status})

    def all_video_tasks(self, *, limit: int | None = None, profile_id: str | None = None, status: Literal["new", "waiting", "requested", "downloading", "processing", "done", "failed", "cancelled"] | None = None) -> Iterator[ListedVideoTask]:
        """Every item of `list_video_tasks`, page after page."""
        return self._items("GET", "/service/ovms/api/tasks", query={"limit": limit, "cursor": None, "profileId": profile_id, "status": status})

    def add_video_task(self, *, body: NewVideoTask, idempotency_key: str | None = None) -> VideoTask:
        """Ask for a fragment of video."""
        return self._call("POST", "/service/ovms/api/tasks", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_video_task(self, task_id: str) -> VideoTask:
        """How far a task is, and everything that became of it."""
        return self._call("GET", "/service/ovms/api/tasks/{task_id}", path_values={"task_id": task_id})

    def change_video_task(self, task_id: str, *, body: VideoTaskPatch, if_match: str | None = None) -> VideoTask:
        """Change what a task asks for, until its terminal is asked to play (JSON merge patch)."""
        return self._call("PATCH", "/service/ovms/api/tasks/{task_id}", path_values={"task_id": task_id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_video_task(self, task_id: str, *, if_match: str | None = None) -> None:
        """Delete a task and its video; one that is not finished ends."""
        self._call("DELETE", "/service/ovms/api/tasks/{task_id}", path_values={"task_id": task_id}, headers={"If-Match": if_match})

    def cancel_video_task(self, task_id: str) -> VideoTask:
        """Cancel a task that is not finished; once more does nothing."""
        return self._call("POST", "/service/ovms/api/tasks/{task_id}/cancel", path_values={"task_id": task_id})

    def get_video_file(self, task_id: str, *, range: str | None = None, if_none_match: str | None = None, if_range: str | None = None) -> bytes:
        """The video of a task that is done, as MP4."""
        return self._call("GET", "/service/ovms/api/tasks/file/{task_id}", path_values={"task_id": task_id}, headers={"Range": range, "If-None-Match": if_none_match, "If-Range": if_range})

    def delete_video_file(self, task_id: str) -> None:
        """Delete the video of a task that is done; the task stays in the list."""
        self._call("DELETE", "/service/ovms/api/tasks/file/{task_id}", path_values={"task_id": task_id})

    def get_video_storage(self) -> VideoStorage:
        """How much video is stored, and how much may be."""
        return self._call("GET", "/service/ovms/api/storage")

    def get_shared(self, token: str, *, if_none_match: str | None = None) -> Shared:
        """What a share link shows; its token is all that is needed."""
        return self._call("GET", "/s/{token}/data", path_values={"token": token}, headers={"If-None-Match": if_none_match})

    def get_index(self) -> Index:
        """Where to start: the paths of the documentation, the login and the live API."""
        return self._call("GET", "/api/v1")

    def get_liveness(self) -> Liveness:
        """Does the process answer?"""
        return self._call("GET", "/health/live")

    def get_readiness(self) -> Readiness:
        """Do its parts work?"""
        return self._call("GET", "/health/ready")

    def get_metrics(self) -> bytes:
        """What was counted and timed, as Prometheus reads it."""
        return self._call("GET", "/metrics")
