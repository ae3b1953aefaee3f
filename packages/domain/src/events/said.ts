/** What a sentence about an event may name, as text in its language; null where it is not known. */
export interface Said {
  /** Empty where no vehicle is part of it. */
  vehicle: string;
  /** Of a licence: whose, its last day, and whether that is over. */
  driver: string | null;
  licenceExpiresOn: string | null;
  isExpired: boolean;
  geofence: string | null;
  /** How long it lasted. */
  lasted: string | null;
  /** Why it ended, where the vehicle did not bring that about. */
  reason: string | null;
  speed: string | null;
  limit: string | null;
  distance: string | null;
  volume: string | null;
  whileMoving: boolean;
  alarm: string;
  plan: string | null;
  /** Of maintenance. */
  isDue: boolean;
  /** How maintenance that was near or due went on. */
  maintenanceEnd: 'due' | 'serviced' | 'corrected' | 'plan-changed' | null;
  sensor: string | null;
  threshold: string;
  value: string | null;
  /** What the event says, by the names of its fields. */
  fields: Readonly<Record<string, unknown>>;
  /** What the kind of event is called. */
  kind: string;
}

/** A sentence without a full stop, for each phase. */
export interface EventSentences {
  begin: (said: Said) => string;
  end: (said: Said) => string;
}

/** ` after 5 min`, where it is known how long it lasted. */
export function after({ lasted }: Said, word: string): string {
  return lasted === null ? '' : ` ${word} ${lasted}`;
}

/** `: 72 km/h, limit 50 km/h`, of what is known. */
export function measures(...all: (string | null)[]): string {
  const known = all.filter((each) => each !== null);
  return known.length === 0 ? '' : `: ${known.join(', ')}`;
}

/** ` in Depot`, where it is about a geofence. */
export function inGeofence({ geofence }: Said, word: string): string {
  return geofence === null ? '' : ` ${word} ${geofence}`;
}

/** `limit 50 km/h`, where it is known. */
export function labelled(word: string, value: string | null): string | null {
  return value && `${word} ${value}`;
}
