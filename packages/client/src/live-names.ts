// Generated from schemas/openapi.json and schemas/asyncapi.json by `npm run openapi`. Do not edit.

/** Subprotocols: in the first, positions and states are binary; docs/live-api.md has its layout. */
export const [BINARY_PROTOCOL, JSON_PROTOCOL] = ["outrider.live.v1+binary","outrider.live.v1"] as const;

/** Alarms by the numbers that binary messages have for them. */
export const ALARMS = ["sos","power-cut","low-battery","tamper","overspeed","crash","harsh-acceleration","harsh-braking","harsh-cornering","towing","jamming","other","terminal-conflict"] as const;

/** Kinds of event. */
export const EVENT_KINDS = ["geofence-visit","speeding","trip","parking","idling","ignition","alarm","power-cut","offline","maintenance-due","driver-shift","refuelling","fuel-drain","sensor-threshold","harsh-driving"] as const;

/** Kinds that notification rules may be about. */
export const NOTIFIED_KINDS = ["geofence-visit","speeding","trip","parking","idling","ignition","alarm","power-cut","offline","maintenance-due","driver-shift","refuelling","fuel-drain","sensor-threshold","harsh-driving","licence-expiry"] as const;
