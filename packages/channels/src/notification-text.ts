import { type Alarm, DESCRIBED_KINDS, type KindDescription, LICENCE_EXPIRY, type LicenceStage } from '@outrider/domain';
import type { Said } from '@outrider/domain/said';
import { type Language, spaced } from '@outrider/words';
import { type MessageWords, messagesIn } from '@outrider/words/messages';
import { escapeHtml, messageHtml, tableHtml } from './message-html.ts';
import { type MessageReader, messageDay, messageTime } from './message-reader.ts';
import { fillTemplate } from './message-template.ts';
import { plainPlace, quotedName } from './plain-name.ts';

/** What a message says of an event: plain facts, names instead of ids. Absent and null fields are left out. */
export interface NotificationFacts {
  /** Kind of the event. One that is not known here is called by its name. */
  kind: string;
  phase: 'begin' | 'end';
  /** Null where no vehicle is part of it. */
  vehicleName: string | null;
  plate?: string | null;
  /** Unix milliseconds. */
  startedAtMs: number;
  endedAtMs: number | null;
  /** The geofence that the event is about, or whose limit it was. */
  geofenceName?: string | null;
  /** Where it began and where it ended, as an address or by the nearest town. */
  startPlace?: string | null;
  endPlace?: string | null;
  /** Degrees. */
  latitude?: number | null;
  longitude?: number | null;
  speedKmh?: number | null;
  limitKmh?: number | null;
  peakKmh?: number | null;
  distanceM?: number | null;
  /** What was raised, of an alarm. */
  alarm?: Alarm | null;
  /** Of maintenance: the plan, whether it is near or due, and what of it came first. */
  planName?: string | null;
  stage?: 'warning' | 'due' | LicenceStage | null;
  cause?: 'distance' | 'engine-hours' | 'days' | 'counter' | null;
  /** Of a licence: whose, and the last day on which it is valid, as `2027-05-31`. `stage` says whether that is over. */
  driverName?: string | null;
  licenceExpiresOn?: string | null;
  /** Of a refuelling or a drain: litres, those in the tank before and after, and whether the vehicle moved. */
  volumeL?: number | null;
  levelBeforeL?: number | null;
  levelAfterL?: number | null;
  whileMoving?: boolean | null;
  /** Of a sensor beyond a threshold: the sensor, the threshold, and its value at this phase. */
  sensorName?: string | null;
  unit?: string | null;
  condition?: 'above' | 'below' | 'inside' | 'outside' | null;
  min?: number | null;
  max?: number | null;
  value?: number | null;
  peakValue?: number | null;
  /** Why an event ended, as the event says it: `left`, `geofence-deleted`, … */
  endReason?: string | null;
  /** The rule that asked for the message. */
  ruleName?: string | null;
  /** How long it had lasted, where the rule waited for that. */
  lastedMs?: number | null;
  /** Set where late data made it known: when that came, in Unix milliseconds, and how much later than it happened. */
  late?: { receivedAtMs: number; delayMs: number } | null;
}

/** What a rule's own message may hold. */
export const MESSAGE_PLACEHOLDERS = [
  'vehicle',
  'driver',
  'licenceExpiresOn',
  'event',
  'place',
  'geofence',
  'time',
  'end',
  'duration',
  'speed',
  'limit',
  'distance',
  'latitude',
  'longitude',
  'rule',
] as const;

export interface NotificationText {
  /** One line. */
  subject: string;
  /** What it says without the table of facts: the words of the rule, or those of the service. */
  words: string;
  text: string;
  /** A whole document, everything from outside escaped. */
  html: string;
}

/**
 * An event in words, for a message. Pure: the same facts give the same text. Names are the only words of users in it,
 * as {@link quotedName} writes them: nobody can send a text of their own by this service.
 *
 * @param template of the rule, with {@link MESSAGE_PLACEHOLDERS}; null: the words of the service
 * @throws RangeError for a time zone that there is not
 */
export function notificationText(
  facts: NotificationFacts,
  reader: MessageReader,
  template: string | null = null,
): NotificationText {
  const phrases = new Phrases(facts, reader);
  const { words } = messagesIn(reader.language);
  const lasted = facts.lastedMs == null ? '' : words.lastedNow(phrases.duration(facts.lastedMs));
  const sentence = `${phrases.sentence()}${lasted}${facts.late ? ` (${words.lateData})` : ''}`;
  const subject = facts.kind === LICENCE_EXPIRY ? sentence : words.subject(sentence);
  const rows = phrases.rows();
  const said = template === null ? `${subject}.` : fillTemplate(template, phrases.values());
  const lines = [said, '', ...rows.map(([label, value]) => `${label}: ${value}`)];
  const html = messageHtml(reader.language, subject, [
    `<p>${escapeHtml(said).replaceAll('\n', '<br>')}</p>`,
    ...tableHtml(rows),
  ]);
  return { subject, words: said, text: `${lines.join('\n')}\n`, html };
}

/** What happened, as one sentence without a full stop. */
export function eventSentence(facts: NotificationFacts, reader: MessageReader): string {
  return new Phrases(facts, reader).sentence();
}

/** A message that shows its reader, and who set the rule up, that e-mails of the rule arrive. */
export function testText(ruleName: string, language: Language): NotificationText {
  const { words } = messagesIn(language);
  const { subject } = words.test;
  const sentence = words.test.text(quotedName(ruleName));
  const html = messageHtml(language, subject, [`<p>${escapeHtml(sentence)}</p>`]);
  return { subject, words: sentence, text: `${sentence}\n`, html };
}

/** Ends of a lasting event that the vehicle did not bring about: the others go without saying. */
const EXPLAINED_REASONS = new Set([
  'geofence-deleted',
  'geofence-changed',
  'no-longer-watched',
  'limit-removed',
  'settled',
  'sensor-changed',
  'corrected',
  'plan-changed',
]);

const KM_PER_MILE = 1.609344;
const LITRES_PER_GALLON = 3.785411784;

/** A kind may be of a release that this one does not know. */
const KINDS: ReadonlyMap<string, KindDescription> = new Map(Object.entries(DESCRIBED_KINDS));

/** The parts of a message about an event, as its reader reads. */
class Phrases {
  readonly #facts: NotificationFacts;
  readonly #reader: MessageReader;
  readonly #words: MessageWords;
  readonly #names: ReturnType<typeof messagesIn>['names'];

  constructor(facts: NotificationFacts, reader: MessageReader) {
    this.#facts = facts;
    this.#reader = reader;
    const { words, names } = messagesIn(reader.language);
    this.#words = words;
    this.#names = names;
  }

  sentence(): string {
    const { licenceExpiry, otherSentences } = this.#words;
    const { kind, phase } = this.#facts;
    if (kind === LICENCE_EXPIRY) return licenceExpiry(this.#said());
    const described = KINDS.get(kind)?.words[this.#reader.language];
    return (described ?? otherSentences)[phase](this.#said());
  }

  #said(): Said {
    const facts = this.#facts;
    const { kind, startedAtMs, endedAtMs, endReason } = facts;
    const speed = facts.phase === 'begin' ? facts.speedKmh : facts.peakKmh;
    const maintenanceEnds = ['due', 'serviced', 'corrected', 'plan-changed'] as const;
    return {
      vehicle: facts.vehicleName === null ? '' : quotedName(facts.vehicleName),
      driver: facts.driverName ? quotedName(facts.driverName) : null,
      licenceExpiresOn: facts.licenceExpiresOn ? this.#date(facts.licenceExpiresOn) : null,
      isExpired: facts.stage === 'expired',
      geofence: facts.geofenceName ? quotedName(facts.geofenceName) : null,
      lasted: endedAtMs === null ? null : this.duration(endedAtMs - startedAtMs),
      reason: this.#reason(),
      speed: speed == null ? null : this.#speed(speed),
      limit: facts.limitKmh == null ? null : this.#speed(facts.limitKmh),
      distance: facts.distanceM == null ? null : this.#distance(facts.distanceM),
      volume: facts.volumeL == null ? null : this.#volume(facts.volumeL),
      whileMoving: facts.whileMoving ?? false,
      alarm: this.#names.alarms[facts.alarm ?? 'other'] ?? spaced(facts.alarm ?? 'other'),
      plan: facts.planName ? quotedName(facts.planName) : null,
      isDue: facts.stage === 'due',
      maintenanceEnd: maintenanceEnds.find((each) => each === endReason) ?? null,
      sensor: facts.sensorName ? quotedName(facts.sensorName) : null,
      threshold: this.#threshold(),
      value: facts.value == null ? null : this.#withUnit(facts.value),
      fields: facts as unknown as Said['fields'],
      kind: this.#names.events[kind] ?? spaced(kind),
    };
  }

  #reason(): string | null {
    const { endReason } = this.#facts;
    return endReason && EXPLAINED_REASONS.has(endReason) ? (this.#names.values[endReason] ?? spaced(endReason)) : null;
  }

  /** Names are written as {@link plainPlace} does: nobody can send a link by the name of a vehicle. */
  values(): Record<(typeof MESSAGE_PLACEHOLDERS)[number], string> {
    const facts = this.#facts;
    const { startedAtMs, endedAtMs, latitude, longitude, speedKmh, limitKmh, distanceM } = facts;
    const lastedMs = facts.lastedMs ?? (endedAtMs === null ? null : endedAtMs - startedAtMs);
    const place = facts.endPlace ?? facts.startPlace;
    const name = (text: string | null | undefined) => (text ? plainPlace(text) : '–');
    return {
      vehicle: name(facts.vehicleName),
      driver: name(facts.driverName),
      licenceExpiresOn: facts.licenceExpiresOn ? this.#date(facts.licenceExpiresOn) : '–',
      event: this.sentence().replaceAll("'", ''),
      place: name(place ?? facts.geofenceName),
      geofence: name(facts.geofenceName),
      time: this.#time(startedAtMs),
      end: endedAtMs === null ? '–' : this.#time(endedAtMs),
      duration: lastedMs === null ? '–' : this.duration(lastedMs),
      speed: speedKmh == null ? '–' : this.#speed(speedKmh),
      limit: limitKmh == null ? '–' : this.#speed(limitKmh),
      distance: distanceM == null ? '–' : this.#distance(distanceM),
      latitude: latitude == null ? '–' : latitude.toFixed(6),
      longitude: longitude == null ? '–' : longitude.toFixed(6),
      rule: name(facts.ruleName),
    };
  }

  rows(): [label: string, value: string][] {
    const facts = this.#facts;
    const { labels, received, causes } = this.#words;
    const { columns } = this.#names;
    const { endedAtMs, startedAtMs, latitude, longitude, late, peakValue } = facts;
    const startPlace = facts.startPlace ? plainPlace(facts.startPlace) : null;
    const endPlace = facts.endPlace ? plainPlace(facts.endPlace) : null;
    const lasting = endedAtMs !== null && endedAtMs !== startedAtMs;
    const reason = this.#reason();
    const quoted = (name: string | null | undefined) => (name ? quotedName(name) : null);
    const speed = (kmh: number | null | undefined) => (kmh == null ? null : this.#speed(kmh));
    const rows: [string | undefined, string | null][] = [
      [columns.vehicleName, [facts.vehicleName, facts.plate].map(quoted).filter(Boolean).join(' ') || null],
      [columns.driverName, quoted(facts.driverName)],
      [labels.licence, facts.licenceExpiresOn ? this.#date(facts.licenceExpiresOn) : null],
      [columns.geozoneName, quoted(facts.geofenceName)],
      [lasting ? labels.began : labels.time, facts.licenceExpiresOn ? null : this.#time(startedAtMs)],
      [labels.ended, lasting ? this.#time(endedAtMs) + (reason ? ` (${reason})` : '') : null],
      [columns.receivedAt, late ? received(this.#time(late.receivedAtMs), this.duration(late.delayMs)) : null],
      [columns.durationSeconds, lasting ? this.duration(endedAtMs - startedAtMs) : null],
      [columns.speedKmh, speed(facts.speedKmh)],
      [columns.peakKmh, speed(facts.peakKmh)],
      [columns.limitKmh, speed(facts.limitKmh)],
      [columns.distanceM, facts.distanceM == null ? null : this.#distance(facts.distanceM)],
      [endPlace ? labels.from : labels.place, startPlace],
      [startPlace ? labels.to : labels.place, endPlace],
      [
        labels.position,
        latitude == null || longitude == null ? null : `${latitude.toFixed(6)}, ${longitude.toFixed(6)}`,
      ],
      [columns.sensorName, quoted(facts.sensorName)],
      [labels.farthest, lasting && peakValue != null ? this.#withUnit(peakValue) : null],
      [columns.planName, quoted(facts.planName)],
      [labels.dueBy, facts.cause ? causes[facts.cause] : null],
      [columns.volumeL, facts.volumeL == null ? null : this.#volume(facts.volumeL)],
      [labels.tank, this.#tank()],
      [labels.rule, quoted(facts.ruleName)],
    ];
    return rows.filter((row): row is [string, string] => row[1] !== null);
  }

  #tank(): string | null {
    const { levelBeforeL, levelAfterL } = this.#facts;
    if (levelBeforeL == null || levelAfterL == null) return null;
    return `${this.#volume(levelBeforeL)} → ${this.#volume(levelAfterL)}`;
  }

  #withUnit(value: number): string {
    const { unit } = this.#facts;
    const text = this.#number({ maximumFractionDigits: 2 }).format(value);
    return unit ? `${text} ${unit}` : text;
  }

  /** Such as `above -15 °C`, or `between 2 and 8 °C`. */
  #threshold(): string {
    const { condition, min, max } = this.#facts;
    const { threshold } = this.#words;
    if (condition === 'above' && max != null) return threshold.above(this.#withUnit(max));
    if (condition === 'below' && min != null) return threshold.below(this.#withUnit(min));
    if (min == null || max == null) return threshold.other;
    const between = condition === 'inside' ? threshold.inside : threshold.outside;
    return between(this.#number({ maximumFractionDigits: 2 }).format(min), this.#withUnit(max));
  }

  #time(timeMs: number): string {
    return messageTime(timeMs, this.#reader);
  }

  /** @param date as `2027-05-31` */
  #date(date: string): string {
    return messageDay(Temporal.PlainDate.from(date), this.#reader.language);
  }

  /** The two largest units of it: `2 d 3 h`, `1 h 5 min`, `4 min 10 s`, `12 s`. */
  duration(durationMs: number): string {
    const seconds = Math.max(0, Math.round(durationMs / 1000));
    const counts = [
      Math.floor(seconds / 86_400),
      Math.floor(seconds / 3600) % 24,
      Math.floor(seconds / 60) % 60,
      seconds % 60,
    ];
    const parts = this.#words.durationUnits.map((unit, nth) => ({ count: counts[nth] ?? 0, unit }));
    const largest = parts.findIndex(({ count }) => count > 0);
    const shown = largest === -1 ? parts.slice(-1) : parts.slice(largest, largest + 2).filter(({ count }) => count > 0);
    return shown.map(({ count, unit }) => `${count} ${unit}`).join(' ');
  }

  #speed(kmh: number): string {
    return this.#isMetric
      ? this.#unit(kmh, 'kilometer-per-hour', 0)
      : this.#unit(kmh / KM_PER_MILE, 'mile-per-hour', 0);
  }

  #distance(metres: number): string {
    if (!this.#isMetric) return this.#unit(metres / 1000 / KM_PER_MILE, 'mile', 1);
    return metres < 1000 ? this.#unit(metres, 'meter', 0) : this.#unit(metres / 1000, 'kilometer', 1);
  }

  #volume(litres: number): string {
    return this.#isMetric ? this.#unit(litres, 'liter', 0) : this.#unit(litres / LITRES_PER_GALLON, 'gallon', 0);
  }

  get #isMetric(): boolean {
    return this.#reader.units === 'metric';
  }

  #unit(value: number, unit: string, digits: number): string {
    const bounds = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return this.#number({ style: 'unit', unit, unitDisplay: 'short', ...bounds }).format(value);
  }

  #number(options: Intl.NumberFormatOptions): Intl.NumberFormat {
    return numberFormat(this.#reader.language, options);
  }
}

/** As many as there are languages and units: they are costly to make. */
const numberFormats = new Map<string, Intl.NumberFormat>();

function numberFormat(language: Language, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${language} ${JSON.stringify(options)}`;
  const known = numberFormats.get(key) ?? new Intl.NumberFormat(language, { useGrouping: false, ...options });
  numberFormats.set(key, known);
  return known;
}
