import { LICENCE_EXPIRY } from '@outrider/domain';
import type { Language } from '@outrider/words';
import { type MessageWords, messagesIn } from '@outrider/words/messages';
import { type EventFacts, EventPhrases } from '@outrider/words/sentences';
import { escapeHtml, messageHtml, tableHtml } from './message-html.ts';
import { type MessageReader, messageDay, messageTime } from './message-reader.ts';
import { fillTemplate } from './message-template.ts';
import { plainPlace, quotedName } from './plain-name.ts';

/** Facts of an event for a message, in addition to those of its sentence. Absent and null fields are left out. */
export interface NotificationFacts extends EventFacts {
  plate?: string | null;
  /** Places where the event began and ended, as an address or by the nearest town. */
  startPlace?: string | null;
  endPlace?: string | null;
  /** Degrees. */
  latitude?: number | null;
  longitude?: number | null;
  /** For maintenance: the limit of the plan that was met first. */
  cause?: 'distance' | 'engine-hours' | 'days' | 'counter' | null;
  /** Of a refuelling or a drain: litres in the tank before and after. */
  levelBeforeL?: number | null;
  levelAfterL?: number | null;
  /** For a sensor beyond a threshold: the value farthest beyond it. */
  peakValue?: number | null;
  /** The rule that caused the message. */
  ruleName?: string | null;
  /** How long it had lasted, where the rule waited for that. */
  lastedMs?: number | null;
  /** Whether the message reports the escalation of an incident. */
  isEscalation?: boolean;
  /** Set if late data revealed the event: when the data came, in Unix milliseconds, and the delay after the event. */
  late?: { receivedAtMs: number; delayMs: number } | null;
}

/** Placeholders of a rule's own message. */
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
  /** The message without the table of facts: the text of the rule, or that of the service. */
  words: string;
  text: string;
  /** A complete document, with all external text escaped. */
  html: string;
}

/**
 * Describes an event in a message. Pure: the same facts give the same text. Names are the only user-chosen texts in it,
 * in the form of {@link quotedName}: nobody can send a text of their own through this service.
 *
 * @param template template of the rule, with {@link MESSAGE_PLACEHOLDERS}; null: the text of the service
 * @throws RangeError for a time zone that does not exist
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
  const escalated = (message: string) => (facts.isEscalation ? words.escalated(message) : message);
  const subject = escalated(facts.kind === LICENCE_EXPIRY ? sentence : words.subject(sentence));
  const rows = phrases.rows();
  const said = template === null ? `${subject}.` : escalated(fillTemplate(template, phrases.values()));
  const lines = [said, '', ...rows.map(([label, value]) => `${label}: ${value}`)];
  const html = messageHtml(reader.language, subject, [
    `<p>${escapeHtml(said).replaceAll('\n', '<br>')}</p>`,
    ...tableHtml(rows),
  ]);
  return { subject, words: said, text: `${lines.join('\n')}\n`, html };
}

/** A test message, which shows its reader and the author of the rule that e-mails of the rule arrive. */
export function testText(ruleName: string, language: Language): NotificationText {
  const { words } = messagesIn(language);
  const { subject } = words.test;
  const sentence = words.test.text(quotedName(ruleName));
  const html = messageHtml(language, subject, [`<p>${escapeHtml(sentence)}</p>`]);
  return { subject, words: sentence, text: `${sentence}\n`, html };
}

/** Builds the parts of a message about an event, in the formats of its reader. */
class Phrases extends EventPhrases {
  readonly #facts: NotificationFacts;
  readonly #reader: MessageReader;
  readonly #words: MessageWords;
  readonly #names: ReturnType<typeof messagesIn>['names'];

  constructor(facts: NotificationFacts, reader: MessageReader) {
    const { language, units } = reader;
    const { words, names } = messagesIn(language);
    const day = (date: string) => messageDay(Temporal.PlainDate.from(date), language);
    super(facts, { language, units, words, names, quoted: quotedName, day });
    this.#facts = facts;
    this.#reader = reader;
    this.#words = words;
    this.#names = names;
  }

  /** Names are written like {@link plainPlace}: nobody can send a link in the name of a vehicle. */
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
      speed: speedKmh == null ? '–' : this.speed(speedKmh),
      limit: limitKmh == null ? '–' : this.speed(limitKmh),
      distance: distanceM == null ? '–' : this.distance(distanceM),
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
    const reason = this.reason();
    const quoted = (name: string | null | undefined) => (name ? quotedName(name) : null);
    const speed = (kmh: number | null | undefined) => (kmh == null ? null : this.speed(kmh));
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
      [columns.distanceM, facts.distanceM == null ? null : this.distance(facts.distanceM)],
      [endPlace ? labels.from : labels.place, startPlace],
      [startPlace ? labels.to : labels.place, endPlace],
      [
        labels.position,
        latitude == null || longitude == null ? null : `${latitude.toFixed(6)}, ${longitude.toFixed(6)}`,
      ],
      [columns.sensorName, quoted(facts.sensorName)],
      [labels.farthest, lasting && peakValue != null ? this.withUnit(peakValue) : null],
      [columns.planName, quoted(facts.planName)],
      [labels.dueBy, facts.cause ? causes[facts.cause] : null],
      [columns.volumeL, facts.volumeL == null ? null : this.volume(facts.volumeL)],
      [labels.tank, this.#tank()],
      [labels.rule, quoted(facts.ruleName)],
    ];
    return rows.filter((row): row is [string, string] => row[1] !== null);
  }

  #tank(): string | null {
    const { levelBeforeL, levelAfterL } = this.#facts;
    if (levelBeforeL == null || levelAfterL == null) return null;
    return `${this.volume(levelBeforeL)} → ${this.volume(levelAfterL)}`;
  }

  #time(timeMs: number): string {
    return messageTime(timeMs, this.#reader);
  }

  /** @param date as `2027-05-31` */
  #date(date: string): string {
    return messageDay(Temporal.PlainDate.from(date), this.#reader.language);
  }
}
