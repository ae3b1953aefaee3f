# Generated from schemas/openapi.json by `npm run openapi`. Do not edit.
from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

AccountEmail = TypedDict("AccountEmail", {
    "email": "str | None",
})

AddedPasskey = TypedDict("AddedPasskey", {
    "passkey": "Passkey",
    "recoveryCodes": "list[str] | None",
})

Alarm: TypeAlias = "Literal[\"sos\", \"power-cut\", \"low-battery\", \"tamper\", \"overspeed\", \"crash\", \"harsh-acceleration\", \"harsh-braking\", \"harsh-cornering\", \"towing\", \"jamming\", \"other\", \"terminal-conflict\"]"

ApiKey = TypedDict("ApiKey", {
    "id": "str",
    "userId": "str",
    "name": "str",
    "scopes": "list[Literal[\"read\", \"write\", \"commands\", \"video\"]]",
    "groupIds": "list[str] | None",
    "createdAt": "str",
    "expiresAt": "str | None",
    "lastUsedAt": "str | None",
    "lastUsedAddress": "str | None",
})

ApiKeyPatch = TypedDict("ApiKeyPatch", {
    "name": "NotRequired[str]",
    "scopes": "NotRequired[list[Literal[\"read\", \"write\", \"commands\", \"video\"]]]",
    "groupIds": "NotRequired[list[str] | None]",
    "expiresAt": "NotRequired[str | None]",
})

ArchiveGap = TypedDict("ArchiveGap", {
    "id": "str",
    "table": "str",
    "from": "str",
    "to": "str",
    "rows": "int | None",
    "vehicles": "int | None",
    "reason": "str",
    "path": "str | None",
    "noticedAt": "str",
    "restored": "Literal[\"partly\", \"not\"] | None",
    "isAccepted": "bool",
})

ArchiveGapId = TypedDict("ArchiveGapId", {
    "id": "str",
})

ArchiveGaps = TypedDict("ArchiveGaps", {
    "items": "list[ArchiveGap]",
})

AuditEntryUser = TypedDict("AuditEntryUser", {
    "id": "str | None",
    "login": "str | None",
    "role": "Literal[\"operator\", \"dealer\", \"user\"]",
})

# Object that the action concerned.

AuditEntrySubject = TypedDict("AuditEntrySubject", {
    "kind": "Literal[\"user\", \"vehicle\", \"group\", \"geofence\", \"notification-rule\", \"video-profile\", \"driver\", \"driver-assignment\", \"message-channel\", \"forwarding-destination\", \"report-schedule\", \"share-link\", \"api-key\", \"counter-correction\", \"custom-counter\", \"maintenance-plan\", \"service-record\", \"video-task\", \"command\"]",
    "id": "str | None",
    "name": "str",
})

AuditEntry = TypedDict("AuditEntry", {
    "id": "str",
    "at": "str",
    "action": "Literal[\"created\", \"changed\", \"deleted\", \"blocked\", \"unblocked\", \"moved\", \"suspended\", \"resumed\", \"api-access-granted\", \"api-access-withdrawn\", \"password-changed\", \"password-reset\", \"email-changed\", \"invited\", \"second-factor-enabled\", \"second-factor-removed\", \"passkey-added\", \"passkey-removed\", \"sign-in-linked\", \"sign-in-unlinked\", \"recovery-codes-renewed\", \"recovery-code-used\", \"quotas-changed\", \"login\", \"login-failed\", \"logout\", \"session-ended\", \"token-reused\", \"recalculated\", \"history-imported\", \"history-erased\", \"person-exported\", \"report-requested\", \"erasure-cancelled\", \"erased\", \"tested\", \"replayed\"]",
    "user": "AuditEntryUser | None",
    "sessionId": "str | None",
    "apiKeyId": "str | None",
    "address": "str | None",
    "subject": "AuditEntrySubject",
    "before": "dict[str, dict[str, Any]] | None",
    "after": "dict[str, dict[str, Any]] | None",
})

ChannelTest = TypedDict("ChannelTest", {
    "id": "str",
    "ruleId": "str",
    "channel": "Literal[\"email\", \"webhook\"]",
    "target": "str",
    "state": "Literal[\"pending\", \"delivered\", \"failed\", \"cancelled\"]",
    "createdAt": "str",
    "finishedAt": "str | None",
    "lastError": "str | None",
    "responseStatus": "int | None",
})

# An account, with its display name.

Colleague = TypedDict("Colleague", {
    "id": "str",
    "name": "str",
})

Command = TypedDict("Command", {
    "id": "str",
    "vehicleId": "str",
    "type": "Literal[\"engine-block\", \"engine-resume\", \"output-set\", \"position-request\", \"interval-set\", \"reboot\", \"text\"]",
    "parameters": "dict[str, str | float | bool]",
    "state": "Literal[\"queued\", \"sent\", \"acknowledged\", \"refused\", \"expired\", \"unanswered\", \"cancelled\"]",
    "reason": "Literal[\"terminal-refused\", \"not-supported\", \"too-fast\", \"rights-lost\", \"too-many\", \"connection-lost\", \"no-answer\", \"superseded\", \"vehicle-deleted\"] | None",
    "answer": "str | None",
    "maxSpeedKmh": "float | None",
    "byRule": "bool",
    "createdAt": "str",
    "changedAt": "str",
    "expiresAt": "str",
    "sentAt": "str | None",
    "finishedAt": "str | None",
    "createdBy": "str | None",
    "ruleId": "str | None",
    "eventId": "str | None",
})

CommandTypesTypesItemParametersItem = TypedDict("CommandTypesTypesItemParametersItem", {
    "name": "str",
    "type": "Literal[\"integer\", \"boolean\", \"string\"]",
    "minimum": "float | None",
    "maximum": "float | None",
    "maxLength": "int | None",
    "unit": "str | None",
})

CommandTypesTypesItem = TypedDict("CommandTypesTypesItem", {
    "type": "Literal[\"engine-block\", \"engine-resume\", \"output-set\", \"position-request\", \"interval-set\", \"reboot\", \"text\"]",
    "guarded": "bool",
    "guardedOutput": "int | None",
    "how": "str",
    "parameters": "list[CommandTypesTypesItemParametersItem]",
})

CommandTypesLimits = TypedDict("CommandTypesLimits", {
    "maxSpeedKmh": "float",
    "positionMaxAgeSeconds": "float",
    "defaultExpirySeconds": "int",
    "maxExpirySeconds": "int",
    "maxOpen": "int",
})

CommandTypes = TypedDict("CommandTypes", {
    "protocol": "str | None",
    "connected": "bool",
    "reason": "Literal[\"no-terminal\", \"protocol-unknown\", \"no-commands\"] | None",
    "types": "list[CommandTypesTypesItem]",
    "limits": "CommandTypesLimits",
})

CounterCorrection = TypedDict("CounterCorrection", {
    "id": "str",
    "counter": "Literal[\"odometer\", \"engine-hours\"] | str",
    "at": "str",
    "value": "float",
    "note": "str | None",
    "createdBy": "str | None",
    "createdAt": "str",
})

CounterReadingImportItemsItem = TypedDict("CounterReadingImportItemsItem", {
    "row": "int",
    "vehicleId": "str",
    "id": "str | None",
})

CounterReadingImport = TypedDict("CounterReadingImport", {
    "dryRun": "bool",
    "created": "int",
    "items": "list[CounterReadingImportItemsItem]",
})

CreatedApiKey = TypedDict("CreatedApiKey", {
    "id": "str",
    "userId": "str",
    "name": "str",
    "scopes": "list[Literal[\"read\", \"write\", \"commands\", \"video\"]]",
    "groupIds": "list[str] | None",
    "createdAt": "str",
    "expiresAt": "str | None",
    "lastUsedAt": "str | None",
    "lastUsedAddress": "str | None",
    "key": "str | None",
})

CreatedShareLinkTrack = TypedDict("CreatedShareLinkTrack", {
    "from": "str",
    "to": "str",
})

CreatedShareLink = TypedDict("CreatedShareLink", {
    "id": "str",
    "ownerId": "str",
    "name": "str | None",
    "vehicleIds": "list[str]",
    "track": "CreatedShareLinkTrack | None",
    "createdAt": "str",
    "expiresAt": "str",
    "path": "str",
})

Credentials = TypedDict("Credentials", {
    "login": "str",
    "password": "str",
    "totp": "NotRequired[str]",
    "passkey": "NotRequired[SignedPasskey]",
    "service": "NotRequired[str]",
})

CurrentPassword = TypedDict("CurrentPassword", {
    "currentPassword": "str",
})

CurrentStateRow = TypedDict("CurrentStateRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "state": "Literal[\"moving\", \"parking\", \"idling\", \"offline\", \"unknown\"]",
    "stateSince": "str | None",
    "stateSeconds": "float | None",
    "online": "bool | None",
    "fixTime": "str | None",
    "receivedAt": "str | None",
    "latitude": "float | None",
    "longitude": "float | None",
    "speedKmh": "float | None",
    "courseDeg": "int | None",
    "ignition": "bool | None",
    "odometerM": "int | None",
    "fuelL": "float | None",
    "supplyV": "float | None",
    "geozones": "str | None",
    "speeding": "bool",
    "alarms": "str | None",
    "lastContactAt": "str | None",
    "protocol": "str | None",
    "recordTime": "str | None",
    "connected": "bool",
})

CustomCounter = TypedDict("CustomCounter", {
    "id": "str",
    "version": "int",
    "name": "str",
    "unit": "str",
    "source": "Literal[\"manual\", \"sensor-total\", \"sensor-hours\"]",
    "sensorId": "str | None",
    "startsAt": "str",
    "value": "float",
})

CustomCounterPatch = TypedDict("CustomCounterPatch", {
    "name": "NotRequired[str]",
    "unit": "NotRequired[str]",
    "source": "NotRequired[Literal[\"manual\", \"sensor-total\", \"sensor-hours\"]]",
    "sensorId": "NotRequired[str | None]",
})

DeadLetter = TypedDict("DeadLetter", {
    "id": "str",
    "topic": "str",
    "partition": "int",
    "offset": "int",
    "reader": "str",
    "reason": "str",
    "at": "str",
    "bytes": "int | None",
})

DeliveryAttemptLogItem = TypedDict("DeliveryAttemptLogItem", {
    "at": "str",
    "error": "str | None",
    "responseStatus": "int | None",
})

Delivery = TypedDict("Delivery", {
    "id": "str",
    "notificationId": "str",
    "ruleId": "str",
    "channel": "Literal[\"email\", \"webhook\", \"telegram\", \"http\", \"web-push\"]",
    "target": "str",
    "state": "Literal[\"pending\", \"delivered\", \"failed\", \"cancelled\"]",
    "attempts": "int",
    "createdAt": "str",
    "nextAttemptAt": "str | None",
    "finishedAt": "str | None",
    "lastError": "str | None",
    "responseStatus": "int | None",
    "attemptLog": "list[DeliveryAttemptLogItem]",
    "isEscalation": "bool",
    "notification": "Notification | None",
})

Driver = TypedDict("Driver", {
    "id": "str",
    "name": "str",
    "phone": "str | None",
    "licenceNumber": "str | None",
    "licenceExpiresOn": "str | None",
    "codes": "list[str]",
    "licence": "Literal[\"valid\", \"expires-soon\", \"expired\", \"unknown\"]",
    "dealerId": "str | None",
    "groupIds": "list[str]",
    "externalId": "str | None",
    "customAttributes": "dict[str, str | float | bool]",
})

DriverAssignment = TypedDict("DriverAssignment", {
    "id": "str",
    "vehicleId": "str",
    "driverId": "str",
    "from": "str",
    "to": "str | None",
})

DriverAssignmentPatch = TypedDict("DriverAssignmentPatch", {
    "to": "str | None",
})

DriverAssignments = TypedDict("DriverAssignments", {
    "items": "list[DriverAssignment]",
})

DriverImportItemsItem = TypedDict("DriverImportItemsItem", {
    "row": "int",
    "id": "str | None",
    "outcome": "Literal[\"created\", \"updated\", \"unchanged\"]",
})

DriverImport = TypedDict("DriverImport", {
    "dryRun": "bool",
    "created": "int",
    "updated": "int",
    "unchanged": "int",
    "items": "list[DriverImportItemsItem]",
})

DriverPatch = TypedDict("DriverPatch", {
    "name": "NotRequired[str]",
    "phone": "NotRequired[str | None]",
    "licenceNumber": "NotRequired[str | None]",
    "licenceExpiresOn": "NotRequired[str | None]",
    "codes": "NotRequired[list[str]]",
    "groupIds": "NotRequired[list[str]]",
    "externalId": "NotRequired[str | None]",
    "customAttributes": "NotRequired[dict[str, str | float | bool | None]]",
})

DriversRow = TypedDict("DriversRow", {
    "driverId": "str | None",
    "driverName": "str | None",
    "period": "str",
    "shifts": "int",
    "trips": "int",
    "vehicles": "int",
    "distanceM": "float",
    "tripSeconds": "float",
    "movingSeconds": "float",
    "speedings": "int",
    "speedingSeconds": "float",
    "harshManoeuvres": "int",
    "fuelUsedL": "float | None",
    "litresPer100Km": "float | None",
    "ecoScore": "float | None",
})

EcoDrivingRow = TypedDict("EcoDrivingRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "startedAt": "str",
    "endedAt": "str | None",
    "durationSeconds": "float",
    "startLatitude": "float | None",
    "startLongitude": "float | None",
    "endLatitude": "float | None",
    "endLongitude": "float | None",
    "distanceM": "float",
    "ecoScore": "float",
    "ecoPoints": "float",
    "speedingPoints": "float",
    "accelerationPoints": "float",
    "brakingPoints": "float",
    "corneringPoints": "float",
    "idlingPoints": "float",
    "overRevvingPoints": "float",
    "speedingSeconds": "float",
    "harshAccelerations": "int",
    "harshBrakings": "int",
    "harshCornerings": "int",
    "idlingSeconds": "float",
    "overRevvingSeconds": "float",
    "driverId": "str | None",
    "driverName": "str | None",
    "driverCode": "str | None",
    "startPlace": "str | None",
    "endPlace": "str | None",
})

EngineHoursRow = TypedDict("EngineHoursRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "period": "str",
    "engineOnSeconds": "float",
    "movingSeconds": "float",
    "idlingSeconds": "float",
    "distanceM": "float",
})

ErasableHistory = TypedDict("ErasableHistory", {
    "positions": "int",
    "events": "int",
    "videos": "int",
    "notifications": "int",
})

ErasureJobResult = TypedDict("ErasureJobResult", {
    "archiveRows": "int",
    "videos": "int",
    "reports": "int",
    "serviceFiles": "int",
    "notifications": "int",
    "auditLines": "int",
})

ErasureJob = TypedDict("ErasureJob", {
    "id": "str",
    "userId": "str | None",
    "state": "Literal[\"queued\", \"running\", \"done\", \"failed\", \"cancelled\"]",
    "percent": "float",
    "error": "str | None",
    "createdAt": "str",
    "startedAt": "str | None",
    "finishedAt": "str | None",
    "kind": "Literal[\"erasure\"]",
    "subject": "Literal[\"vehicle\", \"user\"]",
    "subjectId": "str | None",
    "requestedBy": "str | None",
    "dueAt": "str",
    "result": "ErasureJobResult | None",
})

EventsRow = TypedDict("EventsRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "id": "str",
    "kind": "Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\"]",
    "phase": "Literal[\"begin\", \"end\"]",
    "startedAt": "str",
    "endedAt": "str | None",
    "durationSeconds": "float",
    "latitude": "float",
    "longitude": "float",
    "speedKmh": "float | None",
    "geozoneId": "str | None",
    "geozoneName": "str | None",
    "alarm": "Literal[\"sos\", \"power-cut\", \"low-battery\", \"tamper\", \"overspeed\", \"crash\", \"harsh-acceleration\", \"harsh-braking\", \"harsh-cornering\", \"towing\", \"jamming\", \"other\", \"terminal-conflict\"] | None",
    "planName": "str | None",
    "volumeL": "float | None",
    "sensorName": "str | None",
    "value": "float | None",
    "limitKmh": "float | None",
    "peakKmh": "float | None",
    "meanKmh": "float | None",
    "distanceM": "float | None",
    "inferred": "bool",
    "origin": "Literal[\"live\", \"recalculated\"]",
    "endReason": "Literal[\"left\", \"geofence-deleted\", \"geofence-changed\", \"no-longer-watched\", \"slowed\", \"limit-removed\", \"stopped\", \"gap\", \"moved\", \"ignition\", \"switched-off\", \"cleared\", \"restored\", \"online\", \"due\", \"serviced\", \"corrected\", \"plan-changed\", \"card-removed\", \"other-driver\", \"parked\", \"settled\", \"returned\", \"sensor-changed\"] | None",
    "startLatitude": "float | None",
    "startLongitude": "float | None",
    "endLatitude": "float | None",
    "endLongitude": "float | None",
    "driverId": "str | None",
    "driverName": "str | None",
    "driverCode": "str | None",
    "startPlace": "str | None",
    "endPlace": "str | None",
})

Expiry = TypedDict("Expiry", {
    "expiresAt": "str | None",
})

# An event, as in the live API and in webhooks. Each kind has further fields of its own.

FeedEvent = TypedDict("FeedEvent", {
    "id": "str",
    "kind": "Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\"]",
    "phase": "Literal[\"begin\", \"end\", \"removed\"]",
    "vehicleId": "str",
    "startedAt": "str",
    "endedAt": "str | None",
    "fromFixTime": "str",
    "fixTime": "str",
    "definitionVersion": "int",
    "origin": "Literal[\"live\", \"recalculated\"]",
    "inferred": "bool",
    "latitude": "float",
    "longitude": "float",
    "startLatitude": "NotRequired[float]",
    "startLongitude": "NotRequired[float]",
    "speedKmh": "float | None",
    "receivedAt": "NotRequired[str]",
    "traceId": "NotRequired[str]",
    "geofenceId": "NotRequired[str | None]",
    "limitSource": "NotRequired[Literal[\"vehicle\", \"geofence\"]]",
    "limitKmh": "NotRequired[float]",
    "peakKmh": "NotRequired[float]",
    "meanKmh": "NotRequired[float]",
    "distanceM": "NotRequired[float]",
    "movingSeconds": "NotRequired[float]",
    "idlingSeconds": "NotRequired[float]",
    "maxKmh": "NotRequired[float]",
    "fuelStartL": "NotRequired[float]",
    "fuelEndL": "NotRequired[float]",
    "fuelUsedL": "NotRequired[float]",
    "alarm": "NotRequired[Alarm]",
    "planId": "NotRequired[str]",
    "planName": "NotRequired[str]",
    "stage": "NotRequired[Literal[\"warning\", \"due\"]]",
    "cause": "NotRequired[Literal[\"distance\", \"engine-hours\", \"days\", \"counter\"]]",
    "volumeL": "NotRequired[float]",
    "levelBeforeL": "NotRequired[float]",
    "levelAfterL": "NotRequired[float]",
    "whileMoving": "NotRequired[bool]",
    "sensorId": "NotRequired[str]",
    "sensorName": "NotRequired[str]",
    "sensorKind": "NotRequired[Literal[\"fuel-level\", \"fuel-used\", \"temperature\", \"humidity\", \"digital\", \"engine-hours\", \"odometer\", \"rpm\", \"voltage\", \"weight\", \"tyre-pressure\", \"custom\"]]",
    "unit": "NotRequired[str]",
    "thresholdId": "NotRequired[str]",
    "condition": "NotRequired[Literal[\"above\", \"below\", \"inside\", \"outside\"]]",
    "min": "NotRequired[float | None]",
    "max": "NotRequired[float | None]",
    "value": "NotRequired[float]",
    "peakValue": "NotRequired[float]",
    "manoeuvre": "NotRequired[Literal[\"acceleration\", \"braking\", \"cornering\"]]",
    "peakMps2": "NotRequired[float | None]",
    "endReason": "Literal[\"left\", \"geofence-deleted\", \"geofence-changed\", \"no-longer-watched\", \"slowed\", \"limit-removed\", \"stopped\", \"gap\", \"moved\", \"ignition\", \"switched-off\", \"cleared\", \"restored\", \"online\", \"due\", \"serviced\", \"corrected\", \"plan-changed\", \"card-removed\", \"other-driver\", \"parked\", \"settled\", \"returned\", \"sensor-changed\"] | None",
    "driverCode": "NotRequired[str]",
})

FeedPosition = TypedDict("FeedPosition", {
    "vehicleId": "str",
    "fixTime": "str",
    "latitude": "float",
    "longitude": "float",
    "valid": "bool",
    "speedKmh": "NotRequired[float]",
    "courseDeg": "NotRequired[float]",
    "altitudeM": "NotRequired[float]",
    "satellites": "NotRequired[float]",
    "ignition": "NotRequired[bool]",
    "odometerM": "NotRequired[float]",
    "supplyV": "NotRequired[float]",
    "fuelL": "NotRequired[float]",
    "alarms": "NotRequired[list[Alarm]]",
    "attributes": "NotRequired[dict[str, float | str | bool]]",
    "receivedAt": "str",
})

FleetDigestRow = TypedDict("FleetDigestRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "distanceM": "float",
    "tripSeconds": "float",
    "engineOnSeconds": "float",
    "idlingSeconds": "float",
    "offlineSeconds": "float",
    "trips": "int",
    "stops": "int",
    "maxKmh": "float | None",
    "speedings": "int",
    "alarms": "int",
    "powerCuts": "int",
    "lastFixAt": "str | None",
    "lastLatitude": "float | None",
    "lastLongitude": "float | None",
    "lastPlace": "str | None",
})

FleetRetention = TypedDict("FleetRetention", {
    "retentionDays": "int | None",
})

ForwardingDestination = TypedDict("ForwardingDestination", {
    "id": "str",
    "ownerId": "str",
    "name": "str",
    "kind": "Literal[\"http\", \"mqtt\", \"kafka\", \"wialon-ips\", \"egts\"]",
    "settings": "ForwardingSettings",
    "hasSecret": "bool",
    "secretHeaderNames": "list[str]",
    "filter": "ForwardingFilter",
    "active": "bool",
    "createdAt": "str",
    "progress": "ForwardingState",
})

ForwardingDestinationPatch = TypedDict("ForwardingDestinationPatch", {
    "name": "NotRequired[str]",
    "settings": "NotRequired[ForwardingSettingsPatch]",
    "secret": "NotRequired[str | None]",
    "secretHeaders": "NotRequired[dict[str, str | None]]",
    "filter": "NotRequired[ForwardingFilterPatch]",
    "active": "NotRequired[bool]",
})

# Selects the forwarded data from what the owner may see at that time: the data of the vehicles in `vehicleIds` and in `groupIds`, or of all vehicles if both are null.

ForwardingFilter = TypedDict("ForwardingFilter", {
    "vehicleIds": "list[str] | None",
    "groupIds": "list[str] | None",
    "positions": "bool",
    "events": "bool",
    "eventKinds": "list[Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\"]] | None",
})

ForwardingFilterPatch = TypedDict("ForwardingFilterPatch", {
    "vehicleIds": "NotRequired[list[str] | None]",
    "groupIds": "NotRequired[list[str] | None]",
    "positions": "NotRequired[bool]",
    "events": "NotRequired[bool]",
    "eventKinds": "NotRequired[list[Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\"]] | None]",
})

ForwardingReplay = TypedDict("ForwardingReplay", {
    "from": "str",
})

# Settings of the destination. Which are present depends on its kind.

ForwardingSettings = TypedDict("ForwardingSettings", {
    "url": "NotRequired[str]",
    "host": "NotRequired[str]",
    "port": "NotRequired[int]",
    "tls": "NotRequired[bool]",
    "username": "NotRequired[str | None]",
    "topicPrefix": "NotRequired[str]",
    "homeAssistant": "NotRequired[bool]",
    "discoveryPrefix": "NotRequired[str]",
    "brokers": "NotRequired[list[str]]",
    "topic": "NotRequired[str]",
    "mechanism": "NotRequired[Literal[\"plain\", \"scram-sha-256\", \"scram-sha-512\"] | None]",
    "dispatcherId": "NotRequired[int]",
    "headers": "NotRequired[dict[str, str]]",
    "ca": "NotRequired[str | None]",
})

ForwardingSettingsPatch = TypedDict("ForwardingSettingsPatch", {
    "url": "NotRequired[str]",
    "host": "NotRequired[str]",
    "port": "NotRequired[int]",
    "tls": "NotRequired[bool]",
    "username": "NotRequired[str | None]",
    "topicPrefix": "NotRequired[str]",
    "homeAssistant": "NotRequired[bool]",
    "discoveryPrefix": "NotRequired[str]",
    "brokers": "NotRequired[list[str]]",
    "topic": "NotRequired[str]",
    "mechanism": "NotRequired[Literal[\"plain\", \"scram-sha-256\", \"scram-sha-512\"] | None]",
    "dispatcherId": "NotRequired[int]",
    "headers": "NotRequired[dict[str, str]]",
    "ca": "NotRequired[str | None]",
})

ForwardingStateGap = TypedDict("ForwardingStateGap", {
    "from": "str",
    "to": "str",
    "noticedAt": "str",
})

ForwardingState = TypedDict("ForwardingState", {
    "state": "Literal[\"running\", \"waiting\", \"retrying\", \"paused\"]",
    "forwardedUntil": "str | None",
    "lagSeconds": "float | None",
    "lastSuccessAt": "str | None",
    "lastError": "str | None",
    "lastErrorAt": "str | None",
    "failures": "int",
    "nextAttemptAt": "str | None",
    "positionsSent": "int",
    "eventsSent": "int",
    "refused": "int",
    "lastRefusal": "str | None",
    "gap": "ForwardingStateGap | None",
})

ForwardingTest = TypedDict("ForwardingTest", {
    "ok": "bool",
    "error": "str | None",
    "tookMs": "int",
})

FuelRow = TypedDict("FuelRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "period": "str",
    "fuelUsedL": "float",
    "distanceM": "float",
    "litresPer100Km": "float | None",
    "engineSeconds": "float",
    "litresPerHour": "float | None",
    "refuellings": "int",
    "refuelledL": "float",
    "drains": "int",
    "drainedL": "float",
})

Geometry1 = TypedDict("Geometry1", {
    "type": "Literal[\"Polygon\"]",
    "coordinates": "list[list[list[float]]]",
})

Geometry2 = TypedDict("Geometry2", {
    "type": "Literal[\"MultiPolygon\"]",
    "coordinates": "list[list[list[list[float]]]]",
})

Geometry3 = TypedDict("Geometry3", {
    "type": "Literal[\"Point\"]",
    "coordinates": "list[float]",
})

Geometry4 = TypedDict("Geometry4", {
    "type": "Literal[\"LineString\"]",
    "coordinates": "list[list[float]]",
})

Geometry: TypeAlias = "Geometry1 | Geometry2 | Geometry3 | Geometry4"

GeozoneProperties = TypedDict("GeozoneProperties", {
    "shape": "Literal[\"polygon\", \"multipolygon\", \"circle\", \"line\"]",
    "radiusM": "NotRequired[float]",
    "widthM": "NotRequired[float]",
    "name": "str",
    "speedLimitKmh": "float | None",
    "minDwellSeconds": "float",
    "color": "str | None",
    "description": "str | None",
    "category": "str | None",
    "sharedWithOrganisation": "bool",
    "groupIds": "list[str] | None",
    "sharedGroupIds": "list[str]",
    "externalId": "str | None",
    "customAttributes": "dict[str, str | float | bool]",
    "ownerId": "str",
    "areaM2": "float",
    "perimeterM": "float",
})

Geozone = TypedDict("Geozone", {
    "type": "Literal[\"Feature\"]",
    "id": "str",
    "geometry": "Geometry",
    "properties": "GeozoneProperties",
})

GeozoneCollection = TypedDict("GeozoneCollection", {
    "type": "Literal[\"FeatureCollection\"]",
    "features": "list[Geozone]",
})

GeozoneFileItemsItemFeature = TypedDict("GeozoneFileItemsItemFeature", {})

GeozoneFileItemsItem = TypedDict("GeozoneFileItemsItem", {
    "name": "str",
    "feature": "GeozoneFileItemsItemFeature | None",
    "unsupported": "str | None",
    "lacks": "Literal[\"radiusM\", \"widthM\"] | None",
    "ignored": "list[str]",
})

GeozoneFile = TypedDict("GeozoneFile", {
    "items": "list[GeozoneFileItemsItem]",
})

GeozoneFileImportItemsItem = TypedDict("GeozoneFileImportItemsItem", {
    "index": "int",
    "name": "str",
    "ignored": "list[str]",
    "id": "str | None",
    "outcome": "Literal[\"created\", \"updated\", \"unchanged\"]",
})

GeozoneFileImportSkippedItem = TypedDict("GeozoneFileImportSkippedItem", {
    "index": "int",
    "name": "str",
    "unsupported": "str | None",
    "lacks": "Literal[\"radiusM\", \"widthM\"] | None",
})

GeozoneFileImport = TypedDict("GeozoneFileImport", {
    "dryRun": "bool",
    "created": "int",
    "updated": "int",
    "unchanged": "int",
    "items": "list[GeozoneFileImportItemsItem]",
    "skipped": "list[GeozoneFileImportSkippedItem]",
})

GeozoneImportItemsItem = TypedDict("GeozoneImportItemsItem", {
    "index": "int",
    "id": "str | None",
    "outcome": "Literal[\"created\", \"updated\", \"unchanged\"]",
})

GeozoneImport = TypedDict("GeozoneImport", {
    "dryRun": "bool",
    "created": "int",
    "updated": "int",
    "unchanged": "int",
    "items": "list[GeozoneImportItemsItem]",
})

GeozoneMatrixRow = TypedDict("GeozoneMatrixRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "geozoneId": "str",
    "geozoneName": "str | None",
    "period": "str",
    "visits": "int",
    "durationSeconds": "float",
    "longestSeconds": "float",
    "firstInsideAt": "str",
    "lastInsideAt": "str",
})

GeozonePatchProperties = TypedDict("GeozonePatchProperties", {
    "shape": "NotRequired[Literal[\"polygon\", \"multipolygon\", \"circle\", \"line\"]]",
    "radiusM": "NotRequired[float | None]",
    "widthM": "NotRequired[float | None]",
    "name": "NotRequired[str]",
    "speedLimitKmh": "NotRequired[float | None]",
    "minDwellSeconds": "NotRequired[float]",
    "color": "NotRequired[str | None]",
    "description": "NotRequired[str | None]",
    "category": "NotRequired[str | None]",
    "sharedWithOrganisation": "NotRequired[bool]",
    "groupIds": "NotRequired[list[str] | None]",
    "sharedGroupIds": "NotRequired[list[str]]",
    "externalId": "NotRequired[str | None]",
    "customAttributes": "NotRequired[dict[str, str | float | bool | None]]",
})

GeozonePatch = TypedDict("GeozonePatch", {
    "type": "NotRequired[Literal[\"Feature\"]]",
    "geometry": "NotRequired[NewGeometry]",
    "properties": "NotRequired[GeozonePatchProperties]",
})

GeozoneVisitsRow = TypedDict("GeozoneVisitsRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "part": "Literal[\"inside\", \"between\"]",
    "geozoneId": "str | None",
    "geozoneName": "str | None",
    "nextGeozoneId": "str | None",
    "nextGeozoneName": "str | None",
    "startedAt": "str",
    "endedAt": "str | None",
    "durationSeconds": "float",
    "inferred": "bool",
    "endReason": "Literal[\"left\", \"geofence-deleted\", \"geofence-changed\", \"no-longer-watched\", \"slowed\", \"limit-removed\", \"stopped\", \"gap\", \"moved\", \"ignition\", \"switched-off\", \"cleared\", \"restored\", \"online\", \"due\", \"serviced\", \"corrected\", \"plan-changed\", \"card-removed\", \"other-driver\", \"parked\", \"settled\", \"returned\", \"sensor-changed\"] | None",
    "startLatitude": "float | None",
    "startLongitude": "float | None",
    "endLatitude": "float | None",
    "endLongitude": "float | None",
    "startPlace": "str | None",
    "endPlace": "str | None",
})

HistoryErasure = TypedDict("HistoryErasure", {
    "before": "str",
})

HistoryErasureJobResult = TypedDict("HistoryErasureJobResult", {
    "vehicles": "int",
    "archiveRows": "int",
    "videos": "int",
    "reports": "int",
    "notifications": "int",
})

HistoryErasureJob = TypedDict("HistoryErasureJob", {
    "id": "str",
    "userId": "str | None",
    "state": "Literal[\"queued\", \"running\", \"done\", \"failed\", \"cancelled\"]",
    "percent": "float",
    "error": "str | None",
    "createdAt": "str",
    "startedAt": "str | None",
    "finishedAt": "str | None",
    "kind": "Literal[\"erase-history\"]",
    "subjectId": "str | None",
    "before": "str",
    "result": "HistoryErasureJobResult | None",
})

HttpChannelSettingsHeadersItem = TypedDict("HttpChannelSettingsHeadersItem", {
    "name": "str",
    "value": "str",
})

HttpChannelSettings = TypedDict("HttpChannelSettings", {
    "method": "Literal[\"GET\", \"POST\", \"PUT\"]",
    "url": "str",
    "headers": "list[HttpChannelSettingsHeadersItem]",
    "contentType": "Literal[\"application/json\", \"application/x-www-form-urlencoded\", \"text/plain\", \"application/xml\"]",
    "body": "str",
    "to": "str",
})

IdlingRow = TypedDict("IdlingRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "period": "str",
    "idlingSeconds": "float",
    "tripIdlingSeconds": "float",
    "idlings": "int",
    "engineOnSeconds": "float",
    "share": "float | None",
})

ImportedGeozoneProperties = TypedDict("ImportedGeozoneProperties", {
    "shape": "Literal[\"polygon\", \"multipolygon\", \"circle\", \"line\"]",
    "radiusM": "NotRequired[float]",
    "widthM": "NotRequired[float]",
    "name": "str",
    "speedLimitKmh": "NotRequired[float | None]",
    "minDwellSeconds": "NotRequired[float]",
    "color": "NotRequired[str | None]",
    "description": "NotRequired[str | None]",
    "category": "NotRequired[str | None]",
    "sharedWithOrganisation": "NotRequired[bool]",
    "groupIds": "NotRequired[list[str] | None]",
    "sharedGroupIds": "NotRequired[list[str]]",
    "externalId": "NotRequired[str | None]",
    "customAttributes": "NotRequired[dict[str, str | float | bool]]",
    "ownerId": "NotRequired[dict[str, Any]]",
    "areaM2": "NotRequired[dict[str, Any]]",
    "perimeterM": "NotRequired[dict[str, Any]]",
})

ImportedGeozone = TypedDict("ImportedGeozone", {
    "type": "Literal[\"Feature\"]",
    "id": "NotRequired[str | float]",
    "bbox": "NotRequired[list[float]]",
    "geometry": "NewGeometry",
    "properties": "ImportedGeozoneProperties",
})

Incident = TypedDict("Incident", {
    "id": "str",
    "version": "int",
    "ruleId": "str",
    "ruleName": "str",
    "vehicleName": "str | None",
    "geofenceName": "str | None",
    "driverName": "str | None",
    "severity": "Literal[\"warning\", \"critical\"]",
    "shared": "bool",
    "state": "Literal[\"open\", \"acknowledged\", \"closed\"]",
    "owner": "Colleague | None",
    "assignee": "Colleague | None",
    "event": "PublishedEvent | LicenceExpiry",
    "createdAt": "str",
    "changedAt": "str",
    "acknowledgedAt": "str | None",
    "closedAt": "str | None",
    "endedAt": "str | None",
    "escalateAt": "str | None",
    "escalatedAt": "str | None",
})

IncidentEntry = TypedDict("IncidentEntry", {
    "id": "str",
    "at": "str",
    "kind": "Literal[\"acknowledged\", \"assigned\", \"commented\", \"escalated\", \"closed\", \"ended\"]",
    "by": "Colleague | None",
    "assignee": "Colleague | None",
    "text": "str | None",
})

IncidentWithEntries = TypedDict("IncidentWithEntries", {
    "id": "str",
    "version": "int",
    "ruleId": "str",
    "ruleName": "str",
    "vehicleName": "str | None",
    "geofenceName": "str | None",
    "driverName": "str | None",
    "severity": "Literal[\"warning\", \"critical\"]",
    "shared": "bool",
    "state": "Literal[\"open\", \"acknowledged\", \"closed\"]",
    "owner": "Colleague | None",
    "assignee": "Colleague | None",
    "event": "PublishedEvent | LicenceExpiry",
    "createdAt": "str",
    "changedAt": "str",
    "acknowledgedAt": "str | None",
    "closedAt": "str | None",
    "endedAt": "str | None",
    "escalateAt": "str | None",
    "escalatedAt": "str | None",
    "entries": "list[IncidentEntry]",
})

IncompleteTimesItem = TypedDict("IncompleteTimesItem", {
    "from": "str",
    "to": "str",
})

IncompleteTimes: TypeAlias = "list[IncompleteTimesItem]"

Index = TypedDict("Index", {
    "documentation": "str",
    "openapi": "str",
    "asyncapi": "str",
    "login": "str",
    "live": "str",
    "health": "str",
    "metrics": "str",
})

Job: TypeAlias = "RecalculationJob | ReportJob | ErasureJob | HistoryErasureJob | RetentionJob | PersonExportJob"

KeySetKeysItem = TypedDict("KeySetKeysItem", {
    "kty": "Literal[\"OKP\"]",
    "crv": "Literal[\"Ed25519\"]",
    "x": "str",
    "kid": "str",
    "alg": "Literal[\"EdDSA\"]",
    "use": "Literal[\"sig\"]",
})

KeySet = TypedDict("KeySet", {
    "keys": "list[KeySetKeysItem]",
})

# A driving licence that expires, in notifications. It has no vehicle and no place.

LicenceExpiry = TypedDict("LicenceExpiry", {
    "id": "str",
    "kind": "Literal[\"licence-expiry\"]",
    "phase": "Literal[\"begin\"]",
    "vehicleId": "None",
    "driverId": "str",
    "stage": "Literal[\"expires-soon\", \"expired\"]",
    "licenceExpiresOn": "str",
    "startedAt": "str",
    "endedAt": "None",
})

ListedVideoTaskProgress = TypedDict("ListedVideoTaskProgress", {
    "percent": "int",
    "bytes": "int",
})

ListedVideoTaskFile = TypedDict("ListedVideoTaskFile", {
    "bytes": "int",
    "durationSeconds": "float",
    "videoCodec": "str",
    "audioCodec": "str | None",
    "frames": "int",
    "packetsLost": "int",
    "expiresAt": "str",
})

ListedVideoTask = TypedDict("ListedVideoTask", {
    "id": "str",
    "profileId": "str",
    "vehicleId": "str",
    "createdBy": "str | None",
    "channel": "int",
    "start": "str",
    "end": "str",
    "quality": "Literal[\"main\", \"sub\"]",
    "audio": "bool",
    "status": "Literal[\"new\", \"waiting\", \"requested\", \"downloading\", \"processing\", \"done\", \"failed\", \"cancelled\"]",
    "reason": "Literal[\"terminal-offline\", \"no-recording\", \"refused\", \"busy\", \"no-answer\", \"stalled\", \"connection-lost\", \"bad-stream\", \"unsupported-codec\", \"unreachable\", \"address-not-allowed\", \"source-failed\", \"too-large\", \"no-space\", \"interrupted\", \"expired\", \"profile-deleted\"] | None",
    "detail": "str | None",
    "attempts": "int",
    "progress": "ListedVideoTaskProgress",
    "createdAt": "str",
    "changedAt": "str",
    "expiresAt": "str",
    "nextAttemptAt": "str | None",
    "finishedAt": "str | None",
    "file": "ListedVideoTaskFile | None",
    "fileDeletedAt": "str | None",
})

Liveness = TypedDict("Liveness", {
    "status": "Literal[\"ok\"]",
})

LngLat: TypeAlias = "list[float]"

LoginOptionsOpenId = TypedDict("LoginOptionsOpenId", {
    "name": "str",
})

LoginOptions = TypedDict("LoginOptions", {
    "openId": "LoginOptionsOpenId | None",
    "passkeyOrigin": "str | None",
})

# What is left until maintenance is due; negative if it is overdue. Null if the plan does not use the measure.

MaintenanceDueLeft = TypedDict("MaintenanceDueLeft", {
    "distanceKm": "float | None",
    "engineHours": "float | None",
    "days": "float | None",
    "counter": "float | None",
})

MaintenanceDue = TypedDict("MaintenanceDue", {
    "planId": "str",
    "planName": "str",
    "vehicleId": "str",
    "stage": "Literal[\"ok\", \"warning\", \"due\"]",
    "cause": "Literal[\"distance\", \"engine-hours\", \"days\", \"counter\"]",
    "left": "MaintenanceDueLeft",
    "counterUnit": "str | None",
    "share": "float",
    "since": "str",
    "dueAt": "str | None",
})

MaintenanceList = TypedDict("MaintenanceList", {
    "items": "list[MaintenanceDue]",
})

MaintenancePlanEvery = TypedDict("MaintenancePlanEvery", {
    "distanceKm": "float | None",
    "engineHours": "float | None",
    "days": "float | None",
    "counter": "float | None",
})

MaintenancePlanWarning = TypedDict("MaintenancePlanWarning", {
    "distanceKm": "float | None",
    "engineHours": "float | None",
    "days": "float | None",
    "counter": "float | None",
})

MaintenancePlan = TypedDict("MaintenancePlan", {
    "id": "str",
    "version": "int",
    "name": "str",
    "description": "str | None",
    "vehicleId": "str | None",
    "groupId": "str | None",
    "counterName": "str | None",
    "every": "MaintenancePlanEvery",
    "warning": "MaintenancePlanWarning",
    "startsAt": "str",
    "createdAt": "str",
})

MaintenancePlanImportItemsItem = TypedDict("MaintenancePlanImportItemsItem", {
    "row": "int",
    "id": "str | None",
})

MaintenancePlanImport = TypedDict("MaintenancePlanImport", {
    "dryRun": "bool",
    "created": "int",
    "items": "list[MaintenancePlanImportItemsItem]",
})

MaintenancePlanPatch = TypedDict("MaintenancePlanPatch", {
    "name": "NotRequired[str]",
    "description": "NotRequired[str | None]",
    "vehicleId": "NotRequired[str | None]",
    "groupId": "NotRequired[str | None]",
    "counterName": "NotRequired[str | None]",
    "every": "NotRequired[MaintenanceSpanWanted]",
    "warning": "NotRequired[MaintenanceSpanWanted]",
    "startsAt": "NotRequired[str]",
})

MaintenanceRow = TypedDict("MaintenanceRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "kind": "Literal[\"done\", \"planned\"]",
    "title": "str",
    "planId": "str | None",
    "at": "str | None",
    "stage": "Literal[\"ok\", \"warning\", \"due\"] | None",
    "cause": "Literal[\"distance\", \"engine-hours\", \"days\", \"counter\"] | None",
    "leftM": "float | None",
    "leftEngineSeconds": "float | None",
    "leftDays": "float | None",
    "leftCounter": "float | None",
    "counterUnit": "str | None",
    "odometerM": "float | None",
    "readEngineSeconds": "float | None",
    "cost": "float | None",
    "currency": "str | None",
    "otherCost": "str | None",
    "note": "str | None",
    "files": "int | None",
})

MaintenanceSpanWanted = TypedDict("MaintenanceSpanWanted", {
    "distanceKm": "NotRequired[float | None]",
    "engineHours": "NotRequired[float | None]",
    "days": "NotRequired[float | None]",
    "counter": "NotRequired[float | None]",
})

MapFile = TypedDict("MapFile", {
    "file": "str",
    "bytes": "int",
    "state": "Literal[\"served\", \"new\", \"hidden\", \"refused\", \"unreadable\"]",
    "name": "str | None",
    "attribution": "str | None",
    "minZoom": "float | None",
    "maxZoom": "float | None",
})

MePatch = TypedDict("MePatch", {
    "name": "NotRequired[str]",
})

MembersChanged = TypedDict("MembersChanged", {
    "dryRun": "bool",
    "added": "int",
    "removed": "int",
})

MessageChannel = TypedDict("MessageChannel", {
    "id": "str",
    "kind": "Literal[\"telegram\", \"http\", \"web-push\"]",
    "name": "str",
    "state": "Literal[\"pending\", \"confirmed\"]",
    "settings": "TelegramSettings | HttpChannelSettings | WebPushSettings",
    "hasSecret": "bool",
    "createdAt": "str",
})

MessageChannelCode = TypedDict("MessageChannelCode", {
    "code": "str",
})

MessageChannelPatch = TypedDict("MessageChannelPatch", {
    "name": "NotRequired[str]",
    "settings": "NotRequired[MessageChannelSettingsPatch]",
    "secret": "NotRequired[str | None]",
})

MessageChannelSettingsPatchHeadersItem = TypedDict("MessageChannelSettingsPatchHeadersItem", {
    "name": "str",
    "value": "str",
})

MessageChannelSettingsPatch = TypedDict("MessageChannelSettingsPatch", {
    "chatId": "NotRequired[str]",
    "method": "NotRequired[Literal[\"GET\", \"POST\", \"PUT\"]]",
    "url": "NotRequired[str]",
    "headers": "NotRequired[list[MessageChannelSettingsPatchHeadersItem]]",
    "contentType": "NotRequired[Literal[\"application/json\", \"application/x-www-form-urlencoded\", \"text/plain\", \"application/xml\"]]",
    "body": "NotRequired[str]",
    "to": "NotRequired[str]",
})

MessageChannelTest = TypedDict("MessageChannelTest", {
    "id": "str",
    "channel": "str",
    "state": "Literal[\"pending\", \"delivered\", \"failed\", \"cancelled\"]",
    "createdAt": "str",
    "finishedAt": "str | None",
    "lastError": "str | None",
    "responseStatus": "int | None",
})

MessagePreview = TypedDict("MessagePreview", {
    "subject": "str",
    "text": "str",
})

MessagePreviewRequest = TypedDict("MessagePreviewRequest", {
    "messageTemplate": "NotRequired[str | None]",
    "eventKind": "NotRequired[Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\", \"licence-expiry\"]]",
    "timeZone": "NotRequired[str]",
    "language": "NotRequired[Literal[\"en\", \"ru\", \"de\", \"es\", \"he\"] | None]",
})

MileageRow = TypedDict("MileageRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "period": "str",
    "distanceM": "float",
    "trips": "int",
    "movingSeconds": "float",
})

NamedPlace = TypedDict("NamedPlace", {
    "text": "str",
    "source": "Literal[\"geozone\", \"address\", \"town\"]",
    "geozoneId": "str | None",
})

NewAccountEmail = TypedDict("NewAccountEmail", {
    "email": "str | None",
    "currentPassword": "NotRequired[str]",
})

NewApiKey = TypedDict("NewApiKey", {
    "name": "str",
    "scopes": "list[Literal[\"read\", \"write\", \"commands\", \"video\"]]",
    "groupIds": "NotRequired[list[str] | None]",
    "expiresAt": "NotRequired[str | None]",
})

NewChannelTest2 = TypedDict("NewChannelTest2", {
    "channel": "Literal[\"email\"]",
    "address": "str",
})

NewChannelTest3 = TypedDict("NewChannelTest3", {
    "channel": "Literal[\"webhook\"]",
})

NewChannelTest: TypeAlias = "NewChannelTest2 | NewChannelTest3"

NewCommand1Parameters = TypedDict("NewCommand1Parameters", {})

NewCommand1 = TypedDict("NewCommand1", {
    "type": "Literal[\"engine-block\", \"engine-resume\", \"position-request\", \"reboot\"]",
    "parameters": "NotRequired[NewCommand1Parameters]",
    "confirm": "NotRequired[bool]",
    "maxSpeedKmh": "NotRequired[float]",
    "expiresInSeconds": "NotRequired[int]",
})

NewCommand2Parameters = TypedDict("NewCommand2Parameters", {
    "output": "int",
    "on": "bool",
})

NewCommand2 = TypedDict("NewCommand2", {
    "type": "Literal[\"output-set\"]",
    "parameters": "NewCommand2Parameters",
    "confirm": "NotRequired[bool]",
    "maxSpeedKmh": "NotRequired[float]",
    "expiresInSeconds": "NotRequired[int]",
})

NewCommand3Parameters = TypedDict("NewCommand3Parameters", {
    "seconds": "int",
})

NewCommand3 = TypedDict("NewCommand3", {
    "type": "Literal[\"interval-set\"]",
    "parameters": "NewCommand3Parameters",
    "confirm": "NotRequired[bool]",
    "maxSpeedKmh": "NotRequired[float]",
    "expiresInSeconds": "NotRequired[int]",
})

NewCommand4Parameters = TypedDict("NewCommand4Parameters", {
    "text": "str",
})

NewCommand4 = TypedDict("NewCommand4", {
    "type": "Literal[\"text\"]",
    "parameters": "NewCommand4Parameters",
    "confirm": "NotRequired[bool]",
    "maxSpeedKmh": "NotRequired[float]",
    "expiresInSeconds": "NotRequired[int]",
})

NewCommand: TypeAlias = "NewCommand1 | NewCommand2 | NewCommand3 | NewCommand4"

NewCounterCorrection = TypedDict("NewCounterCorrection", {
    "counter": "Literal[\"odometer\", \"engine-hours\"] | str",
    "value": "float",
    "at": "NotRequired[str]",
    "note": "NotRequired[str | None]",
})

NewCustomCounter = TypedDict("NewCustomCounter", {
    "name": "str",
    "unit": "NotRequired[str | None]",
    "source": "Literal[\"manual\", \"sensor-total\", \"sensor-hours\"]",
    "sensorId": "NotRequired[str | None]",
    "startsAt": "NotRequired[str | None]",
})

NewDriver = TypedDict("NewDriver", {
    "name": "str",
    "phone": "NotRequired[str | None]",
    "licenceNumber": "NotRequired[str | None]",
    "licenceExpiresOn": "NotRequired[str | None]",
    "codes": "NotRequired[list[str]]",
    "groupIds": "NotRequired[list[str]]",
    "externalId": "NotRequired[str | None]",
    "customAttributes": "NotRequired[dict[str, str | float | bool]]",
    "dealerId": "NotRequired[str | None]",
})

NewDriverAssignment = TypedDict("NewDriverAssignment", {
    "vehicleId": "str",
    "driverId": "str",
    "from": "str",
    "to": "NotRequired[str | None]",
})

# EGTS from platform to platform. The object id is the number of the terminal; of a number beyond 32 bits, such as an IMEI, its last eight digits.

NewEgtsDestinationSettings = TypedDict("NewEgtsDestinationSettings", {
    "host": "str",
    "port": "int",
    "tls": "NotRequired[bool]",
    "dispatcherId": "int",
    "username": "NotRequired[str | None]",
})

NewExpiry = TypedDict("NewExpiry", {
    "expiresAt": "str | None",
})

NewForwardingDestination1 = TypedDict("NewForwardingDestination1", {
    "kind": "Literal[\"http\"]",
    "settings": "NewHttpDestinationSettings",
    "name": "str",
    "secret": "NotRequired[str | None]",
    "secretHeaders": "NotRequired[dict[str, str]]",
    "filter": "NotRequired[NewForwardingFilter]",
    "active": "NotRequired[bool]",
})

NewForwardingDestination2 = TypedDict("NewForwardingDestination2", {
    "kind": "Literal[\"mqtt\"]",
    "settings": "NewMqttDestinationSettings",
    "name": "str",
    "secret": "NotRequired[str | None]",
    "secretHeaders": "NotRequired[dict[str, str]]",
    "filter": "NotRequired[NewForwardingFilter]",
    "active": "NotRequired[bool]",
})

NewForwardingDestination3 = TypedDict("NewForwardingDestination3", {
    "kind": "Literal[\"kafka\"]",
    "settings": "NewKafkaDestinationSettings",
    "name": "str",
    "secret": "NotRequired[str | None]",
    "secretHeaders": "NotRequired[dict[str, str]]",
    "filter": "NotRequired[NewForwardingFilter]",
    "active": "NotRequired[bool]",
})

NewForwardingDestination4 = TypedDict("NewForwardingDestination4", {
    "kind": "Literal[\"wialon-ips\"]",
    "settings": "NewWialonIpsDestinationSettings",
    "name": "str",
    "secret": "NotRequired[str | None]",
    "secretHeaders": "NotRequired[dict[str, str]]",
    "filter": "NotRequired[NewForwardingFilter]",
    "active": "NotRequired[bool]",
})

NewForwardingDestination5 = TypedDict("NewForwardingDestination5", {
    "kind": "Literal[\"egts\"]",
    "settings": "NewEgtsDestinationSettings",
    "name": "str",
    "secret": "NotRequired[str | None]",
    "secretHeaders": "NotRequired[dict[str, str]]",
    "filter": "NotRequired[NewForwardingFilter]",
    "active": "NotRequired[bool]",
})

NewForwardingDestination: TypeAlias = "NewForwardingDestination1 | NewForwardingDestination2 | NewForwardingDestination3 | NewForwardingDestination4 | NewForwardingDestination5"

# Selects the forwarded data from what the owner may see at that time: the data of the vehicles in `vehicleIds` and in `groupIds`, or of all vehicles if both are null.

NewForwardingFilter = TypedDict("NewForwardingFilter", {
    "vehicleIds": "NotRequired[list[str] | None]",
    "groupIds": "NotRequired[list[str] | None]",
    "positions": "NotRequired[bool]",
    "events": "NotRequired[bool]",
    "eventKinds": "NotRequired[list[Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\"]] | None]",
})

NewGeometry1 = TypedDict("NewGeometry1", {
    "type": "Literal[\"Polygon\"]",
    "coordinates": "list[list[LngLat]]",
})

NewGeometry2 = TypedDict("NewGeometry2", {
    "type": "Literal[\"MultiPolygon\"]",
    "coordinates": "list[list[list[LngLat]]]",
})

NewGeometry3 = TypedDict("NewGeometry3", {
    "type": "Literal[\"Point\"]",
    "coordinates": "LngLat",
})

NewGeometry4 = TypedDict("NewGeometry4", {
    "type": "Literal[\"LineString\"]",
    "coordinates": "list[LngLat]",
})

NewGeometry: TypeAlias = "NewGeometry1 | NewGeometry2 | NewGeometry3 | NewGeometry4"

NewGeozoneProperties = TypedDict("NewGeozoneProperties", {
    "shape": "Literal[\"polygon\", \"multipolygon\", \"circle\", \"line\"]",
    "radiusM": "NotRequired[float]",
    "widthM": "NotRequired[float]",
    "name": "str",
    "speedLimitKmh": "NotRequired[float | None]",
    "minDwellSeconds": "NotRequired[float]",
    "color": "NotRequired[str | None]",
    "description": "NotRequired[str | None]",
    "category": "NotRequired[str | None]",
    "sharedWithOrganisation": "NotRequired[bool]",
    "groupIds": "NotRequired[list[str] | None]",
    "sharedGroupIds": "NotRequired[list[str]]",
    "externalId": "NotRequired[str | None]",
    "customAttributes": "NotRequired[dict[str, str | float | bool]]",
})

NewGeozone = TypedDict("NewGeozone", {
    "type": "Literal[\"Feature\"]",
    "geometry": "NewGeometry",
    "properties": "NewGeozoneProperties",
})

NewGeozoneCollection = TypedDict("NewGeozoneCollection", {
    "type": "Literal[\"FeatureCollection\"]",
    "bbox": "NotRequired[list[float]]",
    "features": "list[ImportedGeozone]",
})

NewHttpChannelSettingsHeadersItem = TypedDict("NewHttpChannelSettingsHeadersItem", {
    "name": "str",
    "value": "str",
})

NewHttpChannelSettings = TypedDict("NewHttpChannelSettings", {
    "method": "NotRequired[Literal[\"GET\", \"POST\", \"PUT\"]]",
    "url": "str",
    "headers": "NotRequired[list[NewHttpChannelSettingsHeadersItem]]",
    "contentType": "NotRequired[Literal[\"application/json\", \"application/x-www-form-urlencoded\", \"text/plain\", \"application/xml\"]]",
    "body": "NotRequired[str]",
    "to": "NotRequired[str]",
})

# Batches of up to 200 items by POST, signed like webhooks. Any 2xx status confirms a batch.

NewHttpDestinationSettings = TypedDict("NewHttpDestinationSettings", {
    "url": "str",
    "headers": "NotRequired[dict[str, str]]",
    "ca": "NotRequired[str | None]",
})

NewIncidentEntry1 = TypedDict("NewIncidentEntry1", {
    "kind": "Literal[\"acknowledged\"]",
})

NewIncidentEntry2 = TypedDict("NewIncidentEntry2", {
    "kind": "Literal[\"assigned\"]",
    "assigneeId": "str | None",
})

NewIncidentEntry3 = TypedDict("NewIncidentEntry3", {
    "kind": "Literal[\"commented\"]",
    "text": "str",
})

NewIncidentEntry4 = TypedDict("NewIncidentEntry4", {
    "kind": "Literal[\"escalated\"]",
})

NewIncidentEntry5 = TypedDict("NewIncidentEntry5", {
    "kind": "Literal[\"closed\"]",
    "text": "NotRequired[str | None]",
})

NewIncidentEntry: TypeAlias = "NewIncidentEntry1 | NewIncidentEntry2 | NewIncidentEntry3 | NewIncidentEntry4 | NewIncidentEntry5"

# JSON messages with the id of the vehicle as key. All in-sync replicas have to confirm them.

NewKafkaDestinationSettings = TypedDict("NewKafkaDestinationSettings", {
    "brokers": "list[str]",
    "topic": "str",
    "tls": "NotRequired[bool]",
    "mechanism": "NotRequired[Literal[\"plain\", \"scram-sha-256\", \"scram-sha-512\"] | None]",
    "username": "NotRequired[str | None]",
    "ca": "NotRequired[str | None]",
})

NewMaintenancePlan = TypedDict("NewMaintenancePlan", {
    "name": "str",
    "description": "NotRequired[str | None]",
    "vehicleId": "NotRequired[str | None]",
    "groupId": "NotRequired[str | None]",
    "counterName": "NotRequired[str | None]",
    "every": "MaintenanceSpanWanted",
    "warning": "NotRequired[MaintenanceSpanWanted]",
    "startsAt": "NotRequired[str]",
})

NewMessageChannel1 = TypedDict("NewMessageChannel1", {
    "kind": "Literal[\"telegram\"]",
    "name": "str",
    "settings": "TelegramSettings",
    "secret": "str",
})

NewMessageChannel2 = TypedDict("NewMessageChannel2", {
    "kind": "Literal[\"http\"]",
    "name": "str",
    "settings": "NewHttpChannelSettings",
    "secret": "NotRequired[str | None]",
})

NewMessageChannel3 = TypedDict("NewMessageChannel3", {
    "kind": "Literal[\"web-push\"]",
    "name": "str",
    "subscription": "PushSubscription",
})

NewMessageChannel: TypeAlias = "NewMessageChannel1 | NewMessageChannel2 | NewMessageChannel3"

# JSON with QoS 1 to the topics `position` (retained), `late-position` and `event` below `{topicPrefix}/vehicles/{vehicleId}/`. With `homeAssistant`, vehicles appear in Home Assistant by its MQTT discovery.

NewMqttDestinationSettings = TypedDict("NewMqttDestinationSettings", {
    "host": "str",
    "port": "NotRequired[int]",
    "tls": "NotRequired[bool]",
    "username": "NotRequired[str | None]",
    "topicPrefix": "NotRequired[str]",
    "homeAssistant": "NotRequired[bool]",
    "discoveryPrefix": "NotRequired[str]",
    "ca": "NotRequired[str | None]",
})

NewNotificationRuleDays1 = TypedDict("NewNotificationRuleDays1", {
    "on": "Literal[\"daily\"]",
})

NewNotificationRuleDays2 = TypedDict("NewNotificationRuleDays2", {
    "on": "Literal[\"weekdays\"]",
    "weekdays": "list[Literal[\"monday\", \"tuesday\", \"wednesday\", \"thursday\", \"friday\", \"saturday\", \"sunday\"]]",
})

NewNotificationRuleDays3 = TypedDict("NewNotificationRuleDays3", {
    "on": "Literal[\"dates\"]",
    "from": "str",
    "to": "str",
})

NewNotificationRuleHours = TypedDict("NewNotificationRuleHours", {
    "from": "str",
    "to": "str",
})

# Texts by language. A message in one of these languages uses its text; a message in another language uses `messageTemplate`.

NewNotificationRuleMessageTemplates = TypedDict("NewNotificationRuleMessageTemplates", {
    "en": "NotRequired[str]",
    "ru": "NotRequired[str]",
    "de": "NotRequired[str]",
    "es": "NotRequired[str]",
    "he": "NotRequired[str]",
})

NewNotificationRuleWebhook = TypedDict("NewNotificationRuleWebhook", {
    "url": "str",
    "secret": "NotRequired[str]",
})

NewNotificationRuleCommand1Parameters = TypedDict("NewNotificationRuleCommand1Parameters", {})

NewNotificationRuleCommand1 = TypedDict("NewNotificationRuleCommand1", {
    "type": "Literal[\"engine-block\", \"engine-resume\", \"position-request\", \"reboot\"]",
    "parameters": "NotRequired[NewNotificationRuleCommand1Parameters]",
    "confirm": "NotRequired[bool]",
    "maxSpeedKmh": "NotRequired[float | None]",
    "expiresInSeconds": "NotRequired[int]",
})

NewNotificationRuleCommand2Parameters = TypedDict("NewNotificationRuleCommand2Parameters", {
    "output": "int",
    "on": "bool",
})

NewNotificationRuleCommand2 = TypedDict("NewNotificationRuleCommand2", {
    "type": "Literal[\"output-set\"]",
    "parameters": "NewNotificationRuleCommand2Parameters",
    "confirm": "NotRequired[bool]",
    "maxSpeedKmh": "NotRequired[float | None]",
    "expiresInSeconds": "NotRequired[int]",
})

NewNotificationRuleCommand3Parameters = TypedDict("NewNotificationRuleCommand3Parameters", {
    "seconds": "int",
})

NewNotificationRuleCommand3 = TypedDict("NewNotificationRuleCommand3", {
    "type": "Literal[\"interval-set\"]",
    "parameters": "NewNotificationRuleCommand3Parameters",
    "confirm": "NotRequired[bool]",
    "maxSpeedKmh": "NotRequired[float | None]",
    "expiresInSeconds": "NotRequired[int]",
})

NewNotificationRuleCommand4Parameters = TypedDict("NewNotificationRuleCommand4Parameters", {
    "text": "str",
})

NewNotificationRuleCommand4 = TypedDict("NewNotificationRuleCommand4", {
    "type": "Literal[\"text\"]",
    "parameters": "NewNotificationRuleCommand4Parameters",
    "confirm": "NotRequired[bool]",
    "maxSpeedKmh": "NotRequired[float | None]",
    "expiresInSeconds": "NotRequired[int]",
})

NewNotificationRule = TypedDict("NewNotificationRule", {
    "name": "str",
    "active": "NotRequired[bool]",
    "eventKinds": "list[Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\", \"licence-expiry\"]]",
    "phases": "NotRequired[list[Literal[\"begin\", \"end\"]]]",
    "minDurationMinutes": "NotRequired[float]",
    "alarms": "NotRequired[list[Literal[\"sos\", \"low-battery\", \"tamper\", \"overspeed\", \"crash\", \"harsh-acceleration\", \"harsh-braking\", \"harsh-cornering\", \"towing\", \"jamming\", \"other\", \"terminal-conflict\"]] | None]",
    "sensors": "NotRequired[list[str] | None]",
    "vehicleIds": "NotRequired[list[str] | None]",
    "groupIds": "NotRequired[list[str] | None]",
    "geofenceIds": "NotRequired[list[str] | None]",
    "insideGeofenceIds": "NotRequired[list[str] | None]",
    "outsideGeofenceIds": "NotRequired[list[str] | None]",
    "driver": "NotRequired[Literal[\"known\", \"unknown\"] | None]",
    "driverIds": "NotRequired[list[str] | None]",
    "driverGroupIds": "NotRequired[list[str] | None]",
    "licenceWarningDays": "NotRequired[int]",
    "days": "NotRequired[NewNotificationRuleDays1 | NewNotificationRuleDays2 | NewNotificationRuleDays3]",
    "hours": "NotRequired[NewNotificationRuleHours | None]",
    "timeZone": "NotRequired[str]",
    "minIntervalMinutes": "NotRequired[float]",
    "maxDataAgeMinutes": "NotRequired[float | None]",
    "emails": "NotRequired[list[str]]",
    "channelIds": "NotRequired[list[str]]",
    "messageTemplate": "NotRequired[str | None]",
    "messageTemplates": "NotRequired[NewNotificationRuleMessageTemplates]",
    "language": "NotRequired[Literal[\"en\", \"ru\", \"de\", \"es\", \"he\"] | None]",
    "push": "NotRequired[bool]",
    "severity": "NotRequired[Literal[\"info\", \"warning\", \"critical\"]]",
    "shared": "NotRequired[bool]",
    "escalateAfterMinutes": "NotRequired[float | None]",
    "escalateTo": "NotRequired[list[str]]",
    "webhook": "NotRequired[NewNotificationRuleWebhook | None]",
    "command": "NotRequired[NewNotificationRuleCommand1 | NewNotificationRuleCommand2 | NewNotificationRuleCommand3 | NewNotificationRuleCommand4 | None]",
})

NewPasskey = TypedDict("NewPasskey", {
    "state": "str",
    "name": "str",
    "credential": "NewPasskeyCredential",
})

NewPasskeyCredentialResponse = TypedDict("NewPasskeyCredentialResponse", {
    "clientDataJSON": "str",
    "attestationObject": "str",
})

# Output of `PublicKeyCredential.toJSON()`.

NewPasskeyCredential = TypedDict("NewPasskeyCredential", {
    "id": "str",
    "rawId": "str",
    "type": "Literal[\"public-key\"]",
    "response": "NewPasskeyCredentialResponse",
})

NewPassword = TypedDict("NewPassword", {
    "password": "str",
    "currentPassword": "NotRequired[str]",
})

NewReportJob = TypedDict("NewReportJob", {
    "kind": "Literal[\"track\", \"trips\", \"stops\", \"mileage\", \"engine-hours\", \"speeding\", \"geozone-visits\", \"geozone-matrix\", \"events\", \"summary\", \"current-state\", \"utilisation\", \"idling\", \"fuel\", \"refuellings\", \"maintenance\", \"sensors\", \"sensor-series\", \"work-time\", \"violations\", \"eco-driving\", \"drivers\", \"fleet-digest\"]",
    "format": "Literal[\"ndjson\", \"csv\", \"xlsx\", \"pdf\", \"parquet\", \"arrow\", \"geojson\", \"gpx\", \"kml\"]",
    "vehicleId": "NotRequired[str]",
    "vehicleIds": "NotRequired[list[str]]",
    "groupId": "NotRequired[str]",
    "timeZone": "NotRequired[str]",
    "period": "NotRequired[Literal[\"whole\", \"day\", \"week\", \"month\"]]",
    "eventKinds": "NotRequired[list[Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\"]]]",
    "geozoneId": "NotRequired[str]",
    "maxPoints": "NotRequired[int]",
    "workHours": "NotRequired[str]",
    "ecoWeights": "NotRequired[str]",
    "sensors": "NotRequired[list[str]]",
    "driverIds": "NotRequired[list[str]]",
    "columns": "NotRequired[list[str]]",
    "groupBy": "NotRequired[Literal[\"vehicle\", \"driver\", \"day\", \"geozone\", \"kind\", \"sensor\"]]",
    "language": "NotRequired[Literal[\"en\", \"ru\", \"de\", \"es\", \"he\"]]",
    "from": "NotRequired[str]",
    "to": "NotRequired[str]",
    "shape": "NotRequired[VisitedShape]",
})

NewReportSchedule = TypedDict("NewReportSchedule", {
    "kind": "Literal[\"track\", \"trips\", \"stops\", \"mileage\", \"engine-hours\", \"speeding\", \"geozone-visits\", \"geozone-matrix\", \"events\", \"summary\", \"current-state\", \"utilisation\", \"idling\", \"fuel\", \"refuellings\", \"maintenance\", \"sensors\", \"sensor-series\", \"work-time\", \"violations\", \"eco-driving\", \"drivers\", \"fleet-digest\"]",
    "format": "Literal[\"ndjson\", \"csv\", \"xlsx\", \"pdf\", \"parquet\", \"arrow\", \"geojson\", \"gpx\", \"kml\"]",
    "vehicleId": "NotRequired[str]",
    "vehicleIds": "NotRequired[list[str]]",
    "groupId": "NotRequired[str]",
    "period": "NotRequired[Literal[\"whole\", \"day\", \"week\", \"month\"]]",
    "eventKinds": "NotRequired[list[Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\"]]]",
    "geozoneId": "NotRequired[str]",
    "maxPoints": "NotRequired[int]",
    "workHours": "NotRequired[str]",
    "ecoWeights": "NotRequired[str]",
    "sensors": "NotRequired[list[str]]",
    "driverIds": "NotRequired[list[str]]",
    "columns": "NotRequired[list[str]]",
    "groupBy": "NotRequired[Literal[\"vehicle\", \"driver\", \"day\", \"geozone\", \"kind\", \"sensor\"]]",
    "language": "NotRequired[Literal[\"en\", \"ru\", \"de\", \"es\", \"he\"]]",
    "timeZone": "str",
    "name": "str",
    "frequency": "Literal[\"daily\", \"weekly\", \"monthly\"]",
    "hour": "int",
    "covers": "Literal[\"yesterday\", \"last-week\", \"last-month\"]",
    "emails": "list[str]",
    "active": "NotRequired[bool]",
})

NewReportTemplatesItemsItem = TypedDict("NewReportTemplatesItemsItem", {
    "name": "str",
    "kind": "Literal[\"track\", \"trips\", \"stops\", \"mileage\", \"engine-hours\", \"speeding\", \"geozone-visits\", \"geozone-matrix\", \"events\", \"summary\", \"current-state\", \"utilisation\", \"idling\", \"fuel\", \"refuellings\", \"maintenance\", \"sensors\", \"sensor-series\", \"work-time\", \"violations\", \"eco-driving\", \"drivers\", \"fleet-digest\"]",
    "vehicleIds": "NotRequired[list[str]]",
    "groupId": "NotRequired[str | None]",
    "geozoneId": "NotRequired[str | None]",
    "range": "NotRequired[Literal[\"today\", \"yesterday\", \"last-7-days\", \"last-30-days\", \"this-week\", \"last-week\", \"this-month\", \"last-month\"] | None]",
    "period": "NotRequired[Literal[\"whole\", \"day\", \"week\", \"month\"] | None]",
    "eventKinds": "NotRequired[list[Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\"]] | None]",
    "maxPoints": "NotRequired[int | None]",
    "workHours": "NotRequired[str | None]",
    "ecoWeights": "NotRequired[str | None]",
    "sensors": "NotRequired[list[str] | None]",
    "driverIds": "NotRequired[list[str] | None]",
    "format": "NotRequired[Literal[\"ndjson\", \"csv\", \"xlsx\", \"pdf\", \"parquet\", \"arrow\", \"geojson\", \"gpx\", \"kml\"] | None]",
    "groupBy": "NotRequired[Literal[\"vehicle\", \"driver\", \"day\", \"geozone\", \"kind\", \"sensor\"] | None]",
    "columns": "NotRequired[list[str] | None]",
    "sort": "NotRequired[str | None]",
    "shape": "NotRequired[VisitedShape | None]",
})

NewReportTemplates = TypedDict("NewReportTemplates", {
    "items": "list[NewReportTemplatesItemsItem]",
})

NewServiceFile = TypedDict("NewServiceFile", {
    "name": "str",
    "content": "str",
})

NewServiceRecordCost = TypedDict("NewServiceRecordCost", {
    "amount": "float",
    "currency": "str",
})

NewServiceRecord = TypedDict("NewServiceRecord", {
    "planId": "NotRequired[str | None]",
    "title": "NotRequired[str | None]",
    "at": "NotRequired[str]",
    "odometerM": "NotRequired[float | None]",
    "engineHours": "NotRequired[float | None]",
    "cost": "NotRequired[NewServiceRecordCost | None]",
    "note": "NotRequired[str | None]",
})

NewShareLinkTrack = TypedDict("NewShareLinkTrack", {
    "from": "str",
    "to": "str",
})

NewShareLink = TypedDict("NewShareLink", {
    "name": "NotRequired[str | None]",
    "vehicleIds": "list[str]",
    "track": "NotRequired[NewShareLinkTrack | None]",
    "expiresAt": "str",
})

NewSuspension = TypedDict("NewSuspension", {
    "reason": "str",
})

NewUser = TypedDict("NewUser", {
    "login": "str",
    "name": "str",
    "password": "NotRequired[str]",
    "email": "NotRequired[str]",
    "role": "NotRequired[Literal[\"operator\", \"dealer\", \"user\"]]",
    "dealerId": "NotRequired[str | None]",
    "apiAccess": "NotRequired[bool]",
    "services": "NotRequired[list[Literal[\"video\", \"commands\", \"command-text\", \"maintenance\"]]]",
    "rights": "NotRequired[list[Literal[\"edit-vehicles\", \"edit-geofences\", \"edit-notifications\", \"share\"]]]",
    "groupIds": "NotRequired[list[str]]",
    "externalId": "NotRequired[str | None]",
    "customAttributes": "NotRequired[dict[str, str | float | bool]]",
})

# Fields that are left out are not changed. The default of `protocol` for a new vehicle is `learn`.

NewVehicleTerminalAccess = TypedDict("NewVehicleTerminalAccess", {
    "protocol": "NotRequired[Literal[\"learn\", \"any\", \"omnicomm\", \"teltonika\", \"wialon-ips\", \"osmand\", \"jt808\", \"gt06\", \"ruptela\", \"galileosky\", \"egts\", \"h02\", \"gps103\", \"meitrack\", \"queclink\", \"tk103\", \"suntech\", \"wialon-retranslator\", \"navtelecom\", \"owntracks\", \"flespi\", \"mqtt-json\"]]",
    "secret": "NotRequired[str | None]",
    "certificateSha256": "NotRequired[str | None]",
    "networks": "NotRequired[list[str]]",
})

NewVehicleSensorsItemCalibrationItem = TypedDict("NewVehicleSensorsItemCalibrationItem", {
    "raw": "float",
    "value": "float",
})

NewVehicleSensorsItemThresholdsItem = TypedDict("NewVehicleSensorsItemThresholdsItem", {
    "id": "NotRequired[str | None]",
    "condition": "Literal[\"above\", \"below\", \"inside\", \"outside\"]",
    "min": "NotRequired[float | None]",
    "max": "NotRequired[float | None]",
    "hysteresis": "NotRequired[float]",
    "forSeconds": "NotRequired[float]",
})

NewVehicleSensorsItem = TypedDict("NewVehicleSensorsItem", {
    "id": "NotRequired[str | None]",
    "name": "str",
    "unit": "NotRequired[str]",
    "kind": "Literal[\"fuel-level\", \"fuel-used\", \"temperature\", \"humidity\", \"digital\", \"engine-hours\", \"odometer\", \"rpm\", \"voltage\", \"weight\", \"tyre-pressure\", \"custom\"]",
    "source": "str",
    "calibration": "NotRequired[list[NewVehicleSensorsItemCalibrationItem]]",
    "outside": "NotRequired[Literal[\"extrapolate\", \"clamp\"]]",
    "validMin": "NotRequired[float | None]",
    "validMax": "NotRequired[float | None]",
    "onlyWithIgnition": "NotRequired[bool]",
    "smoothing": "NotRequired[int]",
    "thresholds": "NotRequired[list[NewVehicleSensorsItemThresholdsItem]]",
})

NewVehicle = TypedDict("NewVehicle", {
    "name": "str",
    "plate": "NotRequired[str | None]",
    "vin": "NotRequired[str | None]",
    "terminalId": "NotRequired[str | None]",
    "deviceModel": "NotRequired[Literal[\"FM1100\", \"FM1110\", \"FM1120\", \"FM1122\", \"FM1125\", \"FM3612\", \"FM36M1\", \"FM6300\", \"FMB001\", \"FMB002\", \"FMB003\", \"FMB010\", \"FMB020\", \"FMB110\", \"FMB120\", \"FMB122\", \"FMB125\", \"FMB130\", \"FMB140\", \"FMB150\", \"FMB202\", \"FMB204\", \"FMB208\", \"FMB209\", \"FMB225\", \"FMB230\", \"FMB240\", \"FMB630\", \"FMB640\", \"FMB641\", \"FMB900\", \"FMB910\", \"FMB920\", \"FMB930\", \"FMB962\", \"FMB964\", \"FMB965\", \"FMC001\", \"FMC003\", \"FMC00A\", \"FMC125\", \"FMC130\", \"FMC13A\", \"FMC150\", \"FMC225\", \"FMC230\", \"FMC234\", \"FMC250\", \"FMC640\", \"FMC650\", \"FMC800\", \"FMC880\", \"FMC920\", \"FMM001\", \"FMM003\", \"FMM00A\", \"FMM125\", \"FMM130\", \"FMM13A\", \"FMM150\", \"FMM230\", \"FMM250\", \"FMM640\", \"FMM650\", \"FMM800\", \"FMM80A\", \"FMM880\", \"FMM920\", \"FMP100\", \"FMT100\", \"FMU125\", \"FMU126\", \"FMU130\", \"FTC920\", \"FTC921\", \"FTC961\", \"GH5200\", \"MSP500\", \"MTB100\", \"TAT100\", \"TAT140\", \"TAT141\", \"TAT240\", \"TFT100\", \"TMT250\", \"TST100\"] | None]",
    "speedUnit": "NotRequired[Literal[\"knots\", \"m/s\", \"km/h\"] | None]",
    "externalId": "NotRequired[str | None]",
    "color": "NotRequired[str | None]",
    "icon": "NotRequired[Literal[\"car\", \"taxi\", \"van\", \"truck\", \"bus\", \"trailer\", \"motorcycle\", \"bicycle\", \"tractor\", \"excavator\", \"crane\", \"ship\", \"train\", \"person\", \"animal\", \"container\"] | None]",
    "speedLimitKmh": "NotRequired[float | None]",
    "speedToleranceKmh": "NotRequired[float]",
    "speedingMinSeconds": "NotRequired[float]",
    "offlineAfterMinutes": "NotRequired[float]",
    "movingSpeedKmh": "NotRequired[float]",
    "movingDistanceM": "NotRequired[float]",
    "tripStopMinutes": "NotRequired[float]",
    "tripGapMinutes": "NotRequired[float]",
    "tankCapacityL": "NotRequired[float | None]",
    "minRefuelL": "NotRequired[float | None]",
    "minDrainL": "NotRequired[float | None]",
    "fuelPer100KmL": "NotRequired[float | None]",
    "fuelPerHourL": "NotRequired[float | None]",
    "harshAccelerationMps2": "NotRequired[float | None]",
    "harshBrakingMps2": "NotRequired[float | None]",
    "harshCorneringMps2": "NotRequired[float | None]",
    "terminalAccess": "NotRequired[NewVehicleTerminalAccess]",
    "dealerId": "NotRequired[str | None]",
    "groupIds": "NotRequired[list[str]]",
    "customAttributes": "NotRequired[dict[str, str | float | bool]]",
    "sensors": "NotRequired[list[NewVehicleSensorsItem]]",
})

NewVehicleGroup = TypedDict("NewVehicleGroup", {
    "name": "str",
    "retentionDays": "NotRequired[int | None]",
    "dealerId": "NotRequired[str | None]",
    "externalId": "NotRequired[str | None]",
    "customAttributes": "NotRequired[dict[str, str | float | bool]]",
})

NewVideoProfileChannelsItem = TypedDict("NewVideoProfileChannelsItem", {
    "number": "int",
    "name": "str",
    "direction": "NotRequired[Literal[\"front\", \"rear\", \"left\", \"right\", \"cabin\", \"driver\", \"cargo\", \"other\"]]",
})

NewVideoProfile = TypedDict("NewVideoProfile", {
    "vehicleId": "str",
    "protocol": "NotRequired[Literal[\"jt1078\", \"stream\"]]",
    "address": "NotRequired[str]",
    "name": "NotRequired[str]",
    "channels": "NotRequired[list[NewVideoProfileChannelsItem]]",
    "quality": "NotRequired[Literal[\"main\", \"sub\"]]",
    "audio": "NotRequired[bool]",
    "maxFragmentSeconds": "NotRequired[float]",
    "maxParallelDownloads": "NotRequired[int]",
    "timeZone": "NotRequired[str]",
})

NewVideoTask = TypedDict("NewVideoTask", {
    "profileId": "str",
    "channel": "int",
    "start": "str",
    "end": "str",
    "quality": "NotRequired[Literal[\"main\", \"sub\"]]",
    "audio": "NotRequired[bool]",
})

# Wialon IPS 2.0. Each terminal has a connection of its own and logs in with its own number.

NewWialonIpsDestinationSettings = TypedDict("NewWialonIpsDestinationSettings", {
    "host": "str",
    "port": "NotRequired[int]",
    "tls": "NotRequired[bool]",
})

Notification = TypedDict("Notification", {
    "id": "str",
    "number": "int",
    "ruleId": "str",
    "ruleVersion": "int",
    "ruleName": "str",
    "vehicleName": "str | None",
    "geofenceName": "str | None",
    "driverName": "str | None",
    "severity": "Literal[\"info\", \"warning\", \"critical\"]",
    "incidentId": "str | None",
    "late": "bool",
    "lastedSeconds": "float | None",
    "event": "PublishedEvent | LicenceExpiry",
    "createdAt": "str",
    "readAt": "str | None",
})

NotificationRuleDays1 = TypedDict("NotificationRuleDays1", {
    "on": "Literal[\"daily\"]",
})

NotificationRuleDays2 = TypedDict("NotificationRuleDays2", {
    "on": "Literal[\"weekdays\"]",
    "weekdays": "list[Literal[\"monday\", \"tuesday\", \"wednesday\", \"thursday\", \"friday\", \"saturday\", \"sunday\"]]",
})

NotificationRuleDays3 = TypedDict("NotificationRuleDays3", {
    "on": "Literal[\"dates\"]",
    "from": "str",
    "to": "str",
})

NotificationRuleHours = TypedDict("NotificationRuleHours", {
    "from": "str",
    "to": "str",
})

NotificationRuleEmailStatesItem = TypedDict("NotificationRuleEmailStatesItem", {
    "address": "str",
    "state": "Literal[\"pending\", \"confirmed\", \"unsubscribed\"]",
    "suppressedToday": "int",
})

NotificationRuleWebhook = TypedDict("NotificationRuleWebhook", {
    "url": "str",
})

NotificationRuleCommand = TypedDict("NotificationRuleCommand", {
    "type": "Literal[\"engine-block\", \"engine-resume\", \"output-set\", \"position-request\", \"interval-set\", \"reboot\", \"text\"]",
    "parameters": "dict[str, str | float | bool]",
    "maxSpeedKmh": "float | None",
    "expiresInSeconds": "int",
})

NotificationRule = TypedDict("NotificationRule", {
    "id": "str",
    "ownerId": "str",
    "name": "str",
    "active": "bool",
    "inactiveReason": "Literal[\"switched-off\", \"vehicles-deleted\", \"groups-deleted\", \"geofences-deleted\", \"drivers-deleted\"] | None",
    "eventKinds": "list[str]",
    "phases": "list[Literal[\"begin\", \"end\"]]",
    "minDurationMinutes": "float",
    "alarms": "list[Alarm] | None",
    "sensors": "list[str] | None",
    "vehicleIds": "list[str] | None",
    "groupIds": "list[str] | None",
    "geofenceIds": "list[str] | None",
    "insideGeofenceIds": "list[str] | None",
    "outsideGeofenceIds": "list[str] | None",
    "driver": "Literal[\"known\", \"unknown\"] | None",
    "driverIds": "list[str] | None",
    "driverGroupIds": "list[str] | None",
    "licenceWarningDays": "int",
    "days": "NotificationRuleDays1 | NotificationRuleDays2 | NotificationRuleDays3",
    "hours": "NotificationRuleHours | None",
    "timeZone": "str",
    "minIntervalMinutes": "float",
    "maxDataAgeMinutes": "float | None",
    "emails": "list[str]",
    "channelIds": "list[str]",
    "messageTemplate": "str | None",
    "messageTemplates": "dict[str, str]",
    "language": "Literal[\"en\", \"ru\", \"de\", \"es\", \"he\"] | None",
    "push": "bool",
    "severity": "Literal[\"info\", \"warning\", \"critical\"]",
    "shared": "bool",
    "escalateAfterMinutes": "float | None",
    "escalateTo": "list[str]",
    "emailStates": "list[NotificationRuleEmailStatesItem]",
    "webhook": "NotificationRuleWebhook | None",
    "command": "NotificationRuleCommand | None",
    "lastNotifiedAt": "str | None",
    "failedDeliveries": "int",
})

NotificationRuleAsSetDays1 = TypedDict("NotificationRuleAsSetDays1", {
    "on": "Literal[\"daily\"]",
})

NotificationRuleAsSetDays2 = TypedDict("NotificationRuleAsSetDays2", {
    "on": "Literal[\"weekdays\"]",
    "weekdays": "list[Literal[\"monday\", \"tuesday\", \"wednesday\", \"thursday\", \"friday\", \"saturday\", \"sunday\"]]",
})

NotificationRuleAsSetDays3 = TypedDict("NotificationRuleAsSetDays3", {
    "on": "Literal[\"dates\"]",
    "from": "str",
    "to": "str",
})

NotificationRuleAsSetHours = TypedDict("NotificationRuleAsSetHours", {
    "from": "str",
    "to": "str",
})

NotificationRuleAsSetEmailStatesItem = TypedDict("NotificationRuleAsSetEmailStatesItem", {
    "address": "str",
    "state": "Literal[\"pending\", \"confirmed\", \"unsubscribed\"]",
    "suppressedToday": "int",
})

NotificationRuleAsSetWebhook = TypedDict("NotificationRuleAsSetWebhook", {
    "url": "str",
    "secret": "NotRequired[str]",
})

NotificationRuleAsSetCommand = TypedDict("NotificationRuleAsSetCommand", {
    "type": "Literal[\"engine-block\", \"engine-resume\", \"output-set\", \"position-request\", \"interval-set\", \"reboot\", \"text\"]",
    "parameters": "dict[str, str | float | bool]",
    "maxSpeedKmh": "float | None",
    "expiresInSeconds": "int",
})

NotificationRuleAsSet = TypedDict("NotificationRuleAsSet", {
    "id": "str",
    "ownerId": "str",
    "name": "str",
    "active": "bool",
    "inactiveReason": "Literal[\"switched-off\", \"vehicles-deleted\", \"groups-deleted\", \"geofences-deleted\", \"drivers-deleted\"] | None",
    "eventKinds": "list[str]",
    "phases": "list[Literal[\"begin\", \"end\"]]",
    "minDurationMinutes": "float",
    "alarms": "list[Alarm] | None",
    "sensors": "list[str] | None",
    "vehicleIds": "list[str] | None",
    "groupIds": "list[str] | None",
    "geofenceIds": "list[str] | None",
    "insideGeofenceIds": "list[str] | None",
    "outsideGeofenceIds": "list[str] | None",
    "driver": "Literal[\"known\", \"unknown\"] | None",
    "driverIds": "list[str] | None",
    "driverGroupIds": "list[str] | None",
    "licenceWarningDays": "int",
    "days": "NotificationRuleAsSetDays1 | NotificationRuleAsSetDays2 | NotificationRuleAsSetDays3",
    "hours": "NotificationRuleAsSetHours | None",
    "timeZone": "str",
    "minIntervalMinutes": "float",
    "maxDataAgeMinutes": "float | None",
    "emails": "list[str]",
    "channelIds": "list[str]",
    "messageTemplate": "str | None",
    "messageTemplates": "dict[str, str]",
    "language": "Literal[\"en\", \"ru\", \"de\", \"es\", \"he\"] | None",
    "push": "bool",
    "severity": "Literal[\"info\", \"warning\", \"critical\"]",
    "shared": "bool",
    "escalateAfterMinutes": "float | None",
    "escalateTo": "list[str]",
    "emailStates": "list[NotificationRuleAsSetEmailStatesItem]",
    "webhook": "NotificationRuleAsSetWebhook | None",
    "command": "NotificationRuleAsSetCommand | None",
    "lastNotifiedAt": "str | None",
    "failedDeliveries": "int",
})

NotificationRuleDraftDays1 = TypedDict("NotificationRuleDraftDays1", {
    "on": "Literal[\"daily\"]",
})

NotificationRuleDraftDays2 = TypedDict("NotificationRuleDraftDays2", {
    "on": "Literal[\"weekdays\"]",
    "weekdays": "list[Literal[\"monday\", \"tuesday\", \"wednesday\", \"thursday\", \"friday\", \"saturday\", \"sunday\"]]",
})

NotificationRuleDraftDays3 = TypedDict("NotificationRuleDraftDays3", {
    "on": "Literal[\"dates\"]",
    "from": "str",
    "to": "str",
})

NotificationRuleDraftHours = TypedDict("NotificationRuleDraftHours", {
    "from": "str",
    "to": "str",
})

NotificationRuleDraft = TypedDict("NotificationRuleDraft", {
    "ruleId": "NotRequired[str | None]",
    "eventKinds": "list[Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\", \"licence-expiry\"]]",
    "phases": "NotRequired[list[Literal[\"begin\", \"end\"]]]",
    "minDurationMinutes": "NotRequired[float]",
    "alarms": "NotRequired[list[Literal[\"sos\", \"low-battery\", \"tamper\", \"overspeed\", \"crash\", \"harsh-acceleration\", \"harsh-braking\", \"harsh-cornering\", \"towing\", \"jamming\", \"other\", \"terminal-conflict\"]] | None]",
    "sensors": "NotRequired[list[str] | None]",
    "vehicleIds": "NotRequired[list[str] | None]",
    "groupIds": "NotRequired[list[str] | None]",
    "geofenceIds": "NotRequired[list[str] | None]",
    "insideGeofenceIds": "NotRequired[list[str] | None]",
    "outsideGeofenceIds": "NotRequired[list[str] | None]",
    "driver": "NotRequired[Literal[\"known\", \"unknown\"] | None]",
    "driverIds": "NotRequired[list[str] | None]",
    "driverGroupIds": "NotRequired[list[str] | None]",
    "licenceWarningDays": "NotRequired[int]",
    "days": "NotRequired[NotificationRuleDraftDays1 | NotificationRuleDraftDays2 | NotificationRuleDraftDays3]",
    "hours": "NotRequired[NotificationRuleDraftHours | None]",
    "timeZone": "NotRequired[str]",
    "minIntervalMinutes": "NotRequired[float]",
    "maxDataAgeMinutes": "NotRequired[float | None]",
})

NotificationRulePatchDays1 = TypedDict("NotificationRulePatchDays1", {
    "on": "Literal[\"daily\"]",
})

NotificationRulePatchDays2 = TypedDict("NotificationRulePatchDays2", {
    "on": "Literal[\"weekdays\"]",
    "weekdays": "list[Literal[\"monday\", \"tuesday\", \"wednesday\", \"thursday\", \"friday\", \"saturday\", \"sunday\"]]",
})

NotificationRulePatchDays3 = TypedDict("NotificationRulePatchDays3", {
    "on": "Literal[\"dates\"]",
    "from": "str",
    "to": "str",
})

NotificationRulePatchHours = TypedDict("NotificationRulePatchHours", {
    "from": "str",
    "to": "str",
})

# Texts by language. A message in one of these languages uses its text; a message in another language uses `messageTemplate`.

NotificationRulePatchMessageTemplates = TypedDict("NotificationRulePatchMessageTemplates", {
    "en": "NotRequired[str]",
    "ru": "NotRequired[str]",
    "de": "NotRequired[str]",
    "es": "NotRequired[str]",
    "he": "NotRequired[str]",
})

NotificationRulePatchWebhook = TypedDict("NotificationRulePatchWebhook", {
    "url": "str",
    "secret": "NotRequired[str]",
})

NotificationRulePatchCommand1Parameters = TypedDict("NotificationRulePatchCommand1Parameters", {})

NotificationRulePatchCommand1 = TypedDict("NotificationRulePatchCommand1", {
    "type": "Literal[\"engine-block\", \"engine-resume\", \"position-request\", \"reboot\"]",
    "parameters": "NotRequired[NotificationRulePatchCommand1Parameters]",
    "confirm": "NotRequired[bool]",
    "maxSpeedKmh": "NotRequired[float | None]",
    "expiresInSeconds": "NotRequired[int]",
})

NotificationRulePatchCommand2Parameters = TypedDict("NotificationRulePatchCommand2Parameters", {
    "output": "int",
    "on": "bool",
})

NotificationRulePatchCommand2 = TypedDict("NotificationRulePatchCommand2", {
    "type": "Literal[\"output-set\"]",
    "parameters": "NotificationRulePatchCommand2Parameters",
    "confirm": "NotRequired[bool]",
    "maxSpeedKmh": "NotRequired[float | None]",
    "expiresInSeconds": "NotRequired[int]",
})

NotificationRulePatchCommand3Parameters = TypedDict("NotificationRulePatchCommand3Parameters", {
    "seconds": "int",
})

NotificationRulePatchCommand3 = TypedDict("NotificationRulePatchCommand3", {
    "type": "Literal[\"interval-set\"]",
    "parameters": "NotificationRulePatchCommand3Parameters",
    "confirm": "NotRequired[bool]",
    "maxSpeedKmh": "NotRequired[float | None]",
    "expiresInSeconds": "NotRequired[int]",
})

NotificationRulePatchCommand4Parameters = TypedDict("NotificationRulePatchCommand4Parameters", {
    "text": "str",
})

NotificationRulePatchCommand4 = TypedDict("NotificationRulePatchCommand4", {
    "type": "Literal[\"text\"]",
    "parameters": "NotificationRulePatchCommand4Parameters",
    "confirm": "NotRequired[bool]",
    "maxSpeedKmh": "NotRequired[float | None]",
    "expiresInSeconds": "NotRequired[int]",
})

NotificationRulePatch = TypedDict("NotificationRulePatch", {
    "name": "NotRequired[str]",
    "active": "NotRequired[bool]",
    "eventKinds": "NotRequired[list[Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\", \"licence-expiry\"]]]",
    "phases": "NotRequired[list[Literal[\"begin\", \"end\"]]]",
    "minDurationMinutes": "NotRequired[float]",
    "alarms": "NotRequired[list[Literal[\"sos\", \"low-battery\", \"tamper\", \"overspeed\", \"crash\", \"harsh-acceleration\", \"harsh-braking\", \"harsh-cornering\", \"towing\", \"jamming\", \"other\", \"terminal-conflict\"]] | None]",
    "sensors": "NotRequired[list[str] | None]",
    "vehicleIds": "NotRequired[list[str] | None]",
    "groupIds": "NotRequired[list[str] | None]",
    "geofenceIds": "NotRequired[list[str] | None]",
    "insideGeofenceIds": "NotRequired[list[str] | None]",
    "outsideGeofenceIds": "NotRequired[list[str] | None]",
    "driver": "NotRequired[Literal[\"known\", \"unknown\"] | None]",
    "driverIds": "NotRequired[list[str] | None]",
    "driverGroupIds": "NotRequired[list[str] | None]",
    "licenceWarningDays": "NotRequired[int]",
    "days": "NotRequired[NotificationRulePatchDays1 | NotificationRulePatchDays2 | NotificationRulePatchDays3]",
    "hours": "NotRequired[NotificationRulePatchHours | None]",
    "timeZone": "NotRequired[str]",
    "minIntervalMinutes": "NotRequired[float]",
    "maxDataAgeMinutes": "NotRequired[float | None]",
    "emails": "NotRequired[list[str]]",
    "channelIds": "NotRequired[list[str]]",
    "messageTemplate": "NotRequired[str | None]",
    "messageTemplates": "NotRequired[NotificationRulePatchMessageTemplates]",
    "language": "NotRequired[Literal[\"en\", \"ru\", \"de\", \"es\", \"he\"] | None]",
    "push": "NotRequired[bool]",
    "severity": "NotRequired[Literal[\"info\", \"warning\", \"critical\"]]",
    "shared": "NotRequired[bool]",
    "escalateAfterMinutes": "NotRequired[float | None]",
    "escalateTo": "NotRequired[list[str]]",
    "webhook": "NotRequired[NotificationRulePatchWebhook | None]",
    "command": "NotRequired[NotificationRulePatchCommand1 | NotificationRulePatchCommand2 | NotificationRulePatchCommand3 | NotificationRulePatchCommand4 | None]",
})

NotificationRuleTrialDaysItem = TypedDict("NotificationRuleTrialDaysItem", {
    "date": "str",
    "count": "int",
})

NotificationRuleTrialNotMatchedItem = TypedDict("NotificationRuleTrialNotMatchedItem", {
    "reason": "Literal[\"inactive\", \"other-kind\", \"other-phase\", \"other-alarm\", \"other-sensor\", \"vehicle-not-visible\", \"other-vehicle\", \"geofence-not-visible\", \"other-geofence\", \"not-inside\", \"not-outside\", \"other-driver\", \"too-short\", \"other-day\", \"other-hours\", \"data-too-old\", \"too-soon\"]",
    "count": "int",
    "examples": "list[PublishedEvent]",
})

NotificationRuleTrial = TypedDict("NotificationRuleTrial", {
    "from": "str",
    "to": "str",
    "examined": "int",
    "complete": "bool",
    "firstEventAt": "str | None",
    "days": "list[NotificationRuleTrialDaysItem]",
    "matched": "list[PublishedEvent]",
    "notMatched": "list[NotificationRuleTrialNotMatchedItem]",
})

NotificationWebhookData = TypedDict("NotificationWebhookData", {
    "id": "str",
    "number": "int",
    "ruleId": "str",
    "ruleVersion": "int",
    "ruleName": "str",
    "vehicleName": "str | None",
    "geofenceName": "str | None",
    "driverName": "str | None",
    "severity": "Literal[\"info\", \"warning\", \"critical\"]",
    "incidentId": "str | None",
    "late": "bool",
    "lastedSeconds": "float | None",
    "event": "PublishedEvent | LicenceExpiry",
    "createdAt": "str",
    "startPlace": "str | None",
    "endPlace": "str | None",
})

NotificationWebhook = TypedDict("NotificationWebhook", {
    "type": "Literal[\"geofence-visit.begin\", \"geofence-visit.end\", \"speeding.begin\", \"speeding.end\", \"trip.begin\", \"trip.end\", \"parking.begin\", \"parking.end\", \"idling.begin\", \"idling.end\", \"ignition.begin\", \"ignition.end\", \"alarm.begin\", \"alarm.end\", \"power-cut.begin\", \"power-cut.end\", \"offline.begin\", \"offline.end\", \"maintenance-due.begin\", \"maintenance-due.end\", \"driver-shift.begin\", \"driver-shift.end\", \"refuelling.begin\", \"refuelling.end\", \"fuel-drain.begin\", \"fuel-drain.end\", \"sensor-threshold.begin\", \"sensor-threshold.end\", \"harsh-driving.begin\", \"harsh-driving.end\", \"licence-expiry.begin\"]",
    "timestamp": "str",
    "data": "NotificationWebhookData",
})

NotificationsMarked = TypedDict("NotificationsMarked", {
    "marked": "int",
})

OpenIdLink = TypedDict("OpenIdLink", {
    "name": "str | None",
    "linked": "bool",
})

OpenIdStart = TypedDict("OpenIdStart", {
    "url": "str",
})

OperatorStatusPartsItem = TypedDict("OperatorStatusPartsItem", {
    "name": "str",
    "status": "Literal[\"ok\", \"failed\"]",
    "warnings": "list[str]",
})

OperatorStatusUsesItem = TypedDict("OperatorStatusUsesItem", {
    "name": "Literal[\"terminals\", \"liveClients\", \"logBytes\", \"videoBytes\", \"reportBytes\"]",
    "used": "float | None",
    "limit": "float | None",
})

OperatorStatusHistorySeries = TypedDict("OperatorStatusHistorySeries", {
    "positionsPerSecond": "list[float | None]",
    "requestsPerSecond": "list[float | None]",
    "archiveDelaySeconds": "list[float | None]",
    "terminals": "list[float | None]",
    "liveClients": "list[float | None]",
    "memoryBytes": "list[float | None]",
    "diskFreeBytes": "list[float | None]",
})

# Samples of the last hour, as counted by this process, oldest first. A value is null if this process does not count it: where the services run as separate processes, each counts its own values.

OperatorStatusHistory = TypedDict("OperatorStatusHistory", {
    "stepSeconds": "int",
    "at": "list[str]",
    "series": "OperatorStatusHistorySeries",
})

OperatorStatus = TypedDict("OperatorStatus", {
    "status": "Literal[\"ok\", \"failed\"]",
    "parts": "list[OperatorStatusPartsItem]",
    "version": "str",
    "nodeVersion": "str",
    "startedAt": "str",
    "uses": "list[OperatorStatusUsesItem]",
    "history": "OperatorStatusHistory",
})

OwnedSession = TypedDict("OwnedSession", {
    "id": "str",
    "createdAt": "str",
    "lastUsedAt": "str",
    "expiresAt": "str",
    "address": "str",
    "userAgent": "str",
    "device": "str",
    "current": "bool",
    "userId": "str",
    "login": "str",
})

Passkey = TypedDict("Passkey", {
    "id": "str",
    "name": "str",
    "createdAt": "str",
    "lastUsedAt": "str | None",
})

PasskeyOptionsPublicKeyRp = TypedDict("PasskeyOptionsPublicKeyRp", {
    "id": "str",
    "name": "str",
})

PasskeyOptionsPublicKeyUser = TypedDict("PasskeyOptionsPublicKeyUser", {
    "id": "str",
    "name": "str",
    "displayName": "str",
})

PasskeyOptionsPublicKeyPubKeyCredParamsItem = TypedDict("PasskeyOptionsPublicKeyPubKeyCredParamsItem", {
    "type": "Literal[\"public-key\"]",
    "alg": "int",
})

PasskeyOptionsPublicKeyAuthenticatorSelection = TypedDict("PasskeyOptionsPublicKeyAuthenticatorSelection", {
    "residentKey": "Literal[\"required\"]",
    "requireResidentKey": "Literal[True]",
    "userVerification": "Literal[\"required\"]",
})

PasskeyOptionsPublicKeyExcludeCredentialsItem = TypedDict("PasskeyOptionsPublicKeyExcludeCredentialsItem", {
    "type": "Literal[\"public-key\"]",
    "id": "str",
})

# Input of `PublicKeyCredential.parseCreationOptionsFromJSON()`.

PasskeyOptionsPublicKey = TypedDict("PasskeyOptionsPublicKey", {
    "challenge": "str",
    "rp": "PasskeyOptionsPublicKeyRp",
    "user": "PasskeyOptionsPublicKeyUser",
    "pubKeyCredParams": "list[PasskeyOptionsPublicKeyPubKeyCredParamsItem]",
    "timeout": "int",
    "attestation": "Literal[\"none\"]",
    "authenticatorSelection": "PasskeyOptionsPublicKeyAuthenticatorSelection",
    "excludeCredentials": "list[PasskeyOptionsPublicKeyExcludeCredentialsItem]",
})

PasskeyOptions = TypedDict("PasskeyOptions", {
    "state": "str",
    "publicKey": "PasskeyOptionsPublicKey",
})

PasskeyPatch = TypedDict("PasskeyPatch", {
    "name": "str",
})

# Input of `PublicKeyCredential.parseRequestOptionsFromJSON()`.

PasskeyRequestPublicKey = TypedDict("PasskeyRequestPublicKey", {
    "challenge": "str",
    "rpId": "str",
    "timeout": "int",
    "userVerification": "Literal[\"required\"]",
})

PasskeyRequest = TypedDict("PasskeyRequest", {
    "state": "str",
    "publicKey": "PasskeyRequestPublicKey",
})

Passkeys = TypedDict("Passkeys", {
    "items": "list[Passkey]",
})

PasswordChange = TypedDict("PasswordChange", {
    "currentPassword": "str",
    "password": "str",
})

PasswordResetCompletion = TypedDict("PasswordResetCompletion", {
    "token": "str",
    "password": "str",
})

PasswordResetRequest = TypedDict("PasswordResetRequest", {
    "account": "str",
    "language": "NotRequired[Literal[\"en\", \"ru\", \"de\", \"es\", \"he\"]]",
})

PersonExportJobResult = TypedDict("PersonExportJobResult", {
    "bytes": "int",
    "name": "str",
    "mediaType": "str",
    "url": "str",
    "expiresAt": "str",
})

PersonExportJob = TypedDict("PersonExportJob", {
    "id": "str",
    "userId": "str | None",
    "state": "Literal[\"queued\", \"running\", \"done\", \"failed\", \"cancelled\"]",
    "percent": "float",
    "error": "str | None",
    "createdAt": "str",
    "startedAt": "str | None",
    "finishedAt": "str | None",
    "kind": "Literal[\"person-export\"]",
    "subject": "Literal[\"user\", \"driver\"]",
    "subjectId": "str | None",
    "result": "PersonExportJobResult | None",
})

PlaceAnswer = TypedDict("PlaceAnswer", {
    "place": "NamedPlace | None",
})

PlacesFile: TypeAlias = "str"

Position = TypedDict("Position", {
    "vehicleId": "str",
    "fixTime": "str",
    "latitude": "float",
    "longitude": "float",
    "valid": "bool",
    "speedKmh": "NotRequired[float]",
    "courseDeg": "NotRequired[float]",
    "altitudeM": "NotRequired[float]",
    "satellites": "NotRequired[float]",
    "ignition": "NotRequired[bool]",
    "odometerM": "NotRequired[float]",
    "supplyV": "NotRequired[float]",
    "fuelL": "NotRequired[float]",
    "alarms": "NotRequired[list[Alarm]]",
    "attributes": "NotRequired[dict[str, float | str | bool]]",
})

PositionAt = TypedDict("PositionAt", {
    "vehicleId": "str",
    "fixTime": "str",
    "latitude": "float",
    "longitude": "float",
    "speedKmh": "NotRequired[float]",
    "courseDeg": "NotRequired[float]",
    "ignition": "NotRequired[bool]",
})

Preferences = TypedDict("Preferences", {
    "language": "Literal[\"en\", \"ru\", \"de\", \"es\", \"he\"] | None",
    "browserLanguage": "Literal[\"en\", \"ru\", \"de\", \"es\", \"he\"] | None",
    "browserTimeZone": "str | None",
    "theme": "Literal[\"auto\", \"light\", \"dark\"]",
    "units": "Literal[\"metric\", \"imperial\"]",
    "timeZone": "str | None",
    "favourites": "list[str]",
    "clusters": "bool",
    "vehicleColors": "bool",
    "compactList": "bool",
    "listColumns": "list[Literal[\"plate\", \"driver\", \"groups\", \"speed\", \"fuel\", \"contact\"]] | None",
    "map": "str | None",
})

PreferencesPatch = TypedDict("PreferencesPatch", {
    "language": "NotRequired[Literal[\"en\", \"ru\", \"de\", \"es\", \"he\"] | None]",
    "browserLanguage": "NotRequired[Literal[\"en\", \"ru\", \"de\", \"es\", \"he\"] | None]",
    "browserTimeZone": "NotRequired[str | None]",
    "theme": "NotRequired[Literal[\"auto\", \"light\", \"dark\"]]",
    "units": "NotRequired[Literal[\"metric\", \"imperial\"]]",
    "timeZone": "NotRequired[str | None]",
    "favourites": "NotRequired[list[str]]",
    "clusters": "NotRequired[bool]",
    "vehicleColors": "NotRequired[bool]",
    "compactList": "NotRequired[bool]",
    "listColumns": "NotRequired[list[Literal[\"plate\", \"driver\", \"groups\", \"speed\", \"fuel\", \"contact\"]] | None]",
    "map": "NotRequired[str | None]",
})

ProblemErrorsItem = TypedDict("ProblemErrorsItem", {
    "pointer": "NotRequired[str]",
    "parameter": "NotRequired[str]",
    "row": "NotRequired[int]",
    "column": "NotRequired[str]",
    "detail": "str",
})

# The quota that the request would exceed; only for `quota-exceeded`. Nothing was written.

ProblemQuota = TypedDict("ProblemQuota", {
    "scope": "Literal[\"account\", \"dealer\"]",
    "kind": "Literal[\"geofences\", \"geofenceVertices\", \"notificationRules\", \"users\", \"vehicleGroups\", \"vehicles\", \"drivers\", \"reportSchedules\", \"shareLinks\", \"storageBytes\"]",
    "limit": "int",
    "used": "int",
    "requested": "int",
})

# Where the client can resume the feed; only for `cursor-expired`. Everything before it is no longer available.

ProblemResumption = TypedDict("ProblemResumption", {
    "cursor": "str",
    "from": "str",
})

# An error, in the format of RFC 9457.

Problem = TypedDict("Problem", {
    "type": "Literal[\"urn:outrider:problem:invalid-request\", \"urn:outrider:problem:not-authorized\", \"urn:outrider:problem:wrong-credentials\", \"urn:outrider:problem:account-blocked\", \"urn:outrider:problem:account-expired\", \"urn:outrider:problem:second-factor-needed\", \"urn:outrider:problem:wrong-second-factor\", \"urn:outrider:problem:wrong-passkey\", \"urn:outrider:problem:forbidden\", \"urn:outrider:problem:vehicle-suspended\", \"urn:outrider:problem:no-api-access\", \"urn:outrider:problem:cross-origin\", \"urn:outrider:problem:not-found\", \"urn:outrider:problem:method-not-allowed\", \"urn:outrider:problem:not-acceptable\", \"urn:outrider:problem:conflict\", \"urn:outrider:problem:quota-exceeded\", \"urn:outrider:problem:unsafe-command\", \"urn:outrider:problem:not-done\", \"urn:outrider:problem:gone\", \"urn:outrider:problem:cursor-expired\", \"urn:outrider:problem:stale\", \"urn:outrider:problem:too-large\", \"urn:outrider:problem:unsupported-media-type\", \"urn:outrider:problem:too-much\", \"urn:outrider:problem:range-not-satisfiable\", \"urn:outrider:problem:idempotency-mismatch\", \"urn:outrider:problem:too-many-requests\", \"urn:outrider:problem:too-many-commands\", \"urn:outrider:problem:damaged\", \"urn:outrider:problem:internal-error\", \"urn:outrider:problem:unavailable\"]",
    "title": "str",
    "status": "int",
    "detail": "str",
    "errors": "NotRequired[list[ProblemErrorsItem]]",
    "right": "NotRequired[Literal[\"edit-vehicles\", \"edit-geofences\", \"edit-notifications\", \"share\", \"video\", \"commands\", \"command-text\", \"maintenance\"]]",
    "quota": "NotRequired[ProblemQuota]",
    "resumption": "NotRequired[ProblemResumption]",
})

# An event. The descriptions of fields that only some kinds have name these kinds.

PublishedEvent = TypedDict("PublishedEvent", {
    "id": "str",
    "kind": "Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\"]",
    "phase": "Literal[\"begin\", \"end\"]",
    "vehicleId": "str",
    "startedAt": "str",
    "endedAt": "str | None",
    "fromFixTime": "str",
    "fixTime": "str",
    "definitionVersion": "int",
    "origin": "Literal[\"live\", \"recalculated\"]",
    "inferred": "bool",
    "latitude": "float",
    "longitude": "float",
    "startLatitude": "NotRequired[float]",
    "startLongitude": "NotRequired[float]",
    "speedKmh": "float | None",
    "receivedAt": "NotRequired[str]",
    "traceId": "NotRequired[str]",
    "geofenceId": "NotRequired[str | None]",
    "limitSource": "NotRequired[Literal[\"vehicle\", \"geofence\"]]",
    "limitKmh": "NotRequired[float]",
    "peakKmh": "NotRequired[float]",
    "meanKmh": "NotRequired[float]",
    "distanceM": "NotRequired[float]",
    "movingSeconds": "NotRequired[float]",
    "idlingSeconds": "NotRequired[float]",
    "maxKmh": "NotRequired[float]",
    "fuelStartL": "NotRequired[float]",
    "fuelEndL": "NotRequired[float]",
    "fuelUsedL": "NotRequired[float]",
    "alarm": "NotRequired[Alarm]",
    "planId": "NotRequired[str]",
    "planName": "NotRequired[str]",
    "stage": "NotRequired[Literal[\"warning\", \"due\"]]",
    "cause": "NotRequired[Literal[\"distance\", \"engine-hours\", \"days\", \"counter\"]]",
    "volumeL": "NotRequired[float]",
    "levelBeforeL": "NotRequired[float]",
    "levelAfterL": "NotRequired[float]",
    "whileMoving": "NotRequired[bool]",
    "sensorId": "NotRequired[str]",
    "sensorName": "NotRequired[str]",
    "sensorKind": "NotRequired[Literal[\"fuel-level\", \"fuel-used\", \"temperature\", \"humidity\", \"digital\", \"engine-hours\", \"odometer\", \"rpm\", \"voltage\", \"weight\", \"tyre-pressure\", \"custom\"]]",
    "unit": "NotRequired[str]",
    "thresholdId": "NotRequired[str]",
    "condition": "NotRequired[Literal[\"above\", \"below\", \"inside\", \"outside\"]]",
    "min": "NotRequired[float | None]",
    "max": "NotRequired[float | None]",
    "value": "NotRequired[float]",
    "peakValue": "NotRequired[float]",
    "manoeuvre": "NotRequired[Literal[\"acceleration\", \"braking\", \"cornering\"]]",
    "peakMps2": "NotRequired[float | None]",
    "endReason": "Literal[\"left\", \"geofence-deleted\", \"geofence-changed\", \"no-longer-watched\", \"slowed\", \"limit-removed\", \"stopped\", \"gap\", \"moved\", \"ignition\", \"switched-off\", \"cleared\", \"restored\", \"online\", \"due\", \"serviced\", \"corrected\", \"plan-changed\", \"card-removed\", \"other-driver\", \"parked\", \"settled\", \"returned\", \"sensor-changed\"] | None",
    "driverCode": "NotRequired[str]",
})

PushKey = TypedDict("PushKey", {
    "publicKey": "str",
})

PushSubscriptionKeys = TypedDict("PushSubscriptionKeys", {
    "p256dh": "str",
    "auth": "str",
})

# Result of `PushSubscription.toJSON()` in the browser. Stored encrypted and never shown.

PushSubscription = TypedDict("PushSubscription", {
    "endpoint": "str",
    "keys": "PushSubscriptionKeys",
})

QuotaUse = TypedDict("QuotaUse", {
    "used": "int",
    "limit": "int",
    "isSet": "bool",
})

# Quotas of what the account itself owns.

QuotasAccount = TypedDict("QuotasAccount", {
    "geofences": "QuotaUse",
    "geofenceVertices": "QuotaUse",
    "notificationRules": "QuotaUse",
    "reportSchedules": "QuotaUse",
    "shareLinks": "QuotaUse",
    "storageBytes": "QuotaUse",
})

QuotasDealer = TypedDict("QuotasDealer", {
    "geofences": "QuotaUse",
    "geofenceVertices": "QuotaUse",
    "notificationRules": "QuotaUse",
    "users": "QuotaUse",
    "vehicleGroups": "QuotaUse",
    "vehicles": "QuotaUse",
    "drivers": "QuotaUse",
    "reportSchedules": "QuotaUse",
    "shareLinks": "QuotaUse",
    "storageBytes": "QuotaUse",
})

Quotas = TypedDict("Quotas", {
    "account": "QuotasAccount",
    "dealer": "QuotasDealer | None",
})

QuotasPatchAccount = TypedDict("QuotasPatchAccount", {
    "geofences": "NotRequired[int | None]",
    "geofenceVertices": "NotRequired[int | None]",
    "notificationRules": "NotRequired[int | None]",
    "reportSchedules": "NotRequired[int | None]",
    "shareLinks": "NotRequired[int | None]",
    "storageBytes": "NotRequired[int | None]",
})

QuotasPatchDealer = TypedDict("QuotasPatchDealer", {
    "geofences": "NotRequired[int | None]",
    "geofenceVertices": "NotRequired[int | None]",
    "notificationRules": "NotRequired[int | None]",
    "users": "NotRequired[int | None]",
    "vehicleGroups": "NotRequired[int | None]",
    "vehicles": "NotRequired[int | None]",
    "drivers": "NotRequired[int | None]",
    "reportSchedules": "NotRequired[int | None]",
    "shareLinks": "NotRequired[int | None]",
    "storageBytes": "NotRequired[int | None]",
})

QuotasPatch = TypedDict("QuotasPatch", {
    "account": "NotRequired[QuotasPatchAccount]",
    "dealer": "NotRequired[QuotasPatchDealer]",
})

ReadinessPartsValue = TypedDict("ReadinessPartsValue", {
    "status": "Literal[\"ok\", \"failed\"]",
    "warnings": "NotRequired[list[str]]",
    "behind": "NotRequired[dict[str, int]]",
})

Readiness = TypedDict("Readiness", {
    "status": "Literal[\"ok\", \"failed\"]",
    "parts": "dict[str, ReadinessPartsValue]",
})

RecalculationJobResult = TypedDict("RecalculationJobResult", {
    "vehicles": "int",
    "added": "int",
    "changed": "int",
    "removed": "int",
})

RecalculationJob = TypedDict("RecalculationJob", {
    "id": "str",
    "userId": "str | None",
    "state": "Literal[\"queued\", \"running\", \"done\", \"failed\", \"cancelled\"]",
    "percent": "float",
    "error": "str | None",
    "createdAt": "str",
    "startedAt": "str | None",
    "finishedAt": "str | None",
    "kind": "Literal[\"recalculate-geozone\", \"recalculate-vehicle\", \"late-data\", \"old-data\"]",
    "subjectId": "str | None",
    "from": "str",
    "to": "str",
    "positions": "int",
    "result": "RecalculationJobResult | None",
})

RecoveryCodes = TypedDict("RecoveryCodes", {
    "recoveryCodes": "list[str]",
})

RefuellingsRow = TypedDict("RefuellingsRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "kind": "Literal[\"refuelling\", \"fuel-drain\"]",
    "startedAt": "str",
    "endedAt": "str | None",
    "durationSeconds": "float",
    "latitude": "float",
    "longitude": "float",
    "refuelledL": "float | None",
    "drainedL": "float | None",
    "levelBeforeL": "float",
    "levelAfterL": "float",
    "whileMoving": "bool",
    "endReason": "Literal[\"left\", \"geofence-deleted\", \"geofence-changed\", \"no-longer-watched\", \"slowed\", \"limit-removed\", \"stopped\", \"gap\", \"moved\", \"ignition\", \"switched-off\", \"cleared\", \"restored\", \"online\", \"due\", \"serviced\", \"corrected\", \"plan-changed\", \"card-removed\", \"other-driver\", \"parked\", \"settled\", \"returned\", \"sensor-changed\"] | None",
    "startLatitude": "float | None",
    "startLongitude": "float | None",
    "endLatitude": "float | None",
    "endLongitude": "float | None",
    "driverId": "str | None",
    "driverName": "str | None",
    "driverCode": "str | None",
    "startPlace": "str | None",
    "endPlace": "str | None",
})

RejectedPositionsRejectionsItem = TypedDict("RejectedPositionsRejectionsItem", {
    "reason": "Literal[\"out-of-range\", \"null-island\", \"time-in-future\", \"time-too-old\", \"jump\"]",
    "count": "int",
    "lastFixTime": "str",
    "lastReceivedAt": "str",
    "latitude": "float",
    "longitude": "float",
})

RejectedPositions = TypedDict("RejectedPositions", {
    "vehicleId": "str",
    "from": "str",
    "to": "str",
    "complete": "bool",
    "rejections": "list[RejectedPositionsRejectionsItem]",
})

ReportDelivery = TypedDict("ReportDelivery", {
    "id": "str",
    "jobId": "str",
    "address": "str",
    "state": "Literal[\"pending\", \"delivered\", \"failed\", \"cancelled\"]",
    "attempts": "int",
    "createdAt": "str",
    "finishedAt": "str | None",
    "error": "str | None",
})

ReportJobResult = TypedDict("ReportJobResult", {
    "rows": "int",
    "bytes": "int",
    "name": "str",
    "mediaType": "str",
    "summary": "list[str]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
    "url": "str",
    "expiresAt": "str",
})

ReportJob = TypedDict("ReportJob", {
    "id": "str",
    "userId": "str | None",
    "state": "Literal[\"queued\", \"running\", \"done\", \"failed\", \"cancelled\"]",
    "percent": "float",
    "error": "str | None",
    "createdAt": "str",
    "startedAt": "str | None",
    "finishedAt": "str | None",
    "kind": "Literal[\"report\"]",
    "report": "str",
    "format": "str",
    "subjectId": "str | None",
    "scheduleId": "str | None",
    "from": "str | None",
    "to": "str | None",
    "timeZone": "str",
    "rows": "int",
    "result": "ReportJobResult | None",
})

ReportKindParametersPeriod = TypedDict("ReportKindParametersPeriod", {
    "values": "list[Literal[\"whole\", \"day\", \"week\", \"month\"]]",
    "default": "Literal[\"whole\", \"day\", \"week\", \"month\"]",
})

ReportKindParametersEventKinds = TypedDict("ReportKindParametersEventKinds", {
    "values": "list[Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\"]]",
})

ReportKindParametersMaxPoints = TypedDict("ReportKindParametersMaxPoints", {
    "min": "int",
    "max": "int",
})

ReportKindParameters = TypedDict("ReportKindParameters", {
    "period": "ReportKindParametersPeriod | None",
    "eventKinds": "ReportKindParametersEventKinds | None",
    "geozoneId": "bool",
    "shape": "bool",
    "maxPoints": "ReportKindParametersMaxPoints | None",
    "workHours": "str | None",
    "ecoWeights": "str | None",
    "sensors": "bool",
    "driverIds": "bool",
})

ReportKindColumnsItem = TypedDict("ReportKindColumnsItem", {
    "name": "str",
    "type": "Literal[\"id\", \"text\", \"day\", \"time\", \"number\", \"whole\", \"flag\", \"json\"]",
    "unit": "Literal[\"s\", \"km/h\", \"m\", \"deg\", \"l\", \"V\", \"ratio\"] | None",
    "always": "bool",
    "total": "Literal[\"sum\", \"max\", \"min\", \"mean\"] | None",
    "weight": "str | None",
    "isUsual": "bool",
    "description": "str | None",
})

ReportKindChartsItem = TypedDict("ReportKindChartsItem", {
    "shape": "Literal[\"bars\", \"lines\"]",
    "measure": "str | None",
    "by": "Literal[\"vehicle\", \"driver\", \"day\", \"geozone\", \"kind\", \"sensor\", \"hour\", \"time\"]",
})

ReportKind = TypedDict("ReportKind", {
    "kind": "str",
    "summary": "str",
    "description": "str | None",
    "hasTimeRange": "bool",
    "isTrack": "bool",
    "parameters": "ReportKindParameters",
    "columns": "list[ReportKindColumnsItem]",
    "groupings": "list[Literal[\"vehicle\", \"driver\", \"day\", \"geozone\", \"kind\", \"sensor\"]]",
    "charts": "list[ReportKindChartsItem]",
    "formats": "list[str]",
})

ReportKinds = TypedDict("ReportKinds", {
    "items": "list[ReportKind]",
})

ReportScheduleEmailStatesItem = TypedDict("ReportScheduleEmailStatesItem", {
    "address": "str",
    "state": "Literal[\"pending\", \"confirmed\", \"unsubscribed\"]",
    "suppressedToday": "int",
})

ReportSchedule = TypedDict("ReportSchedule", {
    "id": "str",
    "ownerId": "str",
    "name": "str",
    "active": "bool",
    "inactiveReason": "Literal[\"switched-off\", \"owner-blocked\", \"nothing-to-tell\"] | None",
    "kind": "str",
    "format": "str",
    "vehicleId": "str | None",
    "vehicleIds": "list[str] | None",
    "groupId": "str | None",
    "geozoneId": "str | None",
    "period": "str",
    "eventKinds": "list[str] | None",
    "maxPoints": "int | None",
    "workHours": "str | None",
    "ecoWeights": "str | None",
    "sensors": "list[str] | None",
    "driverIds": "list[str] | None",
    "columns": "list[str] | None",
    "groupBy": "Literal[\"vehicle\", \"driver\", \"day\", \"geozone\", \"kind\", \"sensor\"] | None",
    "language": "Literal[\"en\", \"ru\", \"de\", \"es\", \"he\"] | None",
    "timeZone": "str",
    "frequency": "Literal[\"daily\", \"weekly\", \"monthly\"]",
    "hour": "int",
    "covers": "Literal[\"yesterday\", \"last-week\", \"last-month\"]",
    "emails": "list[str]",
    "emailStates": "list[ReportScheduleEmailStatesItem]",
    "lastPeriod": "str | None",
    "nextAt": "str | None",
})

ReportSchedulePatch = TypedDict("ReportSchedulePatch", {
    "kind": "NotRequired[Literal[\"track\", \"trips\", \"stops\", \"mileage\", \"engine-hours\", \"speeding\", \"geozone-visits\", \"geozone-matrix\", \"events\", \"summary\", \"current-state\", \"utilisation\", \"idling\", \"fuel\", \"refuellings\", \"maintenance\", \"sensors\", \"sensor-series\", \"work-time\", \"violations\", \"eco-driving\", \"drivers\", \"fleet-digest\"]]",
    "format": "NotRequired[Literal[\"ndjson\", \"csv\", \"xlsx\", \"pdf\", \"parquet\", \"arrow\", \"geojson\", \"gpx\", \"kml\"]]",
    "vehicleId": "NotRequired[str | None]",
    "vehicleIds": "NotRequired[list[str] | None]",
    "groupId": "NotRequired[str | None]",
    "period": "NotRequired[Literal[\"whole\", \"day\", \"week\", \"month\"] | None]",
    "eventKinds": "NotRequired[list[Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\"]] | None]",
    "geozoneId": "NotRequired[str | None]",
    "maxPoints": "NotRequired[int | None]",
    "workHours": "NotRequired[str | None]",
    "ecoWeights": "NotRequired[str | None]",
    "sensors": "NotRequired[list[str] | None]",
    "driverIds": "NotRequired[list[str] | None]",
    "columns": "NotRequired[list[str] | None]",
    "groupBy": "NotRequired[Literal[\"vehicle\", \"driver\", \"day\", \"geozone\", \"kind\", \"sensor\"] | None]",
    "language": "NotRequired[Literal[\"en\", \"ru\", \"de\", \"es\", \"he\"] | None]",
    "timeZone": "NotRequired[str]",
    "name": "NotRequired[str]",
    "frequency": "NotRequired[Literal[\"daily\", \"weekly\", \"monthly\"]]",
    "hour": "NotRequired[int]",
    "covers": "NotRequired[Literal[\"yesterday\", \"last-week\", \"last-month\"]]",
    "emails": "NotRequired[list[str]]",
    "active": "NotRequired[bool]",
})

ReportTemplate = TypedDict("ReportTemplate", {
    "name": "str",
    "kind": "str",
    "vehicleIds": "list[str]",
    "groupId": "str | None",
    "geozoneId": "str | None",
    "range": "Literal[\"today\", \"yesterday\", \"last-7-days\", \"last-30-days\", \"this-week\", \"last-week\", \"this-month\", \"last-month\"] | None",
    "period": "Literal[\"whole\", \"day\", \"week\", \"month\"] | None",
    "eventKinds": "list[Literal[\"geofence-visit\", \"speeding\", \"trip\", \"parking\", \"idling\", \"ignition\", \"alarm\", \"power-cut\", \"offline\", \"maintenance-due\", \"driver-shift\", \"refuelling\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\"]] | None",
    "maxPoints": "int | None",
    "workHours": "str | None",
    "ecoWeights": "str | None",
    "sensors": "list[str] | None",
    "driverIds": "list[str] | None",
    "format": "str | None",
    "groupBy": "Literal[\"vehicle\", \"driver\", \"day\", \"geozone\", \"kind\", \"sensor\"] | None",
    "columns": "list[str] | None",
    "sort": "str | None",
    "shape": "SavedShape | None",
})

ReportTemplates = TypedDict("ReportTemplates", {
    "items": "list[ReportTemplate]",
})

ReportTotalsGroupsItem = TypedDict("ReportTotalsGroupsItem", {
    "key": "str | None",
    "rows": "int",
    "values": "dict[str, float | None]",
})

ReportTotals = TypedDict("ReportTotals", {
    "rows": "int",
    "values": "dict[str, float | None]",
    "groups": "list[ReportTotalsGroupsItem]",
})

RetentionJobResult = TypedDict("RetentionJobResult", {
    "vehicles": "int",
    "archiveRows": "int",
    "videos": "int",
    "reports": "int",
    "notifications": "int",
})

# Daily erasure of history that is older than the retention of groups and fleets.

RetentionJob = TypedDict("RetentionJob", {
    "id": "str",
    "userId": "str | None",
    "state": "Literal[\"queued\", \"running\", \"done\", \"failed\", \"cancelled\"]",
    "percent": "float",
    "error": "str | None",
    "createdAt": "str",
    "startedAt": "str | None",
    "finishedAt": "str | None",
    "kind": "Literal[\"retention\"]",
    "subjectId": "None",
    "result": "RetentionJobResult | None",
})

SavedShapeProperties = TypedDict("SavedShapeProperties", {
    "shape": "Literal[\"polygon\", \"multipolygon\", \"circle\", \"line\"]",
    "radiusM": "NotRequired[float]",
    "widthM": "NotRequired[float]",
    "minDwellSeconds": "int",
})

SavedShape = TypedDict("SavedShape", {
    "type": "Literal[\"Feature\"]",
    "geometry": "Geometry",
    "properties": "SavedShapeProperties",
})

SecondFactor = TypedDict("SecondFactor", {
    "enabled": "bool",
    "enabledAt": "str | None",
    "passkeys": "int",
    "recoveryCodes": "int",
})

SecondFactorConfirmation = TypedDict("SecondFactorConfirmation", {
    "totp": "str",
})

SecondFactorSecret = TypedDict("SecondFactorSecret", {
    "secret": "str",
    "uri": "str",
})

SensorCalibrationItem = TypedDict("SensorCalibrationItem", {
    "raw": "float",
    "value": "float",
})

SensorThresholdsItem = TypedDict("SensorThresholdsItem", {
    "id": "str",
    "condition": "Literal[\"above\", \"below\", \"inside\", \"outside\"]",
    "min": "float | None",
    "max": "float | None",
    "hysteresis": "float",
    "forSeconds": "float",
})

Sensor = TypedDict("Sensor", {
    "id": "str",
    "name": "str",
    "kind": "Literal[\"fuel-level\", \"fuel-used\", \"temperature\", \"humidity\", \"digital\", \"engine-hours\", \"odometer\", \"rpm\", \"voltage\", \"weight\", \"tyre-pressure\", \"custom\"]",
    "unit": "str",
    "source": "str",
    "calibration": "list[SensorCalibrationItem]",
    "outside": "Literal[\"extrapolate\", \"clamp\"]",
    "validMin": "float | None",
    "validMax": "float | None",
    "onlyWithIgnition": "bool",
    "smoothing": "int",
    "thresholds": "list[SensorThresholdsItem]",
})

SensorImportItemsItem = TypedDict("SensorImportItemsItem", {
    "row": "int",
    "vehicleId": "str",
    "name": "str",
    "id": "str | None",
    "outcome": "Literal[\"created\", \"updated\", \"unchanged\"]",
})

SensorImport = TypedDict("SensorImport", {
    "dryRun": "bool",
    "created": "int",
    "updated": "int",
    "unchanged": "int",
    "items": "list[SensorImportItemsItem]",
})

SensorListItemsItem = TypedDict("SensorListItemsItem", {
    "name": "str",
    "kind": "Literal[\"fuel-level\", \"fuel-used\", \"temperature\", \"humidity\", \"digital\", \"engine-hours\", \"odometer\", \"rpm\", \"voltage\", \"weight\", \"tyre-pressure\", \"custom\"]",
    "unit": "str",
    "vehicles": "int",
})

SensorList = TypedDict("SensorList", {
    "items": "list[SensorListItemsItem]",
})

SensorPresetsItemsItemSensorsItem = TypedDict("SensorPresetsItemsItemSensorsItem", {
    "name": "str",
    "kind": "Literal[\"fuel-level\", \"fuel-used\", \"temperature\", \"humidity\", \"digital\", \"engine-hours\", \"odometer\", \"rpm\", \"voltage\", \"weight\", \"tyre-pressure\", \"custom\"]",
    "unit": "str",
    "source": "str",
})

SensorPresetsItemsItem = TypedDict("SensorPresetsItemsItem", {
    "family": "str",
    "title": "str",
    "sensors": "list[SensorPresetsItemsItemSensorsItem]",
})

SensorPresets = TypedDict("SensorPresets", {
    "items": "list[SensorPresetsItemsItem]",
})

SensorSeriesRow = TypedDict("SensorSeriesRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "startedAt": "str",
    "sensorId": "str",
    "sensorName": "str",
    "sensorKind": "Literal[\"fuel-level\", \"fuel-used\", \"temperature\", \"humidity\", \"digital\", \"engine-hours\", \"odometer\", \"rpm\", \"voltage\", \"weight\", \"tyre-pressure\", \"custom\"]",
    "unit": "str",
    "min": "float | None",
    "mean": "float | None",
    "max": "float | None",
    "samples": "int",
})

SensorTrialRecordsItem = TypedDict("SensorTrialRecordsItem", {
    "time": "str",
    "raw": "float | None",
    "value": "float | None",
})

SensorTrial = TypedDict("SensorTrial", {
    "records": "list[SensorTrialRecordsItem]",
    "attributes": "list[str]",
})

SensorTrialTermsCalibrationItem = TypedDict("SensorTrialTermsCalibrationItem", {
    "raw": "float",
    "value": "float",
})

SensorTrialTerms = TypedDict("SensorTrialTerms", {
    "kind": "Literal[\"fuel-level\", \"fuel-used\", \"temperature\", \"humidity\", \"digital\", \"engine-hours\", \"odometer\", \"rpm\", \"voltage\", \"weight\", \"tyre-pressure\", \"custom\"]",
    "source": "str",
    "calibration": "NotRequired[list[SensorTrialTermsCalibrationItem]]",
    "outside": "NotRequired[Literal[\"extrapolate\", \"clamp\"]]",
    "validMin": "NotRequired[float | None]",
    "validMax": "NotRequired[float | None]",
    "onlyWithIgnition": "NotRequired[bool]",
    "smoothing": "NotRequired[int]",
})

SensorsRow = TypedDict("SensorsRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "period": "str",
    "sensorId": "str",
    "sensorName": "str",
    "sensorKind": "Literal[\"fuel-level\", \"fuel-used\", \"temperature\", \"humidity\", \"digital\", \"engine-hours\", \"odometer\", \"rpm\", \"voltage\", \"weight\", \"tyre-pressure\", \"custom\"]",
    "unit": "str",
    "min": "float | None",
    "mean": "float | None",
    "max": "float | None",
    "samples": "int",
    "knownSeconds": "float",
    "aboveSeconds": "float | None",
    "belowSeconds": "float | None",
    "insideSeconds": "float | None",
    "onSeconds": "float | None",
    "offSeconds": "float | None",
    "timesOn": "int | None",
})

ServiceFile = TypedDict("ServiceFile", {
    "id": "str",
    "name": "str",
    "mediaType": "Literal[\"application/pdf\", \"image/jpeg\", \"image/png\", \"image/webp\"]",
    "bytes": "int",
})

ServiceRecordCost = TypedDict("ServiceRecordCost", {
    "amount": "float",
    "currency": "str",
})

ServiceRecord = TypedDict("ServiceRecord", {
    "id": "str",
    "vehicleId": "str",
    "planId": "str | None",
    "title": "str",
    "at": "str",
    "odometerM": "float | None",
    "engineHours": "float | None",
    "cost": "ServiceRecordCost | None",
    "note": "str | None",
    "files": "list[ServiceFile]",
    "createdBy": "str | None",
    "createdAt": "str",
})

Session = TypedDict("Session", {
    "id": "str",
    "createdAt": "str",
    "lastUsedAt": "str",
    "expiresAt": "str",
    "address": "str",
    "userAgent": "str",
    "device": "str",
    "current": "bool",
})

ShapeVisitsRow = TypedDict("ShapeVisitsRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "part": "Literal[\"inside\", \"between\"]",
    "startedAt": "str",
    "endedAt": "str | None",
    "durationSeconds": "float",
    "inferred": "bool",
    "endReason": "Literal[\"left\", \"geofence-deleted\", \"geofence-changed\", \"no-longer-watched\", \"slowed\", \"limit-removed\", \"stopped\", \"gap\", \"moved\", \"ignition\", \"switched-off\", \"cleared\", \"restored\", \"online\", \"due\", \"serviced\", \"corrected\", \"plan-changed\", \"card-removed\", \"other-driver\", \"parked\", \"settled\", \"returned\", \"sensor-changed\"] | None",
    "startLatitude": "float | None",
    "startLongitude": "float | None",
    "endLatitude": "float | None",
    "endLongitude": "float | None",
    "startPlace": "str | None",
    "endPlace": "str | None",
})

ShareLinkTrack = TypedDict("ShareLinkTrack", {
    "from": "str",
    "to": "str",
})

ShareLink = TypedDict("ShareLink", {
    "id": "str",
    "ownerId": "str",
    "name": "str | None",
    "vehicleIds": "list[str]",
    "track": "ShareLinkTrack | None",
    "createdAt": "str",
    "expiresAt": "str",
})

SharedTrack = TypedDict("SharedTrack", {
    "from": "str",
    "to": "str",
})

SharedVehiclesItemPosition = TypedDict("SharedVehiclesItemPosition", {
    "fixTime": "str",
    "latitude": "float",
    "longitude": "float",
    "speedKmh": "float | None",
    "courseDeg": "int | None",
})

SharedVehiclesItem = TypedDict("SharedVehiclesItem", {
    "name": "str",
    "state": "Literal[\"moving\", \"parking\", \"idling\", \"offline\", \"unknown\"] | None",
    "position": "SharedVehiclesItemPosition | None",
    "points": "list[list[float | float | None]] | None",
})

Shared = TypedDict("Shared", {
    "name": "str | None",
    "expiresAt": "str",
    "track": "SharedTrack | None",
    "vehicles": "list[SharedVehiclesItem]",
})

SignedPasskey = TypedDict("SignedPasskey", {
    "state": "str",
    "credential": "SignedPasskeyCredential",
})

SignedPasskeyCredentialResponse = TypedDict("SignedPasskeyCredentialResponse", {
    "clientDataJSON": "str",
    "authenticatorData": "str",
    "signature": "str",
    "userHandle": "NotRequired[str | None]",
})

# Output of `PublicKeyCredential.toJSON()`.

SignedPasskeyCredential = TypedDict("SignedPasskeyCredential", {
    "id": "str",
    "rawId": "str",
    "type": "Literal[\"public-key\"]",
    "response": "SignedPasskeyCredentialResponse",
})

SpeedingRow = TypedDict("SpeedingRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "startedAt": "str",
    "endedAt": "str | None",
    "durationSeconds": "float",
    "latitude": "float",
    "longitude": "float",
    "limitKmh": "float",
    "limitSource": "Literal[\"vehicle\", \"geofence\"]",
    "geozoneId": "str | None",
    "geozoneName": "str | None",
    "peakKmh": "float",
    "meanKmh": "float",
    "distanceM": "float",
    "endReason": "Literal[\"left\", \"geofence-deleted\", \"geofence-changed\", \"no-longer-watched\", \"slowed\", \"limit-removed\", \"stopped\", \"gap\", \"moved\", \"ignition\", \"switched-off\", \"cleared\", \"restored\", \"online\", \"due\", \"serviced\", \"corrected\", \"plan-changed\", \"card-removed\", \"other-driver\", \"parked\", \"settled\", \"returned\", \"sensor-changed\"] | None",
    "startLatitude": "float | None",
    "startLongitude": "float | None",
    "endLatitude": "float | None",
    "endLongitude": "float | None",
    "driverId": "str | None",
    "driverName": "str | None",
    "driverCode": "str | None",
    "startPlace": "str | None",
    "endPlace": "str | None",
})

StopsRow = TypedDict("StopsRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "kind": "Literal[\"parking\", \"idling\"]",
    "startedAt": "str",
    "endedAt": "str | None",
    "durationSeconds": "float",
    "latitude": "float",
    "longitude": "float",
    "idlingSeconds": "float",
    "endReason": "Literal[\"left\", \"geofence-deleted\", \"geofence-changed\", \"no-longer-watched\", \"slowed\", \"limit-removed\", \"stopped\", \"gap\", \"moved\", \"ignition\", \"switched-off\", \"cleared\", \"restored\", \"online\", \"due\", \"serviced\", \"corrected\", \"plan-changed\", \"card-removed\", \"other-driver\", \"parked\", \"settled\", \"returned\", \"sensor-changed\"] | None",
    "startLatitude": "float | None",
    "startLongitude": "float | None",
    "endLatitude": "float | None",
    "endLongitude": "float | None",
    "driverId": "str | None",
    "driverName": "str | None",
    "driverCode": "str | None",
    "startPlace": "str | None",
    "endPlace": "str | None",
})

SummaryRow = TypedDict("SummaryRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "period": "str",
    "distanceM": "float",
    "movingSeconds": "float",
    "idlingSeconds": "float",
    "parkedSeconds": "float",
    "engineOnSeconds": "float",
    "offlineSeconds": "float",
    "maxKmh": "float | None",
    "meanKmh": "float | None",
    "trips": "int",
    "stops": "int",
    "speedings": "int",
    "geozoneVisits": "int",
    "alarms": "int",
    "powerCuts": "int",
})

Suspension = TypedDict("Suspension", {
    "reason": "str",
    "by": "Literal[\"operator\", \"dealer\"]",
    "since": "str",
})

TakenHistory = TypedDict("TakenHistory", {
    "positions": "int",
    "from": "str | None",
    "to": "str | None",
})

TelegramSettings = TypedDict("TelegramSettings", {
    "chatId": "str",
})

TerminalProtocolsItemsItem = TypedDict("TerminalProtocolsItemsItem", {
    "name": "str",
    "title": "str",
    "transport": "Literal[\"tcp\", \"http\", \"mqtt\"]",
    "port": "int | None",
    "udpPort": "int | None",
    "tlsPort": "int | None",
    "authentication": "str | None",
    "help": "str",
    "exampleId": "str",
    "models": "list[str]",
})

TerminalProtocols = TypedDict("TerminalProtocols", {
    "host": "str | None",
    "items": "list[TerminalProtocolsItemsItem]",
})

Token = TypedDict("Token", {
    "jwt": "str",
    "expiresAt": "str",
    "refresh": "str",
})

TrackPosition = TypedDict("TrackPosition", {
    "vehicleId": "str",
    "fixTime": "str",
    "latitude": "float",
    "longitude": "float",
    "valid": "bool",
    "speedKmh": "NotRequired[float]",
    "courseDeg": "NotRequired[float]",
    "altitudeM": "NotRequired[float]",
    "satellites": "NotRequired[float]",
    "ignition": "NotRequired[bool]",
    "odometerM": "NotRequired[float]",
    "supplyV": "NotRequired[float]",
    "fuelL": "NotRequired[float]",
    "alarms": "NotRequired[list[Alarm]]",
    "attributes": "NotRequired[dict[str, float | str | bool]]",
    "rejection": "NotRequired[Literal[\"jump\"]]",
})

TripsRowGeometry = TypedDict("TripsRowGeometry", {
    "type": "Literal[\"LineString\"]",
    "coordinates": "list[list[float]]",
})

TripsRow = TypedDict("TripsRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "startedAt": "str",
    "endedAt": "str | None",
    "durationSeconds": "float",
    "startLatitude": "float",
    "startLongitude": "float",
    "endLatitude": "float | None",
    "endLongitude": "float | None",
    "distanceM": "float | None",
    "movingSeconds": "float | None",
    "idlingSeconds": "float | None",
    "maxKmh": "float | None",
    "meanKmh": "float | None",
    "fuelUsedL": "float | None",
    "endReason": "Literal[\"left\", \"geofence-deleted\", \"geofence-changed\", \"no-longer-watched\", \"slowed\", \"limit-removed\", \"stopped\", \"gap\", \"moved\", \"ignition\", \"switched-off\", \"cleared\", \"restored\", \"online\", \"due\", \"serviced\", \"corrected\", \"plan-changed\", \"card-removed\", \"other-driver\", \"parked\", \"settled\", \"returned\", \"sensor-changed\"] | None",
    "driverId": "str | None",
    "driverName": "str | None",
    "driverCode": "str | None",
    "startPlace": "str | None",
    "endPlace": "str | None",
    "geometry": "NotRequired[TripsRowGeometry | None]",
})

UnknownDriverCodesItemsItem = TypedDict("UnknownDriverCodesItemsItem", {
    "code": "str",
    "vehicleId": "str",
    "vehicleName": "str",
    "firstSeenAt": "str",
    "lastSeenAt": "str",
    "shifts": "int",
})

UnknownDriverCodes = TypedDict("UnknownDriverCodes", {
    "items": "list[UnknownDriverCodesItemsItem]",
})

UnknownTerminalGuessesItem = TypedDict("UnknownTerminalGuessesItem", {
    "protocol": "str",
    "title": "str",
    "port": "int | None",
    "terminalId": "str | None",
})

UnknownTerminal = TypedDict("UnknownTerminal", {
    "terminalId": "str | None",
    "protocol": "str",
    "transport": "Literal[\"tcp\", \"udp\", \"http\"] | None",
    "address": "str",
    "reason": "str | None",
    "detail": "str | None",
    "receivedBytes": "int | None",
    "firstBytes": "str | None",
    "guesses": "list[UnknownTerminalGuessesItem]",
    "firstSeen": "str",
    "lastSeen": "str",
    "attempts": "int",
})

Unreadiness: TypeAlias = "Readiness"

User = TypedDict("User", {
    "id": "str",
    "login": "str",
    "name": "str",
    "role": "Literal[\"operator\", \"dealer\", \"user\"]",
    "dealerId": "str | None",
    "blocked": "bool",
    "apiAccess": "bool",
    "services": "list[Literal[\"video\", \"commands\", \"command-text\", \"maintenance\"]]",
    "rights": "list[Literal[\"edit-vehicles\", \"edit-geofences\", \"edit-notifications\", \"share\"]]",
    "groupIds": "list[str]",
    "externalId": "str | None",
    "customAttributes": "dict[str, str | float | bool]",
})

UserPatch = TypedDict("UserPatch", {
    "login": "NotRequired[str]",
    "name": "NotRequired[str]",
    "dealerId": "NotRequired[str | None]",
    "services": "NotRequired[list[Literal[\"video\", \"commands\", \"command-text\", \"maintenance\"]]]",
    "rights": "NotRequired[list[Literal[\"edit-vehicles\", \"edit-geofences\", \"edit-notifications\", \"share\"]]]",
    "groupIds": "NotRequired[list[str]]",
    "externalId": "NotRequired[str | None]",
    "customAttributes": "NotRequired[dict[str, str | float | bool | None]]",
})

UsersOfGroupPatch = TypedDict("UsersOfGroupPatch", {
    "add": "NotRequired[list[str]]",
    "remove": "NotRequired[list[str]]",
})

UtilisationRow = TypedDict("UtilisationRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "hour": "int",
    "tripSeconds": "float",
    "engineOnSeconds": "float",
    "idlingSeconds": "float",
    "share": "float",
})

# What the terminal must present for its data to be accepted.

VehicleTerminalAccess = TypedDict("VehicleTerminalAccess", {
    "protocol": "Literal[\"learn\", \"any\", \"omnicomm\", \"teltonika\", \"wialon-ips\", \"osmand\", \"jt808\", \"gt06\", \"ruptela\", \"galileosky\", \"egts\", \"h02\", \"gps103\", \"meitrack\", \"queclink\", \"tk103\", \"suntech\", \"wialon-retranslator\", \"navtelecom\", \"owntracks\", \"flespi\", \"mqtt-json\"]",
    "hasSecret": "bool",
    "certificateSha256": "str | None",
    "networks": "list[str]",
})

Vehicle = TypedDict("Vehicle", {
    "id": "str",
    "name": "str",
    "plate": "str | None",
    "vin": "str | None",
    "terminalId": "str | None",
    "deviceModel": "Literal[\"FM1100\", \"FM1110\", \"FM1120\", \"FM1122\", \"FM1125\", \"FM3612\", \"FM36M1\", \"FM6300\", \"FMB001\", \"FMB002\", \"FMB003\", \"FMB010\", \"FMB020\", \"FMB110\", \"FMB120\", \"FMB122\", \"FMB125\", \"FMB130\", \"FMB140\", \"FMB150\", \"FMB202\", \"FMB204\", \"FMB208\", \"FMB209\", \"FMB225\", \"FMB230\", \"FMB240\", \"FMB630\", \"FMB640\", \"FMB641\", \"FMB900\", \"FMB910\", \"FMB920\", \"FMB930\", \"FMB962\", \"FMB964\", \"FMB965\", \"FMC001\", \"FMC003\", \"FMC00A\", \"FMC125\", \"FMC130\", \"FMC13A\", \"FMC150\", \"FMC225\", \"FMC230\", \"FMC234\", \"FMC250\", \"FMC640\", \"FMC650\", \"FMC800\", \"FMC880\", \"FMC920\", \"FMM001\", \"FMM003\", \"FMM00A\", \"FMM125\", \"FMM130\", \"FMM13A\", \"FMM150\", \"FMM230\", \"FMM250\", \"FMM640\", \"FMM650\", \"FMM800\", \"FMM80A\", \"FMM880\", \"FMM920\", \"FMP100\", \"FMT100\", \"FMU125\", \"FMU126\", \"FMU130\", \"FTC920\", \"FTC921\", \"FTC961\", \"GH5200\", \"MSP500\", \"MTB100\", \"TAT100\", \"TAT140\", \"TAT141\", \"TAT240\", \"TFT100\", \"TMT250\", \"TST100\"] | None",
    "speedUnit": "Literal[\"knots\", \"m/s\", \"km/h\"] | None",
    "externalId": "str | None",
    "color": "str | None",
    "icon": "Literal[\"car\", \"taxi\", \"van\", \"truck\", \"bus\", \"trailer\", \"motorcycle\", \"bicycle\", \"tractor\", \"excavator\", \"crane\", \"ship\", \"train\", \"person\", \"animal\", \"container\"] | None",
    "speedLimitKmh": "float | None",
    "speedToleranceKmh": "float",
    "speedingMinSeconds": "float",
    "offlineAfterMinutes": "float",
    "movingSpeedKmh": "float",
    "movingDistanceM": "float",
    "tripStopMinutes": "float",
    "tripGapMinutes": "float",
    "tankCapacityL": "float | None",
    "minRefuelL": "float | None",
    "minDrainL": "float | None",
    "fuelPer100KmL": "float | None",
    "fuelPerHourL": "float | None",
    "harshAccelerationMps2": "float | None",
    "harshBrakingMps2": "float | None",
    "harshCorneringMps2": "float | None",
    "terminalAccess": "VehicleTerminalAccess",
    "dealerId": "str | None",
    "groupIds": "list[str]",
    "customAttributes": "dict[str, str | float | bool]",
    "sensors": "list[Sensor]",
    "suspension": "Suspension | None",
    "historyFrom": "str | None",
})

VehicleCounters = TypedDict("VehicleCounters", {
    "vehicleId": "str",
    "at": "str | None",
    "odometerM": "float",
    "engineHours": "float",
    "custom": "list[CustomCounter]",
    "settled": "bool",
    "corrections": "list[CounterCorrection]",
})

VehicleGroup = TypedDict("VehicleGroup", {
    "id": "str",
    "name": "str",
    "retentionDays": "int | None",
    "dealerId": "str | None",
    "externalId": "str | None",
    "customAttributes": "dict[str, str | float | bool]",
})

VehicleGroupPatch = TypedDict("VehicleGroupPatch", {
    "name": "NotRequired[str]",
    "retentionDays": "NotRequired[int | None]",
    "dealerId": "NotRequired[str | None]",
    "externalId": "NotRequired[str | None]",
    "customAttributes": "NotRequired[dict[str, str | float | bool | None]]",
})

VehicleImportItemsItem = TypedDict("VehicleImportItemsItem", {
    "row": "int",
    "id": "str | None",
    "outcome": "Literal[\"created\", \"updated\", \"unchanged\"]",
})

VehicleImport = TypedDict("VehicleImport", {
    "dryRun": "bool",
    "created": "int",
    "updated": "int",
    "unchanged": "int",
    "items": "list[VehicleImportItemsItem]",
})

# Fields that are left out are not changed. The default of `protocol` for a new vehicle is `learn`.

VehiclePatchTerminalAccess = TypedDict("VehiclePatchTerminalAccess", {
    "protocol": "NotRequired[Literal[\"learn\", \"any\", \"omnicomm\", \"teltonika\", \"wialon-ips\", \"osmand\", \"jt808\", \"gt06\", \"ruptela\", \"galileosky\", \"egts\", \"h02\", \"gps103\", \"meitrack\", \"queclink\", \"tk103\", \"suntech\", \"wialon-retranslator\", \"navtelecom\", \"owntracks\", \"flespi\", \"mqtt-json\"]]",
    "secret": "NotRequired[str | None]",
    "certificateSha256": "NotRequired[str | None]",
    "networks": "NotRequired[list[str]]",
})

VehiclePatchSensorsItemCalibrationItem = TypedDict("VehiclePatchSensorsItemCalibrationItem", {
    "raw": "float",
    "value": "float",
})

VehiclePatchSensorsItemThresholdsItem = TypedDict("VehiclePatchSensorsItemThresholdsItem", {
    "id": "NotRequired[str | None]",
    "condition": "Literal[\"above\", \"below\", \"inside\", \"outside\"]",
    "min": "NotRequired[float | None]",
    "max": "NotRequired[float | None]",
    "hysteresis": "NotRequired[float]",
    "forSeconds": "NotRequired[float]",
})

VehiclePatchSensorsItem = TypedDict("VehiclePatchSensorsItem", {
    "id": "NotRequired[str | None]",
    "name": "str",
    "unit": "NotRequired[str]",
    "kind": "Literal[\"fuel-level\", \"fuel-used\", \"temperature\", \"humidity\", \"digital\", \"engine-hours\", \"odometer\", \"rpm\", \"voltage\", \"weight\", \"tyre-pressure\", \"custom\"]",
    "source": "str",
    "calibration": "NotRequired[list[VehiclePatchSensorsItemCalibrationItem]]",
    "outside": "NotRequired[Literal[\"extrapolate\", \"clamp\"]]",
    "validMin": "NotRequired[float | None]",
    "validMax": "NotRequired[float | None]",
    "onlyWithIgnition": "NotRequired[bool]",
    "smoothing": "NotRequired[int]",
    "thresholds": "NotRequired[list[VehiclePatchSensorsItemThresholdsItem]]",
})

VehiclePatch = TypedDict("VehiclePatch", {
    "name": "NotRequired[str]",
    "plate": "NotRequired[str | None]",
    "vin": "NotRequired[str | None]",
    "terminalId": "NotRequired[str | None]",
    "deviceModel": "NotRequired[Literal[\"FM1100\", \"FM1110\", \"FM1120\", \"FM1122\", \"FM1125\", \"FM3612\", \"FM36M1\", \"FM6300\", \"FMB001\", \"FMB002\", \"FMB003\", \"FMB010\", \"FMB020\", \"FMB110\", \"FMB120\", \"FMB122\", \"FMB125\", \"FMB130\", \"FMB140\", \"FMB150\", \"FMB202\", \"FMB204\", \"FMB208\", \"FMB209\", \"FMB225\", \"FMB230\", \"FMB240\", \"FMB630\", \"FMB640\", \"FMB641\", \"FMB900\", \"FMB910\", \"FMB920\", \"FMB930\", \"FMB962\", \"FMB964\", \"FMB965\", \"FMC001\", \"FMC003\", \"FMC00A\", \"FMC125\", \"FMC130\", \"FMC13A\", \"FMC150\", \"FMC225\", \"FMC230\", \"FMC234\", \"FMC250\", \"FMC640\", \"FMC650\", \"FMC800\", \"FMC880\", \"FMC920\", \"FMM001\", \"FMM003\", \"FMM00A\", \"FMM125\", \"FMM130\", \"FMM13A\", \"FMM150\", \"FMM230\", \"FMM250\", \"FMM640\", \"FMM650\", \"FMM800\", \"FMM80A\", \"FMM880\", \"FMM920\", \"FMP100\", \"FMT100\", \"FMU125\", \"FMU126\", \"FMU130\", \"FTC920\", \"FTC921\", \"FTC961\", \"GH5200\", \"MSP500\", \"MTB100\", \"TAT100\", \"TAT140\", \"TAT141\", \"TAT240\", \"TFT100\", \"TMT250\", \"TST100\"] | None]",
    "speedUnit": "NotRequired[Literal[\"knots\", \"m/s\", \"km/h\"] | None]",
    "externalId": "NotRequired[str | None]",
    "color": "NotRequired[str | None]",
    "icon": "NotRequired[Literal[\"car\", \"taxi\", \"van\", \"truck\", \"bus\", \"trailer\", \"motorcycle\", \"bicycle\", \"tractor\", \"excavator\", \"crane\", \"ship\", \"train\", \"person\", \"animal\", \"container\"] | None]",
    "speedLimitKmh": "NotRequired[float | None]",
    "speedToleranceKmh": "NotRequired[float]",
    "speedingMinSeconds": "NotRequired[float]",
    "offlineAfterMinutes": "NotRequired[float]",
    "movingSpeedKmh": "NotRequired[float]",
    "movingDistanceM": "NotRequired[float]",
    "tripStopMinutes": "NotRequired[float]",
    "tripGapMinutes": "NotRequired[float]",
    "tankCapacityL": "NotRequired[float | None]",
    "minRefuelL": "NotRequired[float | None]",
    "minDrainL": "NotRequired[float | None]",
    "fuelPer100KmL": "NotRequired[float | None]",
    "fuelPerHourL": "NotRequired[float | None]",
    "harshAccelerationMps2": "NotRequired[float | None]",
    "harshBrakingMps2": "NotRequired[float | None]",
    "harshCorneringMps2": "NotRequired[float | None]",
    "terminalAccess": "NotRequired[VehiclePatchTerminalAccess]",
    "dealerId": "NotRequired[str | None]",
    "groupIds": "NotRequired[list[str]]",
    "customAttributes": "NotRequired[dict[str, str | float | bool | None]]",
    "sensors": "NotRequired[list[VehiclePatchSensorsItem]]",
})

VehicleStateLastRefusal = TypedDict("VehicleStateLastRefusal", {
    "at": "str",
    "protocol": "str",
    "address": "str",
    "reason": "Literal[\"wrong-protocol\", \"wrong-network\", \"wrong-certificate\", \"wrong-secret\"]",
    "detail": "str",
})

VehicleStateDriver = TypedDict("VehicleStateDriver", {
    "id": "str",
    "name": "str",
})

VehicleStateSensorsItem = TypedDict("VehicleStateSensorsItem", {
    "id": "str",
    "name": "str",
    "kind": "Literal[\"fuel-level\", \"fuel-used\", \"temperature\", \"humidity\", \"digital\", \"engine-hours\", \"odometer\", \"rpm\", \"voltage\", \"weight\", \"tyre-pressure\", \"custom\"]",
    "unit": "str",
    "value": "float",
    "at": "str",
    "exceeded": "list[str]",
})

VehicleStateTank = TypedDict("VehicleStateTank", {
    "levelL": "float",
    "percent": "float",
    "at": "str",
    "change": "Literal[\"refuelling\", \"fuel-drain\"] | None",
})

VehicleStateCounters = TypedDict("VehicleStateCounters", {
    "odometerM": "float",
    "engineHours": "float",
    "at": "str | None",
})

VehicleStateSurplusItem = TypedDict("VehicleStateSurplusItem", {
    "ownerId": "str | None",
    "at": "str",
    "geozones": "int",
    "events": "int",
})

VehicleState = TypedDict("VehicleState", {
    "vehicleId": "str",
    "state": "Literal[\"moving\", \"parking\", \"idling\", \"offline\", \"unknown\"]",
    "stateSince": "str | None",
    "online": "bool | None",
    "lastContactAt": "str | None",
    "protocol": "str | None",
    "connected": "bool",
    "connectedSince": "str | None",
    "remoteAddress": "str | None",
    "lastRefusal": "VehicleStateLastRefusal | None",
    "recordTime": "str | None",
    "clockAheadSeconds": "int | None",
    "ignition": "bool | None",
    "supplyV": "float | None",
    "fuelL": "float | None",
    "alarms": "list[Alarm]",
    "driver": "VehicleStateDriver | None",
    "driverCode": "str | None",
    "attributes": "dict[str, float | str | bool] | None",
    "sensors": "list[VehicleStateSensorsItem]",
    "tank": "VehicleStateTank | None",
    "counters": "VehicleStateCounters | None",
    "position": "Position | None",
    "receivedAt": "str | None",
    "surplus": "list[VehicleStateSurplusItem]",
})

VehiclesChangedItemsItem = TypedDict("VehiclesChangedItemsItem", {
    "id": "str",
    "outcome": "Literal[\"updated\", \"unchanged\"]",
})

VehiclesChanged = TypedDict("VehiclesChanged", {
    "dryRun": "bool",
    "updated": "int",
    "unchanged": "int",
    "items": "list[VehiclesChangedItemsItem]",
})

VehiclesMove = TypedDict("VehiclesMove", {
    "ids": "list[str]",
    "dealerId": "str | None",
    "history": "NotRequired[Literal[\"apart\", \"along\"]]",
})

VehiclesMovedItemsItem = TypedDict("VehiclesMovedItemsItem", {
    "id": "str",
    "vehicleId": "str",
})

VehiclesMoved = TypedDict("VehiclesMoved", {
    "items": "list[VehiclesMovedItemsItem]",
})

VehiclesOfGroupPatch = TypedDict("VehiclesOfGroupPatch", {
    "add": "NotRequired[list[str]]",
    "remove": "NotRequired[list[str]]",
})

VehiclesPatchPatchSensorsItemCalibrationItem = TypedDict("VehiclesPatchPatchSensorsItemCalibrationItem", {
    "raw": "float",
    "value": "float",
})

VehiclesPatchPatchSensorsItemThresholdsItem = TypedDict("VehiclesPatchPatchSensorsItemThresholdsItem", {
    "id": "NotRequired[str | None]",
    "condition": "Literal[\"above\", \"below\", \"inside\", \"outside\"]",
    "min": "NotRequired[float | None]",
    "max": "NotRequired[float | None]",
    "hysteresis": "NotRequired[float]",
    "forSeconds": "NotRequired[float]",
})

VehiclesPatchPatchSensorsItem = TypedDict("VehiclesPatchPatchSensorsItem", {
    "id": "NotRequired[str | None]",
    "name": "str",
    "unit": "NotRequired[str]",
    "kind": "Literal[\"fuel-level\", \"fuel-used\", \"temperature\", \"humidity\", \"digital\", \"engine-hours\", \"odometer\", \"rpm\", \"voltage\", \"weight\", \"tyre-pressure\", \"custom\"]",
    "source": "str",
    "calibration": "NotRequired[list[VehiclesPatchPatchSensorsItemCalibrationItem]]",
    "outside": "NotRequired[Literal[\"extrapolate\", \"clamp\"]]",
    "validMin": "NotRequired[float | None]",
    "validMax": "NotRequired[float | None]",
    "onlyWithIgnition": "NotRequired[bool]",
    "smoothing": "NotRequired[int]",
    "thresholds": "NotRequired[list[VehiclesPatchPatchSensorsItemThresholdsItem]]",
})

VehiclesPatchPatch = TypedDict("VehiclesPatchPatch", {
    "deviceModel": "NotRequired[Literal[\"FM1100\", \"FM1110\", \"FM1120\", \"FM1122\", \"FM1125\", \"FM3612\", \"FM36M1\", \"FM6300\", \"FMB001\", \"FMB002\", \"FMB003\", \"FMB010\", \"FMB020\", \"FMB110\", \"FMB120\", \"FMB122\", \"FMB125\", \"FMB130\", \"FMB140\", \"FMB150\", \"FMB202\", \"FMB204\", \"FMB208\", \"FMB209\", \"FMB225\", \"FMB230\", \"FMB240\", \"FMB630\", \"FMB640\", \"FMB641\", \"FMB900\", \"FMB910\", \"FMB920\", \"FMB930\", \"FMB962\", \"FMB964\", \"FMB965\", \"FMC001\", \"FMC003\", \"FMC00A\", \"FMC125\", \"FMC130\", \"FMC13A\", \"FMC150\", \"FMC225\", \"FMC230\", \"FMC234\", \"FMC250\", \"FMC640\", \"FMC650\", \"FMC800\", \"FMC880\", \"FMC920\", \"FMM001\", \"FMM003\", \"FMM00A\", \"FMM125\", \"FMM130\", \"FMM13A\", \"FMM150\", \"FMM230\", \"FMM250\", \"FMM640\", \"FMM650\", \"FMM800\", \"FMM80A\", \"FMM880\", \"FMM920\", \"FMP100\", \"FMT100\", \"FMU125\", \"FMU126\", \"FMU130\", \"FTC920\", \"FTC921\", \"FTC961\", \"GH5200\", \"MSP500\", \"MTB100\", \"TAT100\", \"TAT140\", \"TAT141\", \"TAT240\", \"TFT100\", \"TMT250\", \"TST100\"] | None]",
    "speedUnit": "NotRequired[Literal[\"knots\", \"m/s\", \"km/h\"] | None]",
    "color": "NotRequired[str | None]",
    "icon": "NotRequired[Literal[\"car\", \"taxi\", \"van\", \"truck\", \"bus\", \"trailer\", \"motorcycle\", \"bicycle\", \"tractor\", \"excavator\", \"crane\", \"ship\", \"train\", \"person\", \"animal\", \"container\"] | None]",
    "speedLimitKmh": "NotRequired[float | None]",
    "speedToleranceKmh": "NotRequired[float]",
    "speedingMinSeconds": "NotRequired[float]",
    "offlineAfterMinutes": "NotRequired[float]",
    "movingSpeedKmh": "NotRequired[float]",
    "movingDistanceM": "NotRequired[float]",
    "tripStopMinutes": "NotRequired[float]",
    "tripGapMinutes": "NotRequired[float]",
    "tankCapacityL": "NotRequired[float | None]",
    "minRefuelL": "NotRequired[float | None]",
    "minDrainL": "NotRequired[float | None]",
    "fuelPer100KmL": "NotRequired[float | None]",
    "fuelPerHourL": "NotRequired[float | None]",
    "harshAccelerationMps2": "NotRequired[float | None]",
    "harshBrakingMps2": "NotRequired[float | None]",
    "harshCorneringMps2": "NotRequired[float | None]",
    "groupIds": "NotRequired[list[str]]",
    "customAttributes": "NotRequired[dict[str, str | float | bool | None]]",
    "sensors": "NotRequired[list[VehiclesPatchPatchSensorsItem]]",
})

VehiclesPatch = TypedDict("VehiclesPatch", {
    "ids": "list[str]",
    "patch": "VehiclesPatchPatch",
})

VideoProfileChannelsItem = TypedDict("VideoProfileChannelsItem", {
    "number": "int",
    "name": "str",
    "direction": "Literal[\"front\", \"rear\", \"left\", \"right\", \"cabin\", \"driver\", \"cargo\", \"other\"]",
})

VideoProfile = TypedDict("VideoProfile", {
    "id": "str",
    "vehicleId": "str",
    "terminalId": "str | None",
    "name": "str",
    "protocol": "Literal[\"jt1078\", \"stream\"]",
    "address": "str",
    "channels": "list[VideoProfileChannelsItem]",
    "quality": "Literal[\"main\", \"sub\"]",
    "audio": "bool",
    "maxFragmentSeconds": "float",
    "maxParallelDownloads": "int",
    "timeZone": "str",
    "addressRefused": "bool",
    "online": "bool | None",
    "onlineChangedAt": "str | None",
})

VideoProfilePatchChannelsItem = TypedDict("VideoProfilePatchChannelsItem", {
    "number": "int",
    "name": "str",
    "direction": "NotRequired[Literal[\"front\", \"rear\", \"left\", \"right\", \"cabin\", \"driver\", \"cargo\", \"other\"]]",
})

VideoProfilePatch = TypedDict("VideoProfilePatch", {
    "name": "NotRequired[str]",
    "channels": "NotRequired[list[VideoProfilePatchChannelsItem]]",
    "quality": "NotRequired[Literal[\"main\", \"sub\"]]",
    "audio": "NotRequired[bool]",
    "maxFragmentSeconds": "NotRequired[float]",
    "maxParallelDownloads": "NotRequired[int]",
    "timeZone": "NotRequired[str]",
    "address": "NotRequired[str]",
})

VideoStorage = TypedDict("VideoStorage", {
    "retentionDays": "float",
    "quotaBytes": "int",
    "usedBytes": "int",
    "files": "int",
    "oldestAt": "str | None",
    "unfinishedTasks": "int",
})

VideoTaskProgress = TypedDict("VideoTaskProgress", {
    "percent": "int",
    "bytes": "int",
})

VideoTaskFile = TypedDict("VideoTaskFile", {
    "bytes": "int",
    "durationSeconds": "float",
    "videoCodec": "str",
    "audioCodec": "str | None",
    "frames": "int",
    "packetsLost": "int",
    "expiresAt": "str",
})

VideoTaskHistoryItem = TypedDict("VideoTaskHistoryItem", {
    "status": "Literal[\"new\", \"waiting\", \"requested\", \"downloading\", \"processing\", \"done\", \"failed\", \"cancelled\"]",
    "at": "str",
    "reason": "Literal[\"terminal-offline\", \"no-recording\", \"refused\", \"busy\", \"no-answer\", \"stalled\", \"connection-lost\", \"bad-stream\", \"unsupported-codec\", \"unreachable\", \"address-not-allowed\", \"source-failed\", \"too-large\", \"no-space\", \"interrupted\", \"expired\", \"profile-deleted\"] | None",
    "detail": "str | None",
})

VideoTask = TypedDict("VideoTask", {
    "id": "str",
    "profileId": "str",
    "vehicleId": "str",
    "createdBy": "str | None",
    "channel": "int",
    "start": "str",
    "end": "str",
    "quality": "Literal[\"main\", \"sub\"]",
    "audio": "bool",
    "status": "Literal[\"new\", \"waiting\", \"requested\", \"downloading\", \"processing\", \"done\", \"failed\", \"cancelled\"]",
    "reason": "Literal[\"terminal-offline\", \"no-recording\", \"refused\", \"busy\", \"no-answer\", \"stalled\", \"connection-lost\", \"bad-stream\", \"unsupported-codec\", \"unreachable\", \"address-not-allowed\", \"source-failed\", \"too-large\", \"no-space\", \"interrupted\", \"expired\", \"profile-deleted\"] | None",
    "detail": "str | None",
    "attempts": "int",
    "progress": "VideoTaskProgress",
    "createdAt": "str",
    "changedAt": "str",
    "expiresAt": "str",
    "nextAttemptAt": "str | None",
    "finishedAt": "str | None",
    "file": "VideoTaskFile | None",
    "fileDeletedAt": "str | None",
    "history": "list[VideoTaskHistoryItem]",
})

VideoTaskPatch = TypedDict("VideoTaskPatch", {
    "channel": "NotRequired[int]",
    "start": "NotRequired[str]",
    "end": "NotRequired[str]",
    "quality": "NotRequired[Literal[\"main\", \"sub\"]]",
    "audio": "NotRequired[bool]",
})

ViolationsRow = TypedDict("ViolationsRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "period": "str",
    "kind": "Literal[\"speeding\", \"alarm\", \"power-cut\", \"offline\", \"fuel-drain\", \"sensor-threshold\", \"harsh-driving\"]",
    "alarm": "Literal[\"sos\", \"power-cut\", \"low-battery\", \"tamper\", \"overspeed\", \"crash\", \"harsh-acceleration\", \"harsh-braking\", \"harsh-cornering\", \"towing\", \"jamming\", \"other\", \"terminal-conflict\"] | None",
    "count": "int",
    "durationSeconds": "float",
    "longestSeconds": "float",
    "peakKmh": "float | None",
    "overLimitKmh": "float | None",
    "startedAt": "str",
    "startLatitude": "float | None",
    "startLongitude": "float | None",
    "endLatitude": "float | None",
    "endLongitude": "float | None",
    "startPlace": "str | None",
    "endPlace": "str | None",
})

VisitedShapeProperties = TypedDict("VisitedShapeProperties", {
    "shape": "Literal[\"polygon\", \"multipolygon\", \"circle\", \"line\"]",
    "radiusM": "NotRequired[float]",
    "widthM": "NotRequired[float]",
    "minDwellSeconds": "NotRequired[int]",
})

VisitedShape = TypedDict("VisitedShape", {
    "type": "Literal[\"Feature\"]",
    "geometry": "NewGeometry",
    "properties": "VisitedShapeProperties",
})

WebPushSettings = TypedDict("WebPushSettings", {
    "service": "str",
    "fingerprint": "str",
})

WorkTimeRow = TypedDict("WorkTimeRow", {
    "vehicleId": "str",
    "vehicleName": "str",
    "period": "str",
    "insideTrips": "int",
    "insideDistanceM": "float",
    "insideTripSeconds": "float",
    "insideEngineOnSeconds": "float",
    "outsideTrips": "int",
    "outsideDistanceM": "float",
    "outsideTripSeconds": "float",
    "outsideEngineOnSeconds": "float",
})

ListUsersResult = TypedDict("ListUsersResult", {
    "items": "list[User]",
    "nextCursor": "str | None",
})

ListSessionsResult = TypedDict("ListSessionsResult", {
    "items": "list[Session]",
    "nextCursor": "str | None",
})

ListApiKeysResult = TypedDict("ListApiKeysResult", {
    "items": "list[ApiKey]",
    "nextCursor": "str | None",
})

ListMessageChannelsResult = TypedDict("ListMessageChannelsResult", {
    "items": "list[MessageChannel]",
    "nextCursor": "str | None",
})

ListMessageChannelTestsResult = TypedDict("ListMessageChannelTestsResult", {
    "items": "list[MessageChannelTest]",
    "nextCursor": "str | None",
})

ListAuditResult = TypedDict("ListAuditResult", {
    "items": "list[AuditEntry]",
    "nextCursor": "str | None",
})

ListVehiclesResult = TypedDict("ListVehiclesResult", {
    "items": "list[Vehicle]",
    "nextCursor": "str | None",
})

GetPersonExportResult = TypedDict("GetPersonExportResult", {})

ListCommandsResult = TypedDict("ListCommandsResult", {
    "items": "list[Command]",
    "nextCursor": "str | None",
})

ListUnknownTerminalsResult = TypedDict("ListUnknownTerminalsResult", {
    "items": "list[UnknownTerminal]",
    "nextCursor": "str | None",
})

ListVehicleGroupsResult = TypedDict("ListVehicleGroupsResult", {
    "items": "list[VehicleGroup]",
    "nextCursor": "str | None",
})

ListVehiclesOfGroupResult = TypedDict("ListVehiclesOfGroupResult", {
    "items": "list[Vehicle]",
    "nextCursor": "str | None",
})

ListUsersOfGroupResult = TypedDict("ListUsersOfGroupResult", {
    "items": "list[User]",
    "nextCursor": "str | None",
})

ListShareLinksResult = TypedDict("ListShareLinksResult", {
    "items": "list[ShareLink]",
    "nextCursor": "str | None",
})

ListDriversResult = TypedDict("ListDriversResult", {
    "items": "list[Driver]",
    "nextCursor": "str | None",
})

ListMaintenancePlansResult = TypedDict("ListMaintenancePlansResult", {
    "items": "list[MaintenancePlan]",
    "nextCursor": "str | None",
})

ListServiceRecordsResult = TypedDict("ListServiceRecordsResult", {
    "items": "list[ServiceRecord]",
    "nextCursor": "str | None",
})

ListGeozonesResult = TypedDict("ListGeozonesResult", {
    "items": "list[Geozone]",
    "nextCursor": "str | None",
})

ListNotificationRulesResult = TypedDict("ListNotificationRulesResult", {
    "items": "list[NotificationRule]",
    "nextCursor": "str | None",
})

ListChannelTestsResult = TypedDict("ListChannelTestsResult", {
    "items": "list[ChannelTest]",
    "nextCursor": "str | None",
})

ListNotificationsResult = TypedDict("ListNotificationsResult", {
    "items": "list[Notification]",
    "nextCursor": "str | None",
    "unreadCount": "int",
})

ListWebhookDeliveriesResult = TypedDict("ListWebhookDeliveriesResult", {
    "items": "list[Delivery]",
    "nextCursor": "str | None",
})

ListIncidentsResult = TypedDict("ListIncidentsResult", {
    "items": "list[Incident]",
    "nextCursor": "str | None",
    "openCount": "int",
})

ListIncidentAssigneesResult = TypedDict("ListIncidentAssigneesResult", {
    "items": "list[Colleague]",
    "nextCursor": "str | None",
})

FollowEventsResult = TypedDict("FollowEventsResult", {
    "items": "list[FeedEvent]",
    "nextCursor": "str",
    "lagSeconds": "float",
})

FollowPositionsResult = TypedDict("FollowPositionsResult", {
    "items": "list[FeedPosition]",
    "nextCursor": "str",
    "lagSeconds": "float",
})

ListForwardingDestinationsResult = TypedDict("ListForwardingDestinationsResult", {
    "items": "list[ForwardingDestination]",
    "nextCursor": "str | None",
})

ReportTrackResult = TypedDict("ReportTrackResult", {
    "items": "list[TrackPosition]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportTripsResult = TypedDict("ReportTripsResult", {
    "items": "list[TripsRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportStopsResult = TypedDict("ReportStopsResult", {
    "items": "list[StopsRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportMileageResult = TypedDict("ReportMileageResult", {
    "items": "list[MileageRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportEngineHoursResult = TypedDict("ReportEngineHoursResult", {
    "items": "list[EngineHoursRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportSpeedingResult = TypedDict("ReportSpeedingResult", {
    "items": "list[SpeedingRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportGeozoneVisitsResult = TypedDict("ReportGeozoneVisitsResult", {
    "items": "list[GeozoneVisitsRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportShapeVisitsResult = TypedDict("ReportShapeVisitsResult", {
    "items": "list[ShapeVisitsRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportGeozoneMatrixResult = TypedDict("ReportGeozoneMatrixResult", {
    "items": "list[GeozoneMatrixRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportEventsResult = TypedDict("ReportEventsResult", {
    "items": "list[EventsRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportSummaryResult = TypedDict("ReportSummaryResult", {
    "items": "list[SummaryRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportCurrentStateResult = TypedDict("ReportCurrentStateResult", {
    "items": "list[CurrentStateRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportUtilisationResult = TypedDict("ReportUtilisationResult", {
    "items": "list[UtilisationRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportIdlingResult = TypedDict("ReportIdlingResult", {
    "items": "list[IdlingRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportFuelResult = TypedDict("ReportFuelResult", {
    "items": "list[FuelRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportRefuellingsResult = TypedDict("ReportRefuellingsResult", {
    "items": "list[RefuellingsRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportMaintenanceResult = TypedDict("ReportMaintenanceResult", {
    "items": "list[MaintenanceRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportSensorsResult = TypedDict("ReportSensorsResult", {
    "items": "list[SensorsRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportSensorSeriesResult = TypedDict("ReportSensorSeriesResult", {
    "items": "list[SensorSeriesRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportWorkTimeResult = TypedDict("ReportWorkTimeResult", {
    "items": "list[WorkTimeRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportViolationsResult = TypedDict("ReportViolationsResult", {
    "items": "list[ViolationsRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportEcoDrivingResult = TypedDict("ReportEcoDrivingResult", {
    "items": "list[EcoDrivingRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportDriversResult = TypedDict("ReportDriversResult", {
    "items": "list[DriversRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportFleetDigestResult = TypedDict("ReportFleetDigestResult", {
    "items": "list[FleetDigestRow]",
    "nextCursor": "str | None",
    "totals": "NotRequired[ReportTotals]",
    "historyFrom": "NotRequired[str]",
    "incomplete": "NotRequired[IncompleteTimes]",
})

ReportPositionsAtResult = TypedDict("ReportPositionsAtResult", {
    "items": "list[PositionAt]",
    "nextCursor": "str | None",
})

GetReportFileResult = TypedDict("GetReportFileResult", {})

ListReportSchedulesResult = TypedDict("ListReportSchedulesResult", {
    "items": "list[ReportSchedule]",
    "nextCursor": "str | None",
})

ListReportDeliveriesResult = TypedDict("ListReportDeliveriesResult", {
    "items": "list[ReportDelivery]",
    "nextCursor": "str | None",
})

ListJobsResult = TypedDict("ListJobsResult", {
    "items": "list[Job]",
    "nextCursor": "str | None",
})

ListAllSessionsResult = TypedDict("ListAllSessionsResult", {
    "items": "list[OwnedSession]",
    "nextCursor": "str | None",
})

ListDeadLettersResult = TypedDict("ListDeadLettersResult", {
    "items": "list[DeadLetter]",
    "nextCursor": "str | None",
})

ListMapFilesResult = TypedDict("ListMapFilesResult", {
    "items": "list[MapFile]",
    "nextCursor": "str | None",
})

ListVideoProfilesResult = TypedDict("ListVideoProfilesResult", {
    "items": "list[VideoProfile]",
    "nextCursor": "str | None",
})

ListVideoTasksResult = TypedDict("ListVideoTasksResult", {
    "items": "list[ListedVideoTask]",
    "nextCursor": "str | None",
})
