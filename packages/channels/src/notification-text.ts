import type { Alarm } from '@outrider/domain';
import { quotedName } from './plain-name.ts';

/** What a message says of an event: plain facts, names instead of ids. Absent and null fields are left out. */
export interface NotificationFacts {
  /**
   * Kind of the event: `geofence-visit`, `speeding`, `trip`, `parking`, `idling`, `offline` (begins when the data
   * stops), `ignition` (begins when it is switched on), `power-cut` (begins when external power is lost) and `alarm`
   * have words of their own; any other is called by its name.
   */
  kind: string;
  phase: 'begin' | 'end';
  vehicleName: string;
  plate?: string | null;
  /** Unix milliseconds. */
  startedAtMs: number;
  endedAtMs: number | null;
  /** The geofence that the event is about, or whose limit it was. */
  placeName?: string | null;
  /** Degrees. */
  latitude?: number | null;
  longitude?: number | null;
  speedKmh?: number | null;
  limitKmh?: number | null;
  peakKmh?: number | null;
  distanceM?: number | null;
  /** What was raised, of an alarm. */
  alarm?: Alarm | null;
  /** Why an event ended, as the event says it: `left`, `geofence-deleted`, … */
  endReason?: string | null;
  /** The rule that asked for the message. */
  ruleName?: string | null;
  /** Set where late data made it known: when that came, in Unix milliseconds, and how much later than it happened. */
  late?: { receivedAtMs: number; delayMs: number } | null;
}

export interface NotificationText {
  /** One line. */
  subject: string;
  text: string;
  /** A whole document, everything from outside escaped. */
  html: string;
}

/**
 * An event in English words, for an e-mail. Pure: the same facts give the same text. Names are the only words of users
 * in it, as {@link quotedName} writes them: nobody can send a text of their own by this service.
 *
 * @param timeZone IANA name, such as `Europe/Berlin`; times are written in it, with its offset
 * @throws RangeError for a time zone that there is not
 */
export function notificationText(facts: NotificationFacts, timeZone: string): NotificationText {
  const subject = `Vehicle event: ${sentenceOf(facts)}${facts.late ? ' (late data)' : ''}`;
  const rows = rowsOf(facts, timeZone);
  const lines = [`${subject}.`, '', ...rows.map(([label, value]) => `${label}: ${value}`)];
  const cells = rows.map(
    ([label, value]) =>
      `<tr><th align="left" style="padding-right:1em">${escapeHtml(label)}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  const html = [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>`,
    `<body style="font-family:sans-serif"><p>${escapeHtml(subject)}.</p>`,
    ...(cells.length === 0 ? [] : ['<table>', ...cells, '</table>']),
    '</body></html>',
  ];
  return { subject, text: `${lines.join('\n')}\n`, html: `${html.join('\n')}\n` };
}

/** Text for a place between or inside tags, attributes in either kind of quotes included. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const ALARM_WORDS: Record<Alarm, string> = {
  sos: 'SOS',
  'power-cut': 'external power lost',
  'low-battery': 'low battery',
  tamper: 'tampering',
  overspeed: 'overspeed',
  crash: 'crash',
  'harsh-acceleration': 'harsh acceleration',
  'harsh-braking': 'harsh braking',
  'harsh-cornering': 'harsh cornering',
  towing: 'towing',
  jamming: 'jamming',
  other: 'unspecified',
  'terminal-conflict': 'terminal id in use at two places',
};

/** Ends of a lasting event that the vehicle did not bring about. */
const END_REASON_WORDS: Readonly<Record<string, string>> = {
  'geofence-deleted': 'the geofence was deleted',
  'geofence-changed': 'the geofence was changed',
  'no-longer-watched': 'the vehicle is no longer watched',
  'limit-removed': 'the limit was removed',
};

function sentenceOf(facts: NotificationFacts): string {
  const vehicle = quotedName(facts.vehicleName);
  const place = facts.placeName ? quotedName(facts.placeName) : null;
  const begins = facts.phase === 'begin';
  const lasted = facts.endedAtMs === null ? null : durationText(facts.endedAtMs - facts.startedAtMs);
  const after = (word: string) => (lasted === null ? '' : ` ${word} ${lasted}`);
  const reason = facts.endReason ? END_REASON_WORDS[facts.endReason] : undefined;

  switch (facts.kind) {
    case 'geofence-visit': {
      const where = place ?? 'a geofence';
      if (begins) return `${vehicle} entered ${where}`;
      return reason
        ? `The visit of ${vehicle} to ${where} ended: ${reason}`
        : `${vehicle} left ${where}${after('after')}`;
    }
    case 'speeding': {
      const speed = begins ? facts.speedKmh : facts.peakKmh;
      const measures = [
        speed == null ? null : `${begins ? '' : 'up to '}${kmh(speed)}`,
        facts.limitKmh == null ? null : `limit ${kmh(facts.limitKmh)}`,
      ].filter((measure) => measure !== null);
      const how = measures.length === 0 ? '' : `: ${measures.join(', ')}`;
      const where = place === null ? '' : ` in ${place}`;
      return begins ? `${vehicle} is speeding${where}${how}` : `${vehicle} was speeding${where}${after('for')}${how}`;
    }
    case 'trip': {
      if (begins) return `${vehicle} began a trip`;
      const distance = facts.distanceM == null ? '' : ` of ${distanceText(facts.distanceM)}`;
      return `${vehicle} ended a trip${distance}${after(distance === '' ? 'of' : 'in')}`;
    }
    case 'parking':
      return begins ? `${vehicle} parked` : `${vehicle} drove on${after('after parking for')}`;
    case 'idling':
      return begins ? `${vehicle} is idling` : `${vehicle} was idling${after('for')}`;
    case 'offline':
      return begins ? `${vehicle} went offline` : `${vehicle} is online again${after('after')}`;
    case 'ignition':
      return `The ignition of ${vehicle} was switched ${begins ? 'on' : `off${after('after')}`}`;
    case 'power-cut':
      return begins ? `${vehicle} lost its external power` : `${vehicle} has external power again${after('after')}`;
    case 'alarm': {
      const what = facts.alarm ? ALARM_WORDS[facts.alarm] : ALARM_WORDS.other;
      return begins ? `Alarm of ${vehicle}: ${what}` : `Alarm of ${vehicle} ended${after('after')}: ${what}`;
    }
    default: {
      const kind = facts.kind.replaceAll('-', ' ');
      return begins ? `${vehicle}: ${kind} began` : `${vehicle}: ${kind} ended${after('after')}`;
    }
  }
}

function rowsOf(facts: NotificationFacts, timeZone: string): [label: string, value: string][] {
  const { endedAtMs, startedAtMs, latitude, longitude } = facts;
  const lasting = endedAtMs !== null && endedAtMs !== startedAtMs;
  const plate = facts.plate ? ` ${quotedName(facts.plate)}` : '';
  const reason = facts.endReason ? END_REASON_WORDS[facts.endReason] : undefined;
  const rows: [string, string | null][] = [
    ['Vehicle', quotedName(facts.vehicleName) + plate],
    ['Geofence', facts.placeName ? quotedName(facts.placeName) : null],
    [lasting ? 'Began' : 'Time', timeText(startedAtMs, timeZone)],
    ['Ended', lasting ? timeText(endedAtMs, timeZone) + (reason ? ` (${reason})` : '') : null],
    [
      'Received',
      facts.late
        ? `${timeText(facts.late.receivedAtMs, timeZone)}, ${durationText(facts.late.delayMs)} after it happened`
        : null,
    ],
    ['Lasted', lasting ? durationText(endedAtMs - startedAtMs) : null],
    ['Speed', facts.speedKmh == null ? null : kmh(facts.speedKmh)],
    ['Highest speed', facts.peakKmh == null ? null : kmh(facts.peakKmh)],
    ['Limit', facts.limitKmh == null ? null : kmh(facts.limitKmh)],
    ['Distance', facts.distanceM == null ? null : distanceText(facts.distanceM)],
    ['Position', latitude == null || longitude == null ? null : `${latitude.toFixed(6)}, ${longitude.toFixed(6)}`],
    ['Rule', facts.ruleName ? quotedName(facts.ruleName) : null],
  ];
  return rows.filter((row): row is [string, string] => row[1] !== null);
}

/** Such as `2026-03-29 14:05:09 +02:00 (Europe/Berlin)`. */
function timeText(timeMs: number, timeZone: string): string {
  const time = Temporal.Instant.fromEpochMilliseconds(Math.floor(timeMs)).toZonedDateTimeISO(timeZone);
  const clock = time.toPlainTime().toString({ smallestUnit: 'second' });
  return `${time.toPlainDate()} ${clock} ${time.offset} (${time.timeZoneId})`;
}

/** The two largest units of it: `2 d 3 h`, `1 h 5 min`, `4 min 10 s`, `12 s`. */
function durationText(durationMs: number): string {
  const seconds = Math.max(0, Math.round(durationMs / 1000));
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const largest = parts.findIndex(([count]) => count > 0);
  if (largest === -1) return '0 s';
  const shown = parts.slice(largest, largest + 2).filter(([count]) => count > 0);
  return shown.map(([count, unit]) => `${count} ${unit}`).join(' ');
}

function kmh(speed: number): string {
  return `${Math.round(speed)} km/h`;
}

function distanceText(distanceM: number): string {
  return distanceM < 1000 ? `${Math.round(distanceM)} m` : `${(distanceM / 1000).toFixed(1)} km`;
}
