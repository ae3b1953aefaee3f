/** Values that a sentence about an event may use, as text in its language; null where unknown. */
export interface Said {
  /** Empty where the event is not about a vehicle. */
  vehicle: string;
  /** For a licence: its holder, its last day, and whether it has expired. */
  driver: string | null;
  licenceExpiresOn: string | null;
  isExpired: boolean;
  geofence: string | null;
  /** How long the event lasted. */
  lasted: string | null;
  /** Why the event ended, where the vehicle did not cause it. */
  reason: string | null;
  speed: string | null;
  limit: string | null;
  distance: string | null;
  volume: string | null;
  whileMoving: boolean;
  alarm: string;
  plan: string | null;
  /** For maintenance. */
  isDue: boolean;
  /** How a maintenance warning or due maintenance ended. */
  maintenanceEnd: 'due' | 'serviced' | 'corrected' | 'plan-changed' | null;
  sensor: string | null;
  threshold: string;
  value: string | null;
  /** The event's fields by name. */
  fields: Readonly<Record<string, unknown>>;
  /** Display name of the kind of event. */
  kind: string;
}

/** A sentence without a full stop, for each phase. */
export interface EventSentences {
  begin: (said: Said) => string;
  end: (said: Said) => string;
}

/** ` after 5 min`; empty where the duration is unknown. */
export function after({ lasted }: Said, word: string): string {
  return lasted === null ? '' : ` ${word} ${lasted}`;
}

/** `: 72 km/h, limit 50 km/h`, of the known values. */
export function measures(...all: (string | null)[]): string {
  const known = all.filter((each) => each !== null);
  return known.length === 0 ? '' : `: ${known.join(', ')}`;
}

/** ` in Depot`; empty where the event is not about a geofence. */
export function inGeofence({ geofence }: Said, word: string): string {
  return geofence === null ? '' : ` ${word} ${geofence}`;
}

/** `limit 50 km/h`; null where the value is unknown. */
export function labelled(word: string, value: string | null): string | null {
  return value && `${word} ${value}`;
}
