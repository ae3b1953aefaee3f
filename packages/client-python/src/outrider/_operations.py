# Generated from schemas/openapi.json by `npm run openapi`. Do not edit.
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from ._schema import *
from ._transport import Transport


class Operations(Transport):
    """Every operation of the API, as a method named after its operationId."""

    def login(self, *, body: Credentials, jwt: Literal["1"] | None = None) -> Token:
        """Log in: get a JWT, or begin a console session."""
        return self._call("POST", "/auth/login", query={"jwt": jwt}, body=body, content_type="application/json")

    def refresh(self, *, jwt: Literal["1"] | None = None, authorization_refresh: str | None = None) -> Token:
        """Refresh a JWT that has expired or is about to expire."""
        return self._call("POST", "/auth/refresh", query={"jwt": jwt}, headers={"Authorization-Refresh": authorization_refresh})

    def logout(self) -> None:
        """End the session. Its tokens are no longer accepted, not even for a refresh."""
        self._call("POST", "/auth/logout")

    def get_login_options(self) -> LoginOptions:
        """Get the ways to log in besides login and password."""
        return self._call("GET", "/auth/options")

    def jwks(self) -> KeySet:
        """Get the public keys with which tokens can be verified (RFC 7517)."""
        return self._call("GET", "/.well-known/jwks.json")

    def get_my_second_factor(self) -> SecondFactor:
        """Check whether the caller’s own account has a second factor."""
        return self._call("GET", "/api/v1/me/second-factor")

    def begin_second_factor(self, *, body: CurrentPassword) -> SecondFactorSecret:
        """Get a secret for an authenticator app (TOTP, RFC 6238)."""
        return self._call("POST", "/api/v1/me/second-factor", body=body, content_type="application/json")

    def confirm_second_factor(self, *, body: SecondFactorConfirmation) -> RecoveryCodes:
        """Enable the authenticator app, with a code that it made from the secret."""
        return self._call("POST", "/api/v1/me/second-factor/confirm", body=body, content_type="application/json")

    def renew_recovery_codes(self, *, body: CurrentPassword) -> RecoveryCodes:
        """Get new recovery codes. Earlier ones are no longer accepted."""
        return self._call("POST", "/api/v1/me/second-factor/recovery-codes", body=body, content_type="application/json")

    def disable_second_factor(self, *, body: CurrentPassword) -> None:
        """Remove the authenticator app. Without passkeys, logins then need only the password."""
        self._call("POST", "/api/v1/me/second-factor/disable", body=body, content_type="application/json")

    def get_second_factor(self, id: str) -> SecondFactor:
        """Check whether an account has a second factor."""
        return self._call("GET", "/api/v1/users/{id}/second-factor", path_values={"id": id})

    def remove_second_factor(self, id: str) -> None:
        """Remove the app, passkeys and recovery codes of an account whose user has lost them."""
        self._call("DELETE", "/api/v1/users/{id}/second-factor", path_values={"id": id})

    def begin_passkey_sign_in(self) -> PasskeyRequest:
        """Get a challenge to be signed by a passkey."""
        return self._call("POST", "/auth/passkey/options")

    def sign_in_by_passkey(self, *, body: SignedPasskey) -> None:
        """Begin a console session with a passkey alone."""
        self._call("POST", "/auth/passkey", body=body, content_type="application/json")

    def list_my_passkeys(self) -> Passkeys:
        """List the passkeys of the caller’s own account, in the order of their creation."""
        return self._call("GET", "/api/v1/me/passkeys")

    def add_passkey(self, *, body: NewPasskey) -> AddedPasskey:
        """Add the passkey that a browser created."""
        return self._call("POST", "/api/v1/me/passkeys", body=body, content_type="application/json")

    def begin_passkey(self, *, body: CurrentPassword) -> PasskeyOptions:
        """Get the options with which a browser creates a passkey."""
        return self._call("POST", "/api/v1/me/passkeys/options", body=body, content_type="application/json")

    def rename_passkey(self, id: str, *, body: PasskeyPatch) -> Passkey:
        """Rename a passkey."""
        return self._call("PATCH", "/api/v1/me/passkeys/{id}", path_values={"id": id}, body=body, content_type="application/merge-patch+json")

    def remove_passkey(self, id: str, *, body: CurrentPassword) -> None:
        """Remove a passkey, and end all other sessions of the account."""
        self._call("POST", "/api/v1/me/passkeys/{id}/remove", path_values={"id": id}, body=body, content_type="application/json")

    def get_my_open_id(self) -> OpenIdLink:
        """Get the OpenID Connect provider, and whether the caller’s own account is linked to it."""
        return self._call("GET", "/api/v1/me/openid")

    def link_my_open_id(self, *, body: CurrentPassword) -> OpenIdStart:
        """Begin to link the caller’s own account to an identity at the OpenID Connect provider."""
        return self._call("POST", "/api/v1/me/openid/link", body=body, content_type="application/json")

    def unlink_my_open_id(self, *, body: CurrentPassword) -> None:
        """Remove the link of the caller’s own account to the OpenID Connect provider."""
        self._call("POST", "/api/v1/me/openid/unlink", body=body, content_type="application/json")

    def request_password_reset(self, *, body: PasswordResetRequest) -> None:
        """Send a link to reset a forgotten password."""
        self._call("POST", "/auth/password-reset", body=body, content_type="application/json")

    def complete_password_reset(self, *, body: PasswordResetCompletion) -> None:
        """Set the password of an account with the token of an e-mailed link."""
        self._call("POST", "/auth/password-reset/complete", body=body, content_type="application/json")

    def get_email(self, id: str) -> AccountEmail:
        """Get the e-mail address for messages about an account, such as password resets."""
        return self._call("GET", "/api/v1/users/{id}/email", path_values={"id": id})

    def set_email(self, id: str, *, body: NewAccountEmail) -> None:
        """Set the e-mail address for messages about an account."""
        self._call("PUT", "/api/v1/users/{id}/email", path_values={"id": id}, body=body, content_type="application/json")

    def invite_user(self, id: str) -> None:
        """Invite the user of an account: send a link to choose a password."""
        self._call("POST", "/api/v1/users/{id}/invitation", path_values={"id": id})

    def get_me(self) -> User:
        """Get the caller’s own account."""
        return self._call("GET", "/api/v1/me")

    def change_me(self, *, body: MePatch) -> User:
        """Change the name of the caller’s own account."""
        return self._call("PATCH", "/api/v1/me", body=body, content_type="application/merge-patch+json")

    def change_my_password(self, *, body: PasswordChange) -> None:
        """Change the caller’s own password. All other sessions of the account end."""
        self._call("PUT", "/api/v1/me/password", body=body, content_type="application/json")

    def list_users(self, *, limit: int | None = None, cursor: str | None = None, q: str | None = None, sort: Literal["login", "name", "externalId", "-login", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None, role: Literal["operator", "dealer", "user"] | None = None, blocked: Literal["true", "false"] | None = None) -> ListUsersResult:
        """List accounts that the caller may see."""
        return self._call("GET", "/api/v1/users", query={"limit": limit, "cursor": cursor, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute, "role": role, "blocked": blocked})

    def all_users(self, *, limit: int | None = None, q: str | None = None, sort: Literal["login", "name", "externalId", "-login", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None, role: Literal["operator", "dealer", "user"] | None = None, blocked: Literal["true", "false"] | None = None) -> Iterator[User]:
        """Every item of `list_users`, page after page."""
        return self._items("GET", "/api/v1/users", query={"limit": limit, "cursor": None, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute, "role": role, "blocked": blocked})

    def add_user(self, *, body: NewUser, idempotency_key: str | None = None) -> User:
        """Add an account."""
        return self._call("POST", "/api/v1/users", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_user(self, id: str) -> User:
        """Get one account."""
        return self._call("GET", "/api/v1/users/{id}", path_values={"id": id})

    def change_user(self, id: str, *, body: UserPatch, if_match: str | None = None) -> User:
        """Change an account (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/users/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_user(self, id: str, *, if_match: str | None = None) -> None:
        """Delete an account with its sessions and geofences. Vehicles remain."""
        self._call("DELETE", "/api/v1/users/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def block_user(self, id: str) -> User:
        """Block an account, and with a dealer its users. Their tokens, sessions and live connections end at once."""
        return self._call("POST", "/api/v1/users/{id}/block", path_values={"id": id})

    def unblock_user(self, id: str) -> User:
        """Unblock an account, and with a dealer its users. A user stays blocked while the dealer is blocked."""
        return self._call("POST", "/api/v1/users/{id}/unblock", path_values={"id": id})

    def get_expiry(self, id: str) -> Expiry:
        """Get the time at which an account expires."""
        return self._call("GET", "/api/v1/users/{id}/expiry", path_values={"id": id})

    def set_expiry(self, id: str, *, body: NewExpiry) -> None:
        """Set the time at which an account expires."""
        self._call("PUT", "/api/v1/users/{id}/expiry", path_values={"id": id}, body=body, content_type="application/json")

    def get_fleet_retention(self, id: str) -> FleetRetention:
        """Get the retention of histories for the fleet of an account."""
        return self._call("GET", "/api/v1/users/{id}/retention", path_values={"id": id})

    def set_fleet_retention(self, id: str, *, body: FleetRetention) -> None:
        """Set the retention of histories for the fleet of a dealer or of the operator."""
        self._call("PUT", "/api/v1/users/{id}/retention", path_values={"id": id}, body=body, content_type="application/json")

    def grant_api_access(self, id: str) -> User:
        """Grant the right to use the API."""
        return self._call("PUT", "/api/v1/users/{id}/api-access", path_values={"id": id})

    def withdraw_api_access(self, id: str) -> User:
        """Withdraw the right to use the API."""
        return self._call("DELETE", "/api/v1/users/{id}/api-access", path_values={"id": id})

    def set_password(self, id: str, *, body: NewPassword) -> None:
        """Set another password for an account. All its sessions end."""
        self._call("PUT", "/api/v1/users/{id}/password", path_values={"id": id}, body=body, content_type="application/json")

    def list_sessions(self, id: str) -> ListSessionsResult:
        """List the sessions of an account, the last used first."""
        return self._call("GET", "/api/v1/users/{id}/sessions", path_values={"id": id})

    def end_sessions(self, id: str) -> None:
        """End all sessions of an account except the session of the call."""
        self._call("DELETE", "/api/v1/users/{id}/sessions", path_values={"id": id})

    def end_session(self, id: str, session_id: str) -> None:
        """End a session."""
        self._call("DELETE", "/api/v1/users/{id}/sessions/{sessionId}", path_values={"id": id, "sessionId": session_id})

    def list_api_keys(self, *, limit: int | None = None, cursor: str | None = None, user_id: str | None = None) -> ListApiKeysResult:
        """List API keys of the caller’s own account, in the order of their creation."""
        return self._call("GET", "/api/v1/api-keys", query={"limit": limit, "cursor": cursor, "userId": user_id})

    def all_api_keys(self, *, limit: int | None = None, user_id: str | None = None) -> Iterator[ApiKey]:
        """Every item of `list_api_keys`, page after page."""
        return self._items("GET", "/api/v1/api-keys", query={"limit": limit, "cursor": None, "userId": user_id})

    def add_api_key(self, *, body: NewApiKey, idempotency_key: str | None = None) -> CreatedApiKey:
        """Create an API key, with which programs act for the account."""
        return self._call("POST", "/api/v1/api-keys", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_api_key(self, id: str) -> ApiKey:
        """Get an API key, without its secret."""
        return self._call("GET", "/api/v1/api-keys/{id}", path_values={"id": id})

    def change_api_key(self, id: str, *, body: ApiKeyPatch, if_match: str | None = None) -> ApiKey:
        """Change the name, scopes, groups or expiry of an API key; its secret stays the same."""
        return self._call("PATCH", "/api/v1/api-keys/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_api_key(self, id: str, *, if_match: str | None = None) -> None:
        """Revoke an API key."""
        self._call("DELETE", "/api/v1/api-keys/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def list_message_channels(self) -> ListMessageChannelsResult:
        """List the message channels of the caller: chats, HTTP calls and browsers."""
        return self._call("GET", "/api/v1/me/message-channels")

    def add_message_channel(self, *, body: NewMessageChannel, idempotency_key: str | None = None) -> MessageChannel:
        """Add a Telegram chat, a call to any HTTP API such as that of an SMS gateway, or a browser."""
        return self._call("POST", "/api/v1/me/message-channels", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_push_key(self) -> PushKey:
        """Get the key with which a browser subscribes to push messages."""
        return self._call("GET", "/api/v1/me/push-key")

    def get_message_channel(self, id: str) -> MessageChannel:
        """Get a message channel."""
        return self._call("GET", "/api/v1/me/message-channels/{id}", path_values={"id": id})

    def change_message_channel(self, id: str, *, body: MessageChannelPatch) -> MessageChannel:
        """Change a message channel (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/me/message-channels/{id}", path_values={"id": id}, body=body, content_type="application/merge-patch+json")

    def delete_message_channel(self, id: str) -> None:
        """Delete a message channel, also from the rules that use it."""
        self._call("DELETE", "/api/v1/me/message-channels/{id}", path_values={"id": id})

    def confirm_message_channel(self, id: str, *, body: MessageChannelCode) -> MessageChannel:
        """Confirm a chat with the code that was sent to it."""
        return self._call("POST", "/api/v1/me/message-channels/{id}/confirm", path_values={"id": id}, body=body, content_type="application/json")

    def list_message_channel_tests(self, id: str) -> ListMessageChannelTestsResult:
        """List the test messages of the last hour with their results, newest first; at most 100."""
        return self._call("GET", "/api/v1/me/message-channels/{id}/tests", path_values={"id": id})

    def add_message_channel_test(self, id: str) -> MessageChannelTest:
        """Send a test message over a channel, or its code if it is not confirmed."""
        return self._call("POST", "/api/v1/me/message-channels/{id}/tests", path_values={"id": id})

    def get_my_preferences(self) -> Preferences:
        """Get the caller’s preferences for the console: language, time zone, units, theme and map."""
        return self._call("GET", "/api/v1/me/preferences")

    def change_my_preferences(self, *, body: PreferencesPatch) -> Preferences:
        """Change the caller’s preferences for the console (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/me/preferences", body=body, content_type="application/merge-patch+json")

    def get_my_quotas(self) -> Quotas:
        """Get the quotas of the caller’s own account, and their current use."""
        return self._call("GET", "/api/v1/me/quotas")

    def get_quotas(self, id: str) -> Quotas:
        """Get the quotas of an account, and their current use."""
        return self._call("GET", "/api/v1/users/{id}/quotas", path_values={"id": id})

    def set_quotas(self, id: str, *, body: QuotasPatch) -> Quotas:
        """Set quotas of an account (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/users/{id}/quotas", path_values={"id": id}, body=body, content_type="application/merge-patch+json")

    def list_audit(self, *, limit: int | None = None, cursor: str | None = None, from_: str | None = None, to: str | None = None, user_id: str | None = None, subject: str | None = None, action: Literal["created", "changed", "deleted", "blocked", "unblocked", "moved", "suspended", "resumed", "api-access-granted", "api-access-withdrawn", "password-changed", "password-reset", "email-changed", "invited", "second-factor-enabled", "second-factor-removed", "passkey-added", "passkey-removed", "sign-in-linked", "sign-in-unlinked", "recovery-codes-renewed", "recovery-code-used", "quotas-changed", "login", "login-failed", "logout", "session-ended", "token-reused", "recalculated", "history-imported", "history-erased", "person-exported", "report-requested", "erasure-cancelled", "erased", "tested", "replayed"] | None = None, kind: Literal["user", "vehicle", "group", "geofence", "notification-rule", "video-profile", "driver", "driver-assignment", "message-channel", "forwarding-destination", "report-schedule", "share-link", "api-key", "counter-correction", "custom-counter", "maintenance-plan", "service-record", "video-task", "command"] | None = None) -> ListAuditResult:
        """List the audit trail, newest first: who changed what, when, and from where."""
        return self._call("GET", "/api/v1/audit", query={"limit": limit, "cursor": cursor, "from": from_, "to": to, "userId": user_id, "subject": subject, "action": action, "kind": kind})

    def all_audit(self, *, limit: int | None = None, from_: str | None = None, to: str | None = None, user_id: str | None = None, subject: str | None = None, action: Literal["created", "changed", "deleted", "blocked", "unblocked", "moved", "suspended", "resumed", "api-access-granted", "api-access-withdrawn", "password-changed", "password-reset", "email-changed", "invited", "second-factor-enabled", "second-factor-removed", "passkey-added", "passkey-removed", "sign-in-linked", "sign-in-unlinked", "recovery-codes-renewed", "recovery-code-used", "quotas-changed", "login", "login-failed", "logout", "session-ended", "token-reused", "recalculated", "history-imported", "history-erased", "person-exported", "report-requested", "erasure-cancelled", "erased", "tested", "replayed"] | None = None, kind: Literal["user", "vehicle", "group", "geofence", "notification-rule", "video-profile", "driver", "driver-assignment", "message-channel", "forwarding-destination", "report-schedule", "share-link", "api-key", "counter-correction", "custom-counter", "maintenance-plan", "service-record", "video-task", "command"] | None = None) -> Iterator[AuditEntry]:
        """Every item of `list_audit`, page after page."""
        return self._items("GET", "/api/v1/audit", query={"limit": limit, "cursor": None, "from": from_, "to": to, "userId": user_id, "subject": subject, "action": action, "kind": kind})

    def list_vehicles(self, *, limit: int | None = None, cursor: str | None = None, q: str | None = None, sort: Literal["name", "plate", "terminalId", "externalId", "-name", "-plate", "-terminalId", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None, terminal_id: str | None = None, group_id: str | None = None, suspended: Literal["true", "false"] | None = None, state: Literal["moving", "parking", "idling", "offline", "unknown"] | None = None, protocol: Literal["learn", "any", "omnicomm", "teltonika", "wialon-ips", "osmand", "jt808", "gt06", "ruptela", "galileosky", "egts", "h02", "gps103", "meitrack", "queclink", "tk103", "suntech", "wialon-retranslator", "navtelecom", "owntracks", "flespi", "mqtt-json"] | None = None, dealer_id: str | None = None) -> ListVehiclesResult:
        """List vehicles that the caller may see."""
        return self._call("GET", "/api/v1/vehicles", query={"limit": limit, "cursor": cursor, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute, "terminalId": terminal_id, "groupId": group_id, "suspended": suspended, "state": state, "protocol": protocol, "dealerId": dealer_id})

    def all_vehicles(self, *, limit: int | None = None, q: str | None = None, sort: Literal["name", "plate", "terminalId", "externalId", "-name", "-plate", "-terminalId", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None, terminal_id: str | None = None, group_id: str | None = None, suspended: Literal["true", "false"] | None = None, state: Literal["moving", "parking", "idling", "offline", "unknown"] | None = None, protocol: Literal["learn", "any", "omnicomm", "teltonika", "wialon-ips", "osmand", "jt808", "gt06", "ruptela", "galileosky", "egts", "h02", "gps103", "meitrack", "queclink", "tk103", "suntech", "wialon-retranslator", "navtelecom", "owntracks", "flespi", "mqtt-json"] | None = None, dealer_id: str | None = None) -> Iterator[Vehicle]:
        """Every item of `list_vehicles`, page after page."""
        return self._items("GET", "/api/v1/vehicles", query={"limit": limit, "cursor": None, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute, "terminalId": terminal_id, "groupId": group_id, "suspended": suspended, "state": state, "protocol": protocol, "dealerId": dealer_id})

    def add_vehicle(self, *, body: NewVehicle, idempotency_key: str | None = None) -> Vehicle:
        """Add a vehicle profile. From then on, data of its terminal is accepted."""
        return self._call("POST", "/api/v1/vehicles", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def change_vehicles(self, *, body: VehiclesPatch, dry_run: Literal["true", "false"] | None = None) -> VehiclesChanged:
        """Make the same change to many vehicles (JSON merge patch): to all of them or to none."""
        return self._call("PATCH", "/api/v1/vehicles", query={"dryRun": dry_run}, body=body, content_type="application/merge-patch+json")

    def get_vehicle(self, id: str) -> Vehicle:
        """Get one vehicle."""
        return self._call("GET", "/api/v1/vehicles/{id}", path_values={"id": id})

    def change_vehicle(self, id: str, *, body: VehiclePatch, if_match: str | None = None) -> Vehicle:
        """Change a vehicle (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/vehicles/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_vehicle(self, id: str, *, if_match: str | None = None) -> None:
        """Delete a vehicle profile. From then on, data of its terminal is refused."""
        self._call("DELETE", "/api/v1/vehicles/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def suspend_vehicle(self, id: str, *, body: NewSuspension) -> Vehicle:
        """Suspend a vehicle: hide its data from everybody except operators."""
        return self._call("POST", "/api/v1/vehicles/{id}/suspend", path_values={"id": id}, body=body, content_type="application/json")

    def resume_vehicle(self, id: str) -> Vehicle:
        """Resume a suspended vehicle: show its data again, including what arrived meanwhile."""
        return self._call("POST", "/api/v1/vehicles/{id}/resume", path_values={"id": id})

    def get_vehicle_state(self, id: str) -> VehicleState:
        """Get the current state of a vehicle, with its last record and its last position."""
        return self._call("GET", "/api/v1/vehicles/{id}/state", path_values={"id": id})

    def get_rejected_positions(self, id: str) -> RejectedPositions:
        """Get the positions of a vehicle that were rejected in the last 24 hours, by reason."""
        return self._call("GET", "/api/v1/vehicles/{id}/rejected-positions", path_values={"id": id})

    def import_history(self, id: str, *, body: str | bytes) -> TakenHistory:
        """Import past positions of a vehicle."""
        return self._call("POST", "/api/v1/vehicles/{id}/history", path_values={"id": id}, body=body, content_type="text/csv")

    def erase_history(self, id: str, *, body: HistoryErasure, dry_run: Literal["true", "false"] | None = None, idempotency_key: str | None = None) -> ErasableHistory:
        """Permanently erase the history of a vehicle before a time."""
        return self._call("POST", "/api/v1/vehicles/{id}/history/erase", path_values={"id": id}, query={"dryRun": dry_run}, headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def export_user(self, id: str, *, idempotency_key: str | None = None) -> PersonExportJob:
        """Export all data about an account to a file."""
        return self._call("POST", "/api/v1/users/{id}/export", path_values={"id": id}, headers={"Idempotency-Key": idempotency_key})

    def export_driver(self, id: str, *, idempotency_key: str | None = None) -> PersonExportJob:
        """Export all data about a driver to a file."""
        return self._call("POST", "/api/v1/drivers/{id}/export", path_values={"id": id}, headers={"Idempotency-Key": idempotency_key})

    def get_person_export(self, id: str, *, range: str | None = None, if_none_match: str | None = None, if_range: str | None = None) -> GetPersonExportResult:
        """Download the file of a finished export; only for the account that requested it."""
        return self._call("GET", "/api/v1/person-exports/{id}/file", path_values={"id": id}, headers={"Range": range, "If-None-Match": if_none_match, "If-Range": if_range})

    def export_sensors(self, *, group_id: str | None = None, excel: Literal["true", "false"] | None = None) -> bytes:
        """Export the sensors of all vehicles that the caller may see as CSV (RFC 4180)."""
        return self._call("GET", "/api/v1/vehicles/sensors/export", query={"groupId": group_id, "excel": excel})

    def import_sensors(self, *, body: str | bytes, dry_run: Literal["true", "false"] | None = None) -> SensorImport:
        """Add and change sensors of many vehicles from a CSV: all of them or none."""
        return self._call("POST", "/api/v1/vehicles/sensors/import", query={"dryRun": dry_run}, body=body, content_type="text/csv")

    def list_sensor_presets(self) -> SensorPresets:
        """List presets for the sensors that terminals usually have, by family."""
        return self._call("GET", "/api/v1/sensor-presets")

    def list_sensors(self) -> SensorList:
        """List the names of the sensors of the vehicles that the caller may see."""
        return self._call("GET", "/api/v1/sensors")

    def try_sensor(self, id: str, *, body: SensorTrialTerms) -> SensorTrial:
        """Compute the values that a sensor would have had for the last records of the vehicle."""
        return self._call("POST", "/api/v1/vehicles/{id}/sensor-trial", path_values={"id": id}, body=body, content_type="application/json")

    def list_command_types(self, id: str) -> CommandTypes:
        """List the commands that the vehicle’s terminal supports and the caller may send."""
        return self._call("GET", "/api/v1/vehicles/{id}/command-types", path_values={"id": id})

    def list_commands(self, id: str, *, limit: int | None = None, cursor: str | None = None, state: Literal["queued", "sent", "acknowledged", "refused", "expired", "unanswered", "cancelled"] | None = None) -> ListCommandsResult:
        """List the commands to the vehicle’s terminal, the newest first."""
        return self._call("GET", "/api/v1/vehicles/{id}/commands", path_values={"id": id}, query={"limit": limit, "cursor": cursor, "state": state})

    def all_commands(self, id: str, *, limit: int | None = None, state: Literal["queued", "sent", "acknowledged", "refused", "expired", "unanswered", "cancelled"] | None = None) -> Iterator[Command]:
        """Every item of `list_commands`, page after page."""
        return self._items("GET", "/api/v1/vehicles/{id}/commands", path_values={"id": id}, query={"limit": limit, "cursor": None, "state": state})

    def add_command(self, id: str, *, body: NewCommand, idempotency_key: str | None = None) -> Command:
        """Send a command to the vehicle’s terminal."""
        return self._call("POST", "/api/v1/vehicles/{id}/commands", path_values={"id": id}, headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_command(self, id: str, command_id: str) -> Command:
        """Get a command with its current state."""
        return self._call("GET", "/api/v1/vehicles/{id}/commands/{command_id}", path_values={"id": id, "command_id": command_id})

    def cancel_command(self, id: str, command_id: str) -> None:
        """Cancel a command that was not sent yet."""
        self._call("DELETE", "/api/v1/vehicles/{id}/commands/{command_id}", path_values={"id": id, "command_id": command_id})

    def list_terminal_protocols(self) -> TerminalProtocols:
        """List the protocols of terminals, with the ports to connect to and how to set up a terminal."""
        return self._call("GET", "/api/v1/terminal-protocols")

    def list_unknown_terminals(self, *, limit: int | None = None, cursor: str | None = None) -> ListUnknownTerminalsResult:
        """List terminals and devices that were refused, the most recently seen first."""
        return self._call("GET", "/api/v1/unknown-terminals", query={"limit": limit, "cursor": cursor})

    def all_unknown_terminals(self, *, limit: int | None = None) -> Iterator[UnknownTerminal]:
        """Every item of `list_unknown_terminals`, page after page."""
        return self._items("GET", "/api/v1/unknown-terminals", query={"limit": limit, "cursor": None})

    def export_vehicles(self, *, group_id: str | None = None, excel: Literal["true", "false"] | None = None) -> bytes:
        """Export all vehicles that the caller may see as CSV (RFC 4180)."""
        return self._call("GET", "/api/v1/vehicles/export", query={"groupId": group_id, "excel": excel})

    def import_vehicles(self, *, body: str | bytes, dry_run: Literal["true", "false"] | None = None) -> VehicleImport:
        """Add and change many vehicles from a CSV: all of them or none."""
        return self._call("POST", "/api/v1/vehicles/import", query={"dryRun": dry_run}, body=body, content_type="text/csv")

    def list_vehicle_groups(self, *, limit: int | None = None, cursor: str | None = None, q: str | None = None, sort: Literal["name", "externalId", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None) -> ListVehicleGroupsResult:
        """List groups that the caller may see."""
        return self._call("GET", "/api/v1/vehicle-groups", query={"limit": limit, "cursor": cursor, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute})

    def all_vehicle_groups(self, *, limit: int | None = None, q: str | None = None, sort: Literal["name", "externalId", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None) -> Iterator[VehicleGroup]:
        """Every item of `list_vehicle_groups`, page after page."""
        return self._items("GET", "/api/v1/vehicle-groups", query={"limit": limit, "cursor": None, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute})

    def add_vehicle_group(self, *, body: NewVehicleGroup, idempotency_key: str | None = None) -> VehicleGroup:
        """Add a group."""
        return self._call("POST", "/api/v1/vehicle-groups", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_vehicle_group(self, id: str) -> VehicleGroup:
        """Get one group."""
        return self._call("GET", "/api/v1/vehicle-groups/{id}", path_values={"id": id})

    def change_vehicle_group(self, id: str, *, body: VehicleGroupPatch, if_match: str | None = None) -> VehicleGroup:
        """Change a group (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/vehicle-groups/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_vehicle_group(self, id: str, *, if_match: str | None = None) -> None:
        """Delete a group, and remove it from all vehicles, accounts and geozones that name it."""
        self._call("DELETE", "/api/v1/vehicle-groups/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def list_vehicles_of_group(self, id: str, *, limit: int | None = None, cursor: str | None = None) -> ListVehiclesOfGroupResult:
        """List the vehicles in the group."""
        return self._call("GET", "/api/v1/vehicle-groups/{id}/vehicles", path_values={"id": id}, query={"limit": limit, "cursor": cursor})

    def all_vehicles_of_group(self, id: str, *, limit: int | None = None) -> Iterator[Vehicle]:
        """Every item of `list_vehicles_of_group`, page after page."""
        return self._items("GET", "/api/v1/vehicle-groups/{id}/vehicles", path_values={"id": id}, query={"limit": limit, "cursor": None})

    def change_vehicles_of_group(self, id: str, *, body: VehiclesOfGroupPatch, dry_run: Literal["true", "false"] | None = None) -> MembersChanged:
        """Add vehicles to the group and remove others: all of them or none."""
        return self._call("PATCH", "/api/v1/vehicle-groups/{id}/vehicles", path_values={"id": id}, query={"dryRun": dry_run}, body=body, content_type="application/merge-patch+json")

    def list_users_of_group(self, id: str, *, limit: int | None = None, cursor: str | None = None) -> ListUsersOfGroupResult:
        """List the accounts with access to the group that the caller may see."""
        return self._call("GET", "/api/v1/vehicle-groups/{id}/users", path_values={"id": id}, query={"limit": limit, "cursor": cursor})

    def all_users_of_group(self, id: str, *, limit: int | None = None) -> Iterator[User]:
        """Every item of `list_users_of_group`, page after page."""
        return self._items("GET", "/api/v1/vehicle-groups/{id}/users", path_values={"id": id}, query={"limit": limit, "cursor": None})

    def change_users_of_group(self, id: str, *, body: UsersOfGroupPatch, dry_run: Literal["true", "false"] | None = None) -> MembersChanged:
        """Grant accounts access to the group and revoke it from others: all of them or none."""
        return self._call("PATCH", "/api/v1/vehicle-groups/{id}/users", path_values={"id": id}, query={"dryRun": dry_run}, body=body, content_type="application/merge-patch+json")

    def put_vehicle_in_group(self, id: str, vehicle_id: str) -> None:
        """Add a vehicle to the group."""
        self._call("PUT", "/api/v1/vehicle-groups/{id}/vehicles/{vehicleId}", path_values={"id": id, "vehicleId": vehicle_id})

    def take_vehicle_from_group(self, id: str, vehicle_id: str) -> None:
        """Remove a vehicle from the group."""
        self._call("DELETE", "/api/v1/vehicle-groups/{id}/vehicles/{vehicleId}", path_values={"id": id, "vehicleId": vehicle_id})

    def grant_group_access(self, id: str, user_id: str) -> None:
        """Grant an account access to the group."""
        self._call("PUT", "/api/v1/vehicle-groups/{id}/users/{userId}", path_values={"id": id, "userId": user_id})

    def withdraw_group_access(self, id: str, user_id: str) -> None:
        """Revoke an account’s access to the group."""
        self._call("DELETE", "/api/v1/vehicle-groups/{id}/users/{userId}", path_values={"id": id, "userId": user_id})

    def move_vehicles(self, *, body: VehiclesMove) -> VehiclesMoved:
        """Move vehicles to another dealer: all of them or none."""
        return self._call("POST", "/api/v1/vehicles/move", body=body, content_type="application/json")

    def list_share_links(self, *, limit: int | None = None, cursor: str | None = None, own: Literal["true", "false"] | None = None) -> ListShareLinksResult:
        """List share links: the caller’s own, for dealers also those of their users, for operators all."""
        return self._call("GET", "/api/v1/share-links", query={"limit": limit, "cursor": cursor, "own": own})

    def all_share_links(self, *, limit: int | None = None, own: Literal["true", "false"] | None = None) -> Iterator[ShareLink]:
        """Every item of `list_share_links`, page after page."""
        return self._items("GET", "/api/v1/share-links", query={"limit": limit, "cursor": None, "own": own})

    def add_share_link(self, *, body: NewShareLink) -> CreatedShareLink:
        """Add a share link, which shows vehicles to anyone who has it, without a login."""
        return self._call("POST", "/api/v1/share-links", body=body, content_type="application/json")

    def get_share_link(self, id: str) -> ShareLink:
        """Get a share link, without its token."""
        return self._call("GET", "/api/v1/share-links/{id}", path_values={"id": id})

    def delete_share_link(self, id: str) -> None:
        """Revoke a share link. From then on, it shows nothing."""
        self._call("DELETE", "/api/v1/share-links/{id}", path_values={"id": id})

    def export_drivers(self, *, excel: Literal["true", "false"] | None = None) -> bytes:
        """Export all drivers that the caller may see as CSV (RFC 4180)."""
        return self._call("GET", "/api/v1/drivers/export", query={"excel": excel})

    def import_drivers(self, *, body: str | bytes, dry_run: Literal["true", "false"] | None = None) -> DriverImport:
        """Add and change many drivers from a CSV: all of them or none."""
        return self._call("POST", "/api/v1/drivers/import", query={"dryRun": dry_run}, body=body, content_type="text/csv")

    def list_drivers(self, *, limit: int | None = None, cursor: str | None = None, q: str | None = None, sort: Literal["name", "externalId", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None, group_id: str | None = None, licence: Literal["valid", "expires-soon", "expired", "unknown"] | None = None) -> ListDriversResult:
        """List drivers that the caller may see."""
        return self._call("GET", "/api/v1/drivers", query={"limit": limit, "cursor": cursor, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute, "groupId": group_id, "licence": licence})

    def all_drivers(self, *, limit: int | None = None, q: str | None = None, sort: Literal["name", "externalId", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None, group_id: str | None = None, licence: Literal["valid", "expires-soon", "expired", "unknown"] | None = None) -> Iterator[Driver]:
        """Every item of `list_drivers`, page after page."""
        return self._items("GET", "/api/v1/drivers", query={"limit": limit, "cursor": None, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute, "groupId": group_id, "licence": licence})

    def add_driver(self, *, body: NewDriver, idempotency_key: str | None = None) -> Driver:
        """Add a driver."""
        return self._call("POST", "/api/v1/drivers", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_driver(self, id: str) -> Driver:
        """Get one driver."""
        return self._call("GET", "/api/v1/drivers/{id}", path_values={"id": id})

    def change_driver(self, id: str, *, body: DriverPatch, if_match: str | None = None) -> Driver:
        """Change a driver (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/drivers/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_driver(self, id: str, *, if_match: str | None = None) -> None:
        """Delete a driver with all personal data."""
        self._call("DELETE", "/api/v1/drivers/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def list_unknown_driver_codes(self) -> UnknownDriverCodes:
        """List driver codes of the last 31 days that no driver has or had."""
        return self._call("GET", "/api/v1/unknown-driver-codes")

    def list_driver_assignments(self, *, vehicle_id: str | None = None, driver_id: str | None = None, from_: str | None = None, to: str | None = None) -> DriverAssignments:
        """List assignments of drivers to vehicles, the newest first."""
        return self._call("GET", "/api/v1/driver-assignments", query={"vehicleId": vehicle_id, "driverId": driver_id, "from": from_, "to": to})

    def add_driver_assignment(self, *, body: NewDriverAssignment, idempotency_key: str | None = None) -> DriverAssignment:
        """Assign a driver to a vehicle for a past or future interval."""
        return self._call("POST", "/api/v1/driver-assignments", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def change_driver_assignment(self, id: str, *, body: DriverAssignmentPatch) -> DriverAssignment:
        """Change the end of an assignment."""
        return self._call("PATCH", "/api/v1/driver-assignments/{id}", path_values={"id": id}, body=body, content_type="application/merge-patch+json")

    def delete_driver_assignment(self, id: str) -> None:
        """Delete an assignment, as if it had never been made."""
        self._call("DELETE", "/api/v1/driver-assignments/{id}", path_values={"id": id})

    def import_maintenance_plans(self, *, body: str | bytes, dry_run: Literal["true", "false"] | None = None) -> MaintenancePlanImport:
        """Add many maintenance plans from a CSV: all of them or none."""
        return self._call("POST", "/api/v1/maintenance-plans/import", query={"dryRun": dry_run}, body=body, content_type="text/csv")

    def import_counter_readings(self, *, body: str | bytes, dry_run: Literal["true", "false"] | None = None) -> CounterReadingImport:
        """Set counters of many vehicles from a CSV: all of them or none."""
        return self._call("POST", "/api/v1/counter-corrections/import", query={"dryRun": dry_run}, body=body, content_type="text/csv")

    def get_counters(self, id: str) -> VehicleCounters:
        """Get the odometer, engine hours and custom counters of a vehicle, with their corrections."""
        return self._call("GET", "/api/v1/vehicles/{id}/counters", path_values={"id": id})

    def add_counter(self, id: str, *, body: NewCustomCounter, idempotency_key: str | None = None) -> CustomCounter:
        """Add a custom counter to a vehicle."""
        return self._call("POST", "/api/v1/vehicles/{id}/counters", path_values={"id": id}, headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_counter(self, id: str, counter_id: str) -> CustomCounter:
        """Get a custom counter of a vehicle."""
        return self._call("GET", "/api/v1/vehicles/{id}/counters/{counterId}", path_values={"id": id, "counterId": counter_id})

    def change_counter(self, id: str, counter_id: str, *, body: CustomCounterPatch, if_match: str | None = None) -> CustomCounter:
        """Change a custom counter. What was counted before the change is kept."""
        return self._call("PATCH", "/api/v1/vehicles/{id}/counters/{counterId}", path_values={"id": id, "counterId": counter_id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_counter(self, id: str, counter_id: str, *, if_match: str | None = None) -> None:
        """Delete a custom counter, with its corrections."""
        self._call("DELETE", "/api/v1/vehicles/{id}/counters/{counterId}", path_values={"id": id, "counterId": counter_id}, headers={"If-Match": if_match})

    def correct_counter(self, id: str, *, body: NewCounterCorrection, idempotency_key: str | None = None) -> CounterCorrection:
        """Set the value of a counter of a vehicle at a time. The counter continues from there."""
        return self._call("POST", "/api/v1/vehicles/{id}/counter-corrections", path_values={"id": id}, headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def delete_counter_correction(self, id: str, correction_id: str) -> None:
        """Delete a correction. The counter then has the value that it would have without it."""
        self._call("DELETE", "/api/v1/vehicles/{id}/counter-corrections/{correctionId}", path_values={"id": id, "correctionId": correction_id})

    def list_maintenance(self, *, vehicle_id: str | None = None, plan_id: str | None = None, stage: Literal["ok", "warning", "due"] | None = None, limit: int | None = None) -> MaintenanceList:
        """List the state of maintenance plans, vehicle by vehicle, the most urgent first."""
        return self._call("GET", "/api/v1/maintenance", query={"vehicleId": vehicle_id, "planId": plan_id, "stage": stage, "limit": limit})

    def list_maintenance_plans(self, *, limit: int | None = None, cursor: str | None = None) -> ListMaintenancePlansResult:
        """List maintenance plans of the vehicles and groups that the caller may see."""
        return self._call("GET", "/api/v1/maintenance-plans", query={"limit": limit, "cursor": cursor})

    def all_maintenance_plans(self, *, limit: int | None = None) -> Iterator[MaintenancePlan]:
        """Every item of `list_maintenance_plans`, page after page."""
        return self._items("GET", "/api/v1/maintenance-plans", query={"limit": limit, "cursor": None})

    def add_maintenance_plan(self, *, body: NewMaintenancePlan, idempotency_key: str | None = None) -> MaintenancePlan:
        """Add a maintenance plan for a vehicle, or for each vehicle of a group."""
        return self._call("POST", "/api/v1/maintenance-plans", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_maintenance_plan(self, id: str) -> MaintenancePlan:
        """Get one maintenance plan."""
        return self._call("GET", "/api/v1/maintenance-plans/{id}", path_values={"id": id})

    def change_maintenance_plan(self, id: str, *, body: MaintenancePlanPatch, if_match: str | None = None) -> MaintenancePlan:
        """Change a maintenance plan."""
        return self._call("PATCH", "/api/v1/maintenance-plans/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_maintenance_plan(self, id: str, *, if_match: str | None = None) -> None:
        """Delete a maintenance plan. Its service records are kept."""
        self._call("DELETE", "/api/v1/maintenance-plans/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def list_service_records(self, id: str, *, limit: int | None = None, cursor: str | None = None) -> ListServiceRecordsResult:
        """List the service records of a vehicle, the most recently added first."""
        return self._call("GET", "/api/v1/vehicles/{id}/service-records", path_values={"id": id}, query={"limit": limit, "cursor": cursor})

    def all_service_records(self, id: str, *, limit: int | None = None) -> Iterator[ServiceRecord]:
        """Every item of `list_service_records`, page after page."""
        return self._items("GET", "/api/v1/vehicles/{id}/service-records", path_values={"id": id}, query={"limit": limit, "cursor": None})

    def add_service_record(self, id: str, *, body: NewServiceRecord, idempotency_key: str | None = None) -> ServiceRecord:
        """Record a service of a vehicle. Its plan is then counted from this service on."""
        return self._call("POST", "/api/v1/vehicles/{id}/service-records", path_values={"id": id}, headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def delete_service_record(self, id: str, record_id: str) -> None:
        """Delete a service record. Its plan is then counted as if the service had not been done."""
        self._call("DELETE", "/api/v1/vehicles/{id}/service-records/{recordId}", path_values={"id": id, "recordId": record_id})

    def add_service_file(self, id: str, record_id: str, *, body: NewServiceFile, idempotency_key: str | None = None) -> ServiceFile:
        """Attach a file to a service record, such as an invoice or a photo."""
        return self._call("POST", "/api/v1/vehicles/{id}/service-records/{recordId}/files", path_values={"id": id, "recordId": record_id}, headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_service_file(self, id: str, record_id: str, file_id: str, *, range: str | None = None, if_none_match: str | None = None, if_range: str | None = None) -> bytes:
        """Get a file of a service record."""
        return self._call("GET", "/api/v1/vehicles/{id}/service-records/{recordId}/files/{fileId}", path_values={"id": id, "recordId": record_id, "fileId": file_id}, headers={"Range": range, "If-None-Match": if_none_match, "If-Range": if_range})

    def delete_service_file(self, id: str, record_id: str, file_id: str) -> None:
        """Delete a file of a service record."""
        self._call("DELETE", "/api/v1/vehicles/{id}/service-records/{recordId}/files/{fileId}", path_values={"id": id, "recordId": record_id, "fileId": file_id})

    def list_geozones(self, *, limit: int | None = None, cursor: str | None = None, q: str | None = None, sort: Literal["name", "externalId", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None) -> ListGeozonesResult:
        """List geozones that the caller may see."""
        return self._call("GET", "/api/v1/geozones", query={"limit": limit, "cursor": cursor, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute})

    def all_geozones(self, *, limit: int | None = None, q: str | None = None, sort: Literal["name", "externalId", "-name", "-externalId"] | None = None, external_id: str | None = None, attribute: str | Sequence[str] | None = None) -> Iterator[Geozone]:
        """Every item of `list_geozones`, page after page."""
        return self._items("GET", "/api/v1/geozones", query={"limit": limit, "cursor": None, "q": q, "sort": sort, "externalId": external_id, "attribute": attribute})

    def add_geozone(self, *, body: NewGeozone, idempotency_key: str | None = None) -> Geozone:
        """Add a geozone, which belongs to the caller and watches vehicles that the caller may see."""
        return self._call("POST", "/api/v1/geozones", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_geozone(self, id: str) -> Geozone:
        """Get one geozone."""
        return self._call("GET", "/api/v1/geozones/{id}", path_values={"id": id})

    def change_geozone(self, id: str, *, body: GeozonePatch, if_match: str | None = None) -> Geozone:
        """Change a geozone (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/geozones/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_geozone(self, id: str, *, if_match: str | None = None) -> None:
        """Delete a geozone. Open visits to it end."""
        self._call("DELETE", "/api/v1/geozones/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def export_geozones(self, *, all: Literal["true", "false"] | None = None, format: Literal["geojson", "kml", "csv"] | None = None) -> GeozoneCollection:
        """Export all geozones of the caller as one GeoJSON FeatureCollection (RFC 7946), as KML or as CSV."""
        return self._call("GET", "/api/v1/geozones/export", query={"all": all, "format": format})

    def import_geozones(self, *, body: NewGeozoneCollection, dry_run: Literal["true", "false"] | None = None) -> GeozoneImport:
        """Add and change many geozones from a GeoJSON FeatureCollection: all of them or none."""
        return self._call("POST", "/api/v1/geozones/import", query={"dryRun": dry_run}, body=body, content_type="application/geo+json")

    def read_geozone_file(self, *, body: str | bytes, format: Literal["geojson", "kml", "gpx"], name: str | None = None, radius_m: float | None = None, width_m: float | None = None) -> GeozoneFile:
        """Read the shapes of a file as features for the import, without changing anything."""
        return self._call("POST", "/api/v1/geozones/read-file", query={"format": format, "name": name, "radiusM": radius_m, "widthM": width_m}, body=body, content_type="application/octet-stream")

    def import_geozone_file(self, *, body: str | bytes, format: Literal["geojson", "kml", "gpx"], name: str | None = None, radius_m: float | None = None, width_m: float | None = None, dry_run: Literal["true", "false"] | None = None) -> GeozoneFileImport:
        """Add and change many geozones from a file of another program: all of them or none."""
        return self._call("POST", "/api/v1/geozones/import-file", query={"format": format, "name": name, "radiusM": radius_m, "widthM": width_m, "dryRun": dry_run}, body=body, content_type="application/octet-stream")

    def name_place(self, *, latitude: str, longitude: str) -> PlaceAnswer:
        """Get the name of a place."""
        return self._call("GET", "/api/v1/place", query={"latitude": latitude, "longitude": longitude})

    def list_notification_rules(self, *, limit: int | None = None, cursor: str | None = None, owner_id: str | None = None) -> ListNotificationRulesResult:
        """List the notification rules of the caller; for operators, those of all accounts."""
        return self._call("GET", "/api/v1/notification-rules", query={"limit": limit, "cursor": cursor, "ownerId": owner_id})

    def all_notification_rules(self, *, limit: int | None = None, owner_id: str | None = None) -> Iterator[NotificationRule]:
        """Every item of `list_notification_rules`, page after page."""
        return self._items("GET", "/api/v1/notification-rules", query={"limit": limit, "cursor": None, "ownerId": owner_id})

    def add_notification_rule(self, *, body: NewNotificationRule, idempotency_key: str | None = None) -> NotificationRuleAsSet:
        """Add a notification rule."""
        return self._call("POST", "/api/v1/notification-rules", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_notification_rule(self, id: str) -> NotificationRule:
        """Get one rule."""
        return self._call("GET", "/api/v1/notification-rules/{id}", path_values={"id": id})

    def change_notification_rule(self, id: str, *, body: NotificationRulePatch, if_match: str | None = None) -> NotificationRuleAsSet:
        """Change a notification rule (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/notification-rules/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_notification_rule(self, id: str, *, if_match: str | None = None) -> None:
        """Delete a notification rule. Its notifications stay in the inbox."""
        self._call("DELETE", "/api/v1/notification-rules/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def test_notification_rule(self, id: str) -> NotificationRuleTrial:
        """Test a notification rule against the events of the last week."""
        return self._call("POST", "/api/v1/notification-rules/{id}/test", path_values={"id": id})

    def test_notification_rule_draft(self, *, body: NotificationRuleDraft) -> NotificationRuleTrial:
        """Test a rule that is not saved against the events of the last week."""
        return self._call("POST", "/api/v1/notification-rules/test", body=body, content_type="application/json")

    def preview_notification_message(self, *, body: MessagePreviewRequest) -> MessagePreview:
        """Preview the message of a rule, with an example event."""
        return self._call("POST", "/api/v1/notification-rules/preview", body=body, content_type="application/json")

    def list_channel_tests(self, id: str) -> ListChannelTestsResult:
        """List the caller’s test messages of the last hour with their results, newest first; at most 100."""
        return self._call("GET", "/api/v1/notification-rules/{id}/channel-tests", path_values={"id": id})

    def add_channel_test(self, id: str, *, body: NewChannelTest) -> ChannelTest:
        """Send a test message over a channel of a notification rule."""
        return self._call("POST", "/api/v1/notification-rules/{id}/channel-tests", path_values={"id": id}, body=body, content_type="application/json")

    def list_notifications(self, *, limit: int | None = None, cursor: str | None = None, from_: str | None = None, to: str | None = None, unread: Literal["true", "false"] | None = None, kind: Literal["geofence-visit", "speeding", "trip", "parking", "idling", "ignition", "alarm", "power-cut", "offline", "maintenance-due", "driver-shift", "refuelling", "fuel-drain", "sensor-threshold", "harsh-driving", "licence-expiry"] | None = None, vehicle_id: str | None = None, rule_id: str | None = None) -> ListNotificationsResult:
        """List the notifications of the caller, newest first."""
        return self._call("GET", "/api/v1/notifications", query={"limit": limit, "cursor": cursor, "from": from_, "to": to, "unread": unread, "kind": kind, "vehicleId": vehicle_id, "ruleId": rule_id})

    def all_notifications(self, *, limit: int | None = None, from_: str | None = None, to: str | None = None, unread: Literal["true", "false"] | None = None, kind: Literal["geofence-visit", "speeding", "trip", "parking", "idling", "ignition", "alarm", "power-cut", "offline", "maintenance-due", "driver-shift", "refuelling", "fuel-drain", "sensor-threshold", "harsh-driving", "licence-expiry"] | None = None, vehicle_id: str | None = None, rule_id: str | None = None) -> Iterator[Notification]:
        """Every item of `list_notifications`, page after page."""
        return self._items("GET", "/api/v1/notifications", query={"limit": limit, "cursor": None, "from": from_, "to": to, "unread": unread, "kind": kind, "vehicleId": vehicle_id, "ruleId": rule_id})

    def read_notification(self, id: str) -> Notification:
        """Mark a notification as read."""
        return self._call("POST", "/api/v1/notifications/{id}/read", path_values={"id": id})

    def read_all_notifications(self, *, up_to: int | None = None) -> NotificationsMarked:
        """Mark all notifications as read."""
        return self._call("POST", "/api/v1/notifications/read-all", query={"upTo": up_to})

    def list_webhook_deliveries(self, *, limit: int | None = None, cursor: str | None = None, from_: str | None = None, to: str | None = None, channel: Literal["email", "webhook", "telegram", "http", "web-push", "any"] | None = None, state: Literal["pending", "delivered", "failed", "cancelled"] | None = None, rule_id: str | None = None) -> ListWebhookDeliveriesResult:
        """List the deliveries of the caller’s notifications, newest first."""
        return self._call("GET", "/api/v1/webhook-deliveries", query={"limit": limit, "cursor": cursor, "from": from_, "to": to, "channel": channel, "state": state, "ruleId": rule_id})

    def all_webhook_deliveries(self, *, limit: int | None = None, from_: str | None = None, to: str | None = None, channel: Literal["email", "webhook", "telegram", "http", "web-push", "any"] | None = None, state: Literal["pending", "delivered", "failed", "cancelled"] | None = None, rule_id: str | None = None) -> Iterator[Delivery]:
        """Every item of `list_webhook_deliveries`, page after page."""
        return self._items("GET", "/api/v1/webhook-deliveries", query={"limit": limit, "cursor": None, "from": from_, "to": to, "channel": channel, "state": state, "ruleId": rule_id})

    def resend_webhook_delivery(self, id: str) -> Delivery:
        """Send a delivery again."""
        return self._call("POST", "/api/v1/webhook-deliveries/{id}/resend", path_values={"id": id})

    def list_incidents(self, *, limit: int | None = None, cursor: str | None = None, from_: str | None = None, to: str | None = None, state: Literal["open", "acknowledged", "closed", "active"] | None = None, severity: Literal["warning", "critical"] | None = None, vehicle_id: str | None = None, assignee_id: str | None = None) -> ListIncidentsResult:
        """List the incidents that the caller can handle, newest first."""
        return self._call("GET", "/api/v1/incidents", query={"limit": limit, "cursor": cursor, "from": from_, "to": to, "state": state, "severity": severity, "vehicleId": vehicle_id, "assigneeId": assignee_id})

    def all_incidents(self, *, limit: int | None = None, from_: str | None = None, to: str | None = None, state: Literal["open", "acknowledged", "closed", "active"] | None = None, severity: Literal["warning", "critical"] | None = None, vehicle_id: str | None = None, assignee_id: str | None = None) -> Iterator[Incident]:
        """Every item of `list_incidents`, page after page."""
        return self._items("GET", "/api/v1/incidents", query={"limit": limit, "cursor": None, "from": from_, "to": to, "state": state, "severity": severity, "vehicleId": vehicle_id, "assigneeId": assignee_id})

    def get_incident(self, id: str) -> IncidentWithEntries:
        """Get an incident, with its history."""
        return self._call("GET", "/api/v1/incidents/{id}", path_values={"id": id})

    def add_incident_entry(self, id: str, *, body: NewIncidentEntry, idempotency_key: str | None = None) -> IncidentWithEntries:
        """Acknowledge, assign, comment on, escalate or close an incident."""
        return self._call("POST", "/api/v1/incidents/{id}/entries", path_values={"id": id}, headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def list_incident_assignees(self, id: str, *, limit: int | None = None, cursor: str | None = None, q: str | None = None) -> ListIncidentAssigneesResult:
        """List the accounts that can see an incident and therefore be assigned to it, by name."""
        return self._call("GET", "/api/v1/incidents/{id}/assignees", path_values={"id": id}, query={"limit": limit, "cursor": cursor, "q": q})

    def all_incident_assignees(self, id: str, *, limit: int | None = None, q: str | None = None) -> Iterator[Colleague]:
        """Every item of `list_incident_assignees`, page after page."""
        return self._items("GET", "/api/v1/incidents/{id}/assignees", path_values={"id": id}, query={"limit": limit, "cursor": None, "q": q})

    def follow_events(self, *, cursor: str | None = None, from_: str | None = None, limit: int | None = None, wait_seconds: int | None = None, last_event_id: str | None = None) -> FollowEventsResult:
        """Follow all events after a cursor, including late and recalculated ones."""
        return self._call("GET", "/api/v1/feed/events", query={"cursor": cursor, "from": from_, "limit": limit, "waitSeconds": wait_seconds}, headers={"Last-Event-ID": last_event_id})

    def all_follow_events(self, *, from_: str | None = None, limit: int | None = None, wait_seconds: int | None = None, last_event_id: str | None = None) -> Iterator[FeedEvent]:
        """Every item of `follow_events`, page after page."""
        return self._items("GET", "/api/v1/feed/events", query={"cursor": None, "from": from_, "limit": limit, "waitSeconds": wait_seconds}, headers={"Last-Event-ID": last_event_id})

    def follow_positions(self, *, cursor: str | None = None, from_: str | None = None, limit: int | None = None, wait_seconds: int | None = None, last_event_id: str | None = None) -> FollowPositionsResult:
        """Follow all positions after a cursor, in the order of their arrival."""
        return self._call("GET", "/api/v1/feed/positions", query={"cursor": cursor, "from": from_, "limit": limit, "waitSeconds": wait_seconds}, headers={"Last-Event-ID": last_event_id})

    def all_follow_positions(self, *, from_: str | None = None, limit: int | None = None, wait_seconds: int | None = None, last_event_id: str | None = None) -> Iterator[FeedPosition]:
        """Every item of `follow_positions`, page after page."""
        return self._items("GET", "/api/v1/feed/positions", query={"cursor": None, "from": from_, "limit": limit, "waitSeconds": wait_seconds}, headers={"Last-Event-ID": last_event_id})

    def list_forwarding_destinations(self, *, limit: int | None = None, cursor: str | None = None) -> ListForwardingDestinationsResult:
        """List forwarding destinations, with their progress."""
        return self._call("GET", "/api/v1/forwarding-destinations", query={"limit": limit, "cursor": cursor})

    def all_forwarding_destinations(self, *, limit: int | None = None) -> Iterator[ForwardingDestination]:
        """Every item of `list_forwarding_destinations`, page after page."""
        return self._items("GET", "/api/v1/forwarding-destinations", query={"limit": limit, "cursor": None})

    def add_forwarding_destination(self, *, body: NewForwardingDestination, idempotency_key: str | None = None) -> ForwardingDestination:
        """Forward positions and events to another system."""
        return self._call("POST", "/api/v1/forwarding-destinations", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_forwarding_destination(self, id: str) -> ForwardingDestination:
        """Get a forwarding destination, with its progress."""
        return self._call("GET", "/api/v1/forwarding-destinations/{id}", path_values={"id": id})

    def change_forwarding_destination(self, id: str, *, body: ForwardingDestinationPatch, if_match: str | None = None) -> ForwardingDestination:
        """Change, pause or resume a forwarding destination (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/forwarding-destinations/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_forwarding_destination(self, id: str, *, if_match: str | None = None) -> None:
        """Delete a forwarding destination and its progress."""
        self._call("DELETE", "/api/v1/forwarding-destinations/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def replay_forwarding_destination(self, id: str, *, body: ForwardingReplay) -> ForwardingDestination:
        """Forward again what was written to the log from a given time on."""
        return self._call("POST", "/api/v1/forwarding-destinations/{id}/replay", path_values={"id": id}, body=body, content_type="application/json")

    def test_forwarding_destination(self, id: str) -> ForwardingTest:
        """Test whether a forwarding destination accepts data."""
        return self._call("POST", "/api/v1/forwarding-destinations/{id}/test", path_values={"id": id})

    def list_report_kinds(self) -> ReportKinds:
        """List the kinds of reports, with their columns, parameters and formats."""
        return self._call("GET", "/api/v1/reports")

    def report_track(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, max_points: int | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow", "geojson", "gpx", "kml"] | None = None) -> ReportTrackResult:
        """Positions in a time range, ordered by vehicle and time."""
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
        """Stops that overlap a time range, parked or idling."""
        return self._call("GET", "/api/v1/reports/stops", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "format": format})

    def all_report_stops(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day", "kind"] | None = None, driver_id: str | Sequence[str] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[StopsRow]:
        """Every item of `report_stops`, page after page."""
        return self._items("GET", "/api/v1/reports/stops", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "format": format})

    def report_mileage(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportMileageResult:
        """Distance driven by vehicles, by day, week or month."""
        return self._call("GET", "/api/v1/reports/mileage", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def all_report_mileage(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[MileageRow]:
        """Every item of `report_mileage`, page after page."""
        return self._items("GET", "/api/v1/reports/mileage", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def report_engine_hours(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportEngineHoursResult:
        """Running time of engines, by day, week or month."""
        return self._call("GET", "/api/v1/reports/engine-hours", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def all_report_engine_hours(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[EngineHoursRow]:
        """Every item of `report_engine_hours`, page after page."""
        return self._items("GET", "/api/v1/reports/engine-hours", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def report_speeding(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day", "geozone"] | None = None, driver_id: str | Sequence[str] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportSpeedingResult:
        """Intervals in which vehicles exceeded a speed limit."""
        return self._call("GET", "/api/v1/reports/speeding", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "format": format})

    def all_report_speeding(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day", "geozone"] | None = None, driver_id: str | Sequence[str] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[SpeedingRow]:
        """Every item of `report_speeding`, page after page."""
        return self._items("GET", "/api/v1/reports/speeding", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "format": format})

    def report_geozone_visits(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "geozone"] | None = None, geozone_id: str | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportGeozoneVisitsResult:
        """Visits of geozones, and the time between them."""
        return self._call("GET", "/api/v1/reports/geozone-visits", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "geozoneId": geozone_id, "format": format})

    def all_report_geozone_visits(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "geozone"] | None = None, geozone_id: str | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[GeozoneVisitsRow]:
        """Every item of `report_geozone_visits`, page after page."""
        return self._items("GET", "/api/v1/reports/geozone-visits", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "geozoneId": geozone_id, "format": format})

    def report_shape_visits(self, *, body: VisitedShape, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportShapeVisitsResult:
        """Visits of a shape that is not saved as a geozone, and the time between them."""
        return self._call("POST", "/api/v1/reports/geozone-visits", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format}, body=body, content_type="application/json")

    def all_report_shape_visits(self, *, body: VisitedShape, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[ShapeVisitsRow]:
        """Every item of `report_shape_visits`, page after page."""
        return self._items("POST", "/api/v1/reports/geozone-visits", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format}, body=body, content_type="application/json")

    def report_geozone_matrix(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "geozone"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, geozone_id: str | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportGeozoneMatrixResult:
        """Number and duration of visits, by vehicle and geozone."""
        return self._call("GET", "/api/v1/reports/geozone-matrix", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "geozoneId": geozone_id, "format": format})

    def all_report_geozone_matrix(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "geozone"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, geozone_id: str | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[GeozoneMatrixRow]:
        """Every item of `report_geozone_matrix`, page after page."""
        return self._items("GET", "/api/v1/reports/geozone-matrix", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "geozoneId": geozone_id, "format": format})

    def report_events(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day", "geozone", "kind", "sensor"] | None = None, driver_id: str | Sequence[str] | None = None, kind: str | Sequence[Literal["geofence-visit", "speeding", "trip", "parking", "idling", "ignition", "alarm", "power-cut", "offline", "maintenance-due", "driver-shift", "refuelling", "fuel-drain", "sensor-threshold", "harsh-driving"]] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportEventsResult:
        """All events that overlap a time range, ordered by vehicle and time."""
        return self._call("GET", "/api/v1/reports/events", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "kind": kind, "format": format})

    def all_report_events(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day", "geozone", "kind", "sensor"] | None = None, driver_id: str | Sequence[str] | None = None, kind: str | Sequence[Literal["geofence-visit", "speeding", "trip", "parking", "idling", "ignition", "alarm", "power-cut", "offline", "maintenance-due", "driver-shift", "refuelling", "fuel-drain", "sensor-threshold", "harsh-driving"]] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[EventsRow]:
        """Every item of `report_events`, page after page."""
        return self._items("GET", "/api/v1/reports/events", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "kind": kind, "format": format})

    def report_summary(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportSummaryResult:
        """All totals of each vehicle and period in one row."""
        return self._call("GET", "/api/v1/reports/summary", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def all_report_summary(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[SummaryRow]:
        """Every item of `report_summary`, page after page."""
        return self._items("GET", "/api/v1/reports/summary", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def report_current_state(self, *, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportCurrentStateResult:
        """Current position and state of vehicles."""
        return self._call("GET", "/api/v1/reports/current-state", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def all_report_current_state(self, *, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[CurrentStateRow]:
        """Every item of `report_current_state`, page after page."""
        return self._items("GET", "/api/v1/reports/current-state", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def report_utilisation(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportUtilisationResult:
        """Use of vehicles by hour of the day."""
        return self._call("GET", "/api/v1/reports/utilisation", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def all_report_utilisation(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[UtilisationRow]:
        """Every item of `report_utilisation`, page after page."""
        return self._items("GET", "/api/v1/reports/utilisation", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def report_idling(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportIdlingResult:
        """Time for which vehicles stood with the ignition on."""
        return self._call("GET", "/api/v1/reports/idling", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def all_report_idling(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[IdlingRow]:
        """Every item of `report_idling`, page after page."""
        return self._items("GET", "/api/v1/reports/idling", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def report_fuel(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportFuelResult:
        """Fuel that vehicles used, and that was filled in or drained."""
        return self._call("GET", "/api/v1/reports/fuel", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def all_report_fuel(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[FuelRow]:
        """Every item of `report_fuel`, page after page."""
        return self._items("GET", "/api/v1/reports/fuel", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def report_refuellings(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day", "kind"] | None = None, driver_id: str | Sequence[str] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportRefuellingsResult:
        """Refuellings and fuel drains that overlap a time range."""
        return self._call("GET", "/api/v1/reports/refuellings", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "format": format})

    def all_report_refuellings(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day", "kind"] | None = None, driver_id: str | Sequence[str] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[RefuellingsRow]:
        """Every item of `report_refuellings`, page after page."""
        return self._items("GET", "/api/v1/reports/refuellings", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "driverId": driver_id, "format": format})

    def report_maintenance(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "kind"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportMaintenanceResult:
        """Completed services with their costs, and upcoming maintenance."""
        return self._call("GET", "/api/v1/reports/maintenance", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def all_report_maintenance(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "kind"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[MaintenanceRow]:
        """Every item of `report_maintenance`, page after page."""
        return self._items("GET", "/api/v1/reports/maintenance", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def report_sensors(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "sensor"] | None = None, sensor: str | Sequence[str] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportSensorsResult:
        """Statistics of sensors: lowest, mean and highest values, and time beyond thresholds or switched on."""
        return self._call("GET", "/api/v1/reports/sensors", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "sensor": sensor, "period": period, "format": format})

    def all_report_sensors(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "sensor"] | None = None, sensor: str | Sequence[str] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[SensorsRow]:
        """Every item of `report_sensors`, page after page."""
        return self._items("GET", "/api/v1/reports/sensors", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "sensor": sensor, "period": period, "format": format})

    def report_sensor_series(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "sensor"] | None = None, sensor: str | Sequence[str] | None = None, max_points: int | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportSensorSeriesResult:
        """Values of sensors over time: lowest, mean and highest value of each interval."""
        return self._call("GET", "/api/v1/reports/sensor-series", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "sensor": sensor, "maxPoints": max_points, "format": format})

    def all_report_sensor_series(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "sensor"] | None = None, sensor: str | Sequence[str] | None = None, max_points: int | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[SensorSeriesRow]:
        """Every item of `report_sensor_series`, page after page."""
        return self._items("GET", "/api/v1/reports/sensor-series", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "sensor": sensor, "maxPoints": max_points, "format": format})

    def report_work_time(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, work_hours: str | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportWorkTimeResult:
        """Use of vehicles within working hours (`inside`) and outside of them (`outside`)."""
        return self._call("GET", "/api/v1/reports/work-time", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "workHours": work_hours, "period": period, "format": format})

    def all_report_work_time(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day"] | None = None, work_hours: str | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[WorkTimeRow]:
        """Every item of `report_work_time`, page after page."""
        return self._items("GET", "/api/v1/reports/work-time", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "workHours": work_hours, "period": period, "format": format})

    def report_violations(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "kind"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportViolationsResult:
        """Violations, alarms and other unwanted events by vehicle and period, with the worst of each kind."""
        return self._call("GET", "/api/v1/reports/violations", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def all_report_violations(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "day", "kind"] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[ViolationsRow]:
        """Every item of `report_violations`, page after page."""
        return self._items("GET", "/api/v1/reports/violations", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "period": period, "format": format})

    def report_eco_driving(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day"] | None = None, eco_weights: str | None = None, driver_id: str | Sequence[str] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportEcoDrivingResult:
        """Economy and safety of driving: a score from 0 to 100 for each trip."""
        return self._call("GET", "/api/v1/reports/eco-driving", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "ecoWeights": eco_weights, "driverId": driver_id, "format": format})

    def all_report_eco_driving(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle", "driver", "day"] | None = None, eco_weights: str | None = None, driver_id: str | Sequence[str] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[EcoDrivingRow]:
        """Every item of `report_eco_driving`, page after page."""
        return self._items("GET", "/api/v1/reports/eco-driving", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "ecoWeights": eco_weights, "driverId": driver_id, "format": format})

    def report_drivers(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["driver", "day"] | None = None, eco_weights: str | None = None, driver_id: str | Sequence[str] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportDriversResult:
        """Shifts, distance, driving time, speeding, fuel and score of each driver."""
        return self._call("GET", "/api/v1/reports/drivers", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "ecoWeights": eco_weights, "driverId": driver_id, "period": period, "format": format})

    def all_report_drivers(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["driver", "day"] | None = None, eco_weights: str | None = None, driver_id: str | Sequence[str] | None = None, period: Literal["whole", "day", "week", "month"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[DriversRow]:
        """Every item of `report_drivers`, page after page."""
        return self._items("GET", "/api/v1/reports/drivers", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "ecoWeights": eco_weights, "driverId": driver_id, "period": period, "format": format})

    def report_fleet_digest(self, *, from_: str, to: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> ReportFleetDigestResult:
        """Overview of the fleet: distance, hours, stops, violations and last place of each vehicle."""
        return self._call("GET", "/api/v1/reports/fleet-digest", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def all_report_fleet_digest(self, *, from_: str, to: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None, time_zone: str | None = None, columns: str | Sequence[str] | None = None, language: Literal["en", "ru", "de", "es", "he"] | None = None, group_by: Literal["vehicle"] | None = None, format: Literal["json", "ndjson", "csv", "xlsx", "pdf", "parquet", "arrow"] | None = None) -> Iterator[FleetDigestRow]:
        """Every item of `report_fleet_digest`, page after page."""
        return self._items("GET", "/api/v1/reports/fleet-digest", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "from": from_, "to": to, "timeZone": time_zone, "columns": columns, "language": language, "groupBy": group_by, "format": format})

    def report_positions_at(self, *, at: str, limit: int | None = None, cursor: str | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None) -> ReportPositionsAtResult:
        """Get the positions of vehicles at a moment: the last valid fix of each vehicle up to then."""
        return self._call("GET", "/api/v1/reports/positions-at", query={"limit": limit, "cursor": cursor, "vehicleId": vehicle_id, "groupId": group_id, "at": at})

    def all_report_positions_at(self, *, at: str, limit: int | None = None, vehicle_id: str | Sequence[str] | None = None, group_id: str | None = None) -> Iterator[PositionAt]:
        """Every item of `report_positions_at`, page after page."""
        return self._items("GET", "/api/v1/reports/positions-at", query={"limit": limit, "cursor": None, "vehicleId": vehicle_id, "groupId": group_id, "at": at})

    def add_report_job(self, *, body: NewReportJob, idempotency_key: str | None = None) -> ReportJob:
        """Start a job that writes a report to a file."""
        return self._call("POST", "/api/v1/report-jobs", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_report_file(self, id: str, *, range: str | None = None, if_none_match: str | None = None, if_range: str | None = None) -> GetReportFileResult:
        """Download the file of a finished report."""
        return self._call("GET", "/api/v1/report-jobs/{id}/file", path_values={"id": id}, headers={"Range": range, "If-None-Match": if_none_match, "If-Range": if_range})

    def list_report_schedules(self, *, limit: int | None = None, cursor: str | None = None) -> ListReportSchedulesResult:
        """List the caller’s report schedules; for operators, those of all accounts."""
        return self._call("GET", "/api/v1/report-schedules", query={"limit": limit, "cursor": cursor})

    def all_report_schedules(self, *, limit: int | None = None) -> Iterator[ReportSchedule]:
        """Every item of `list_report_schedules`, page after page."""
        return self._items("GET", "/api/v1/report-schedules", query={"limit": limit, "cursor": None})

    def add_report_schedule(self, *, body: NewReportSchedule, idempotency_key: str | None = None) -> ReportSchedule:
        """Schedule a report to be made every day, week or month, and sent by e-mail."""
        return self._call("POST", "/api/v1/report-schedules", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_report_schedule(self, id: str) -> ReportSchedule:
        """Get one schedule."""
        return self._call("GET", "/api/v1/report-schedules/{id}", path_values={"id": id})

    def change_report_schedule(self, id: str, *, body: ReportSchedulePatch, if_match: str | None = None) -> ReportSchedule:
        """Change a report schedule (JSON merge patch)."""
        return self._call("PATCH", "/api/v1/report-schedules/{id}", path_values={"id": id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_report_schedule(self, id: str, *, if_match: str | None = None) -> None:
        """Delete a report schedule. Reports that it made are kept as usual."""
        self._call("DELETE", "/api/v1/report-schedules/{id}", path_values={"id": id}, headers={"If-Match": if_match})

    def list_report_deliveries(self, id: str, *, limit: int | None = None, cursor: str | None = None) -> ListReportDeliveriesResult:
        """List the e-mails with reports of a schedule, the newest first."""
        return self._call("GET", "/api/v1/report-schedules/{id}/deliveries", path_values={"id": id}, query={"limit": limit, "cursor": cursor})

    def all_report_deliveries(self, id: str, *, limit: int | None = None) -> Iterator[ReportDelivery]:
        """Every item of `list_report_deliveries`, page after page."""
        return self._items("GET", "/api/v1/report-schedules/{id}/deliveries", path_values={"id": id}, query={"limit": limit, "cursor": None})

    def get_my_report_templates(self) -> ReportTemplates:
        """List the caller’s saved reports."""
        return self._call("GET", "/api/v1/me/report-templates")

    def set_my_report_templates(self, *, body: NewReportTemplates, if_match: str | None = None) -> ReportTemplates:
        """Replace the saved reports of the caller."""
        return self._call("PUT", "/api/v1/me/report-templates", headers={"If-Match": if_match}, body=body, content_type="application/json")

    def recalculate_geozone(self, id: str, *, from_: str, to: str, idempotency_key: str | None = None) -> RecalculationJob:
        """Recalculate past events of a geozone."""
        return self._call("POST", "/api/v1/geozones/{id}/recalculate", path_values={"id": id}, query={"from": from_, "to": to}, headers={"Idempotency-Key": idempotency_key})

    def recalculate_vehicle(self, id: str, *, from_: str, to: str, idempotency_key: str | None = None) -> RecalculationJob:
        """Recalculate past events of a vehicle."""
        return self._call("POST", "/api/v1/vehicles/{id}/recalculate", path_values={"id": id}, query={"from": from_, "to": to}, headers={"Idempotency-Key": idempotency_key})

    def list_jobs(self, *, limit: int | None = None, cursor: str | None = None, kind: Literal["recalculate-geozone", "recalculate-vehicle", "late-data", "old-data", "report", "erasure", "erase-history", "retention", "person-export"] | None = None, state: Literal["queued", "running", "done", "failed", "cancelled"] | None = None) -> ListJobsResult:
        """List jobs, newest first."""
        return self._call("GET", "/api/v1/jobs", query={"limit": limit, "cursor": cursor, "kind": kind, "state": state})

    def all_jobs(self, *, limit: int | None = None, kind: Literal["recalculate-geozone", "recalculate-vehicle", "late-data", "old-data", "report", "erasure", "erase-history", "retention", "person-export"] | None = None, state: Literal["queued", "running", "done", "failed", "cancelled"] | None = None) -> Iterator[Job]:
        """Every item of `list_jobs`, page after page."""
        return self._items("GET", "/api/v1/jobs", query={"limit": limit, "cursor": None, "kind": kind, "state": state})

    def get_job(self, id: str) -> Job:
        """Get a job, with its progress."""
        return self._call("GET", "/api/v1/jobs/{id}", path_values={"id": id})

    def cancel_job(self, id: str) -> Job:
        """Cancel a job."""
        return self._call("POST", "/api/v1/jobs/{id}/cancel", path_values={"id": id})

    def get_operator_status(self) -> OperatorStatus:
        """Get the state of the service: its parts, the use of its limits, and its last hour."""
        return self._call("GET", "/api/v1/operator/status")

    def list_all_sessions(self, *, limit: int | None = None, cursor: str | None = None) -> ListAllSessionsResult:
        """List the sessions of all accounts, last used first."""
        return self._call("GET", "/api/v1/operator/sessions", query={"limit": limit, "cursor": cursor})

    def all_all_sessions(self, *, limit: int | None = None) -> Iterator[OwnedSession]:
        """Every item of `list_all_sessions`, page after page."""
        return self._items("GET", "/api/v1/operator/sessions", query={"limit": limit, "cursor": None})

    def list_archive_gaps(self) -> ArchiveGaps:
        """List lost parts of the archive that could not be restored, newest first."""
        return self._call("GET", "/api/v1/operator/archive-gaps")

    def accept_archive_gap(self, *, body: ArchiveGapId) -> ArchiveGap:
        """Accept the loss of a part of the archive."""
        return self._call("POST", "/api/v1/operator/archive-gaps/accept", body=body, content_type="application/json")

    def list_dead_letters(self, *, limit: int | None = None, cursor: str | None = None) -> ListDeadLettersResult:
        """List records that could not be processed and were set aside, newest first."""
        return self._call("GET", "/api/v1/operator/dead-letters", query={"limit": limit, "cursor": cursor})

    def all_dead_letters(self, *, limit: int | None = None) -> Iterator[DeadLetter]:
        """Every item of `list_dead_letters`, page after page."""
        return self._items("GET", "/api/v1/operator/dead-letters", query={"limit": limit, "cursor": None})

    def get_dead_letter(self, *, id: str) -> bytes:
        """Download a record that was set aside."""
        return self._call("GET", "/api/v1/operator/dead-letters/file", query={"id": id})

    def list_map_files(self) -> ListMapFilesResult:
        """List the files in the map folders, and whether each is served."""
        return self._call("GET", "/api/v1/operator/maps")

    def list_video_profiles(self, *, limit: int | None = None, cursor: str | None = None, terminal_id: str | None = None) -> ListVideoProfilesResult:
        """List the video profiles of vehicles that the caller may see."""
        return self._call("GET", "/service/ovms/api/profiles", query={"limit": limit, "cursor": cursor, "terminalId": terminal_id})

    def all_video_profiles(self, *, limit: int | None = None, terminal_id: str | None = None) -> Iterator[VideoProfile]:
        """Every item of `list_video_profiles`, page after page."""
        return self._items("GET", "/service/ovms/api/profiles", query={"limit": limit, "cursor": None, "terminalId": terminal_id})

    def add_video_profile(self, *, body: NewVideoProfile, idempotency_key: str | None = None) -> VideoProfile:
        """Add a video profile to a vehicle."""
        return self._call("POST", "/service/ovms/api/profiles", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_video_profile(self, profile_id: str) -> VideoProfile:
        """Get one video profile."""
        return self._call("GET", "/service/ovms/api/profiles/{profile_id}", path_values={"profile_id": profile_id})

    def change_video_profile(self, profile_id: str, *, body: VideoProfilePatch, if_match: str | None = None) -> VideoProfile:
        """Change a video profile (JSON merge patch)."""
        return self._call("PATCH", "/service/ovms/api/profiles/{profile_id}", path_values={"profile_id": profile_id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_video_profile(self, profile_id: str, *, if_match: str | None = None) -> None:
        """Delete a video profile. Its unfinished tasks fail; its files are kept."""
        self._call("DELETE", "/service/ovms/api/profiles/{profile_id}", path_values={"profile_id": profile_id}, headers={"If-Match": if_match})

    def list_video_tasks(self, *, limit: int | None = None, cursor: str | None = None, profile_id: str | None = None, status: Literal["new", "waiting", "requested", "downloading", "processing", "done", "failed", "cancelled"] | None = None) -> ListVideoTasksResult:
        """List the video tasks of vehicles that the caller may see, newest first."""
        return self._call("GET", "/service/ovms/api/tasks", query={"limit": limit, "cursor": cursor, "profileId": profile_id, "status": status})

    def all_video_tasks(self, *, limit: int | None = None, profile_id: str | None = None, status: Literal["new", "waiting", "requested", "downloading", "processing", "done", "failed", "cancelled"] | None = None) -> Iterator[ListedVideoTask]:
        """Every item of `list_video_tasks`, page after page."""
        return self._items("GET", "/service/ovms/api/tasks", query={"limit": limit, "cursor": None, "profileId": profile_id, "status": status})

    def add_video_task(self, *, body: NewVideoTask, idempotency_key: str | None = None) -> VideoTask:
        """Order a fragment of video."""
        return self._call("POST", "/service/ovms/api/tasks", headers={"Idempotency-Key": idempotency_key}, body=body, content_type="application/json")

    def get_video_task(self, task_id: str) -> VideoTask:
        """Get a video task, with its progress and history."""
        return self._call("GET", "/service/ovms/api/tasks/{task_id}", path_values={"task_id": task_id})

    def change_video_task(self, task_id: str, *, body: VideoTaskPatch, if_match: str | None = None) -> VideoTask:
        """Change a video task before its terminal is asked to play (JSON merge patch)."""
        return self._call("PATCH", "/service/ovms/api/tasks/{task_id}", path_values={"task_id": task_id}, headers={"If-Match": if_match}, body=body, content_type="application/merge-patch+json")

    def delete_video_task(self, task_id: str, *, if_match: str | None = None) -> None:
        """Delete a video task and its video."""
        self._call("DELETE", "/service/ovms/api/tasks/{task_id}", path_values={"task_id": task_id}, headers={"If-Match": if_match})

    def cancel_video_task(self, task_id: str) -> VideoTask:
        """Cancel a video task."""
        return self._call("POST", "/service/ovms/api/tasks/{task_id}/cancel", path_values={"task_id": task_id})

    def get_video_file(self, task_id: str, *, range: str | None = None, if_none_match: str | None = None, if_range: str | None = None) -> bytes:
        """Download the video of a finished task, as MP4."""
        return self._call("GET", "/service/ovms/api/tasks/file/{task_id}", path_values={"task_id": task_id}, headers={"Range": range, "If-None-Match": if_none_match, "If-Range": if_range})

    def delete_video_file(self, task_id: str) -> None:
        """Delete the video of a finished task. The task stays in the list."""
        self._call("DELETE", "/service/ovms/api/tasks/file/{task_id}", path_values={"task_id": task_id})

    def get_video_storage(self) -> VideoStorage:
        """Get the use and the limits of the video storage."""
        return self._call("GET", "/service/ovms/api/storage")

    def get_shared(self, token: str, *, if_none_match: str | None = None) -> Shared:
        """Get what a share link shows. The token in the path is the only credential."""
        return self._call("GET", "/s/{token}/data", path_values={"token": token}, headers={"If-None-Match": if_none_match})

    def get_index(self) -> Index:
        """Get the paths of the documentation, the login, the live API, health and metrics."""
        return self._call("GET", "/api/v1")

    def get_liveness(self) -> Liveness:
        """Check whether the process is alive."""
        return self._call("GET", "/health/live")

    def get_readiness(self) -> Readiness:
        """Check whether all parts of the service work."""
        return self._call("GET", "/health/ready")

    def get_metrics(self) -> bytes:
        """Get the metrics of the process, for Prometheus."""
        return self._call("GET", "/metrics")
