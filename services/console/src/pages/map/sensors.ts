import type { Formats } from '../../format.ts';

export interface Sensor {
  /** Name in the protocol. */
  name: string;
  label: string;
  text: string;
}

type Value = number | string | boolean;

/** Units by the end of an attribute name, as protocols write it: `batteryPercent`, `recorderSpeedKmh`. */
const UNITS: readonly [ending: RegExp, text: (value: number, format: Formats) => string][] = [
  [/Kmh$/, (value, format) => format.speed(value)],
  [/Percent$|^(battery|batteryLevel|humidity)$/, (value, format) => `${format.number(value)} %`],
  [/(^|[a-z])temperature\d*$|Temperature\d*$/, (value, format) => `${format.number(value, 1)} °C`],
  [/(MilliV|Mv)$/, (value, format) => format.voltage(value / 1000)],
  [/(Voltage|V)$/, (value, format) => format.voltage(value)],
  [/(Litres|L)$/, (value, format) => format.volume(value)],
  [/(Hours|H)$/, (value, format) => `${format.number(value, 1)} h`],
  [/(Seconds|S)$/, (value, format) => format.duration(value)],
  [/[a-z]M$/, (value, format) => format.distance(value)],
  [/(^|[a-z])[rR]pm$/, (value, format) => `${format.number(value)} rpm`],
];
/** Attributes that are not shown: bit fields, and what the panel shows elsewhere. */
const LEFT_OUT = /Bits$|^(statusBits|alarmBits|events|eventId|priority)$/;

/** The attributes of a record as readable sensor values. Those with known names come first. */
export function sensorsOf(
  attributes: Readonly<Record<string, Value>> | null,
  format: Formats,
  words: { names: Readonly<Record<string, string>>; yes: string; no: string },
): Sensor[] {
  const sensors = Object.entries(attributes ?? {})
    .filter(([name]) => !LEFT_OUT.test(name))
    .map(([name, value]) => ({ name, label: labelOf(name, words.names), text: textOf(name, value, format, words) }));
  const rank = ({ name }: Sensor) => (bare(name) in words.names ? 0 : /^(io|adc|param)\d+$/.test(name) ? 2 : 1);
  return sensors.toSorted((a, b) => rank(a) - rank(b) || a.label.localeCompare(b.label, undefined, { numeric: true }));
}

function textOf(name: string, value: Value, format: Formats, { yes, no }: { yes: string; no: string }): string {
  if (typeof value === 'boolean') return value ? yes : no;
  if (typeof value === 'string') return value;
  const unit = UNITS.find(([ending]) => ending.test(name));
  return unit === undefined ? format.number(value, 2) : unit[1](value, format);
}

/** Label of a sensor: `temperature2` is the second sensor of the kind `temperature`. */
function labelOf(name: string, names: Readonly<Record<string, string>>): string {
  const known = names[bare(name)];
  if (known !== undefined) return `${known} ${name.slice(bare(name).length)}`.trim();
  if (/^[a-z]+\d+$/.test(name)) return name;
  const words = name.replace(/(Percent|Kmh|MilliV|Mv|Seconds)$/, '').replaceAll(/([a-z\d])([A-Z])/g, '$1 $2');
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}

function bare(name: string): string {
  return name.replace(/\d+$/, '');
}
