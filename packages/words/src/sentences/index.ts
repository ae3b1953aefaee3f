import type { Alarm, LicenceExpiry, LicenceStage } from '@outrider/domain';
import { DESCRIBED_KINDS, type KindDescription } from '@outrider/domain/events';
import type { Said } from '@outrider/domain/said';
import type { Language } from '../index.ts';
import type { Names } from '../names.ts';
import { spaced } from '../spaced.ts';
import type { SentenceWords } from './words.ts';

export type { SentenceWords } from './words.ts';

/** Facts of an event from which its sentence is built, with names instead of ids. Absent and null ones are omitted. */
export interface EventFacts {
  /** Kind of the event. An unknown kind is shown by its name. */
  kind: string;
  phase: 'begin' | 'end';
  /** Null where no vehicle is involved. */
  vehicleName: string | null;
  /** Unix milliseconds. */
  startedAtMs: number;
  endedAtMs: number | null;
  /** The geofence that the event is about, or whose speed limit was exceeded. */
  geofenceName?: string | null;
  speedKmh?: number | null;
  limitKmh?: number | null;
  peakKmh?: number | null;
  distanceM?: number | null;
  /** For an alarm: what was raised. */
  alarm?: Alarm | null;
  /** For maintenance: the plan, and whether it is near or due. */
  planName?: string | null;
  stage?: 'warning' | 'due' | LicenceStage | null;
  /** For a licence: its holder, and its last valid day, as `2027-05-31`. `stage` holds whether it has expired. */
  driverName?: string | null;
  licenceExpiresOn?: string | null;
  /** For a refuelling or a drain: litres, and whether the vehicle moved. */
  volumeL?: number | null;
  whileMoving?: boolean | null;
  /** For a sensor beyond a threshold: the sensor, the threshold, and its value at this phase. */
  sensorName?: string | null;
  unit?: string | null;
  condition?: 'above' | 'below' | 'inside' | 'outside' | null;
  min?: number | null;
  max?: number | null;
  value?: number | null;
  /** Why the event ended, as in its data: `left`, `geofence-deleted`, … */
  endReason?: string | null;
}

/** Language, units and words of the person who reads a sentence. */
export interface SentenceReader {
  language: Language;
  units: 'metric' | 'imperial';
  words: SentenceWords;
  names: Pick<Names, 'alarms' | 'events' | 'values'>;
  /** Puts a name that a user gave into quotation marks. */
  quoted: (name: string) => string;
  /** Formats a day such as `2027-05-31` for the language. */
  day: (date: string) => string;
}

/** End reasons that are shown: the vehicle did not cause these ends. The other reasons are obvious. */
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

const LICENCE_EXPIRY: LicenceExpiry['kind'] = 'licence-expiry';
const KM_PER_MILE = 1.609344;
const LITRES_PER_GALLON = 3.785411784;

/** Keyed by text, because a kind may come from a newer release. */
const KINDS: ReadonlyMap<string, KindDescription> = new Map(Object.entries(DESCRIBED_KINDS));

/** Whether events of the kind are undesirable, such as speeding. */
export function isUnwanted(kind: string): boolean {
  return KINDS.get(kind)?.isUnwanted === true;
}

/** Describes the event in one sentence without a full stop. */
export function eventSentence(facts: EventFacts, reader: SentenceReader): string {
  return new EventPhrases(facts, reader).sentence();
}

/** Phrases about an event, formatted for its reader. */
export class EventPhrases {
  readonly #facts: EventFacts;
  readonly #reader: SentenceReader;

  constructor(facts: EventFacts, reader: SentenceReader) {
    this.#facts = facts;
    this.#reader = reader;
  }

  sentence(): string {
    const { language, words } = this.#reader;
    const { kind, phase } = this.#facts;
    if (kind === LICENCE_EXPIRY) return words.licenceExpiry(this.#said());
    const described = KINDS.get(kind)?.words[language];
    return (described ?? words.otherSentences)[phase](this.#said());
  }

  #said(): Said {
    const facts = this.#facts;
    const { names, quoted, day } = this.#reader;
    const { kind, startedAtMs, endedAtMs, endReason } = facts;
    const speed = facts.phase === 'begin' ? facts.speedKmh : facts.peakKmh;
    const maintenanceEnds = ['due', 'serviced', 'corrected', 'plan-changed'] as const;
    return {
      vehicle: facts.vehicleName === null ? '' : quoted(facts.vehicleName),
      driver: facts.driverName ? quoted(facts.driverName) : null,
      licenceExpiresOn: facts.licenceExpiresOn ? day(facts.licenceExpiresOn) : null,
      isExpired: facts.stage === 'expired',
      geofence: facts.geofenceName ? quoted(facts.geofenceName) : null,
      lasted: endedAtMs === null ? null : this.duration(endedAtMs - startedAtMs),
      reason: this.reason(),
      speed: speed == null ? null : this.speed(speed),
      limit: facts.limitKmh == null ? null : this.speed(facts.limitKmh),
      distance: facts.distanceM == null ? null : this.distance(facts.distanceM),
      volume: facts.volumeL == null ? null : this.volume(facts.volumeL),
      whileMoving: facts.whileMoving ?? false,
      alarm: names.alarms[facts.alarm ?? 'other'] ?? spaced(facts.alarm ?? 'other'),
      plan: facts.planName ? quoted(facts.planName) : null,
      isDue: facts.stage === 'due',
      maintenanceEnd: maintenanceEnds.find((each) => each === endReason) ?? null,
      sensor: facts.sensorName ? quoted(facts.sensorName) : null,
      threshold: this.#threshold(),
      value: facts.value == null ? null : this.withUnit(facts.value),
      fields: facts as unknown as Said['fields'],
      kind: names.events[kind] ?? spaced(kind),
    };
  }

  /** Why the event ended; null where that is obvious. */
  reason(): string | null {
    const { endReason } = this.#facts;
    if (!endReason || !EXPLAINED_REASONS.has(endReason)) return null;
    return this.#reader.names.values[endReason] ?? spaced(endReason);
  }

  withUnit(value: number): string {
    const { unit } = this.#facts;
    const text = this.#number({ maximumFractionDigits: 2 }).format(value);
    return unit ? `${text} ${unit}` : text;
  }

  /** Such as `above -15 °C`, or `between 2 and 8 °C`. */
  #threshold(): string {
    const { condition, min, max } = this.#facts;
    const { threshold } = this.#reader.words;
    if (condition === 'above' && max != null) return threshold.above(this.withUnit(max));
    if (condition === 'below' && min != null) return threshold.below(this.withUnit(min));
    if (min == null || max == null) return threshold.other;
    const between = condition === 'inside' ? threshold.inside : threshold.outside;
    return between(this.#number({ maximumFractionDigits: 2 }).format(min), this.withUnit(max));
  }

  /** A duration in its two largest units: `2 d 3 h`, `1 h 5 min`, `4 min 10 s`, `12 s`. */
  duration(durationMs: number): string {
    const seconds = Math.max(0, Math.round(durationMs / 1000));
    const counts = [
      Math.floor(seconds / 86_400),
      Math.floor(seconds / 3600) % 24,
      Math.floor(seconds / 60) % 60,
      seconds % 60,
    ];
    const parts = this.#reader.words.durationUnits.map((unit, nth) => ({ count: counts[nth] ?? 0, unit }));
    const largest = parts.findIndex(({ count }) => count > 0);
    const shown = largest === -1 ? parts.slice(-1) : parts.slice(largest, largest + 2).filter(({ count }) => count > 0);
    return shown.map(({ count, unit }) => `${count} ${unit}`).join(' ');
  }

  speed(kmh: number): string {
    return this.#isMetric
      ? this.#unit(kmh, 'kilometer-per-hour', 0)
      : this.#unit(kmh / KM_PER_MILE, 'mile-per-hour', 0);
  }

  distance(metres: number): string {
    if (!this.#isMetric) return this.#unit(metres / 1000 / KM_PER_MILE, 'mile', 1);
    return metres < 1000 ? this.#unit(metres, 'meter', 0) : this.#unit(metres / 1000, 'kilometer', 1);
  }

  volume(litres: number): string {
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

/** Cache, one entry per language and unit, because they are costly to create. */
const numberFormats = new Map<string, Intl.NumberFormat>();

function numberFormat(language: Language, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `${language} ${JSON.stringify(options)}`;
  const known = numberFormats.get(key) ?? new Intl.NumberFormat(language, { useGrouping: false, ...options });
  numberFormats.set(key, known);
  return known;
}
