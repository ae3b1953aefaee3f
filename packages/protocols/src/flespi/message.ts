import { type Alarm, blankPosition, type Position, type TerminalId } from '@outrider/domain';
import { setStates } from '../attributes.ts';
import { AttributeList, isObject, numberWithin, quote, refused, terminalIdOf } from '../json-input.ts';
import { courseOf, readTimeMs, speedOf } from '../osmand/fields.ts';
import type { RefusedReports, TerminalReport, TerminalReports } from '../protocol.ts';

/** Maximum number of positions in one packet of the log. */
const POSITIONS_PER_REPORT = 500;
/** Maximum number of refusals listed for one request; the last one counts all further messages. */
const MAX_UNREAD = 100;

type Message = Readonly<Record<string, unknown>>;

/** flespi's parameters with the same meaning as a common attribute; the first one present wins. */
const COMMON: readonly (readonly [parameter: string, attribute: string, factor?: number])[] = [
  ['battery.level', 'batteryPercent'],
  ['battery.voltage', 'batteryV'],
  ['battery.charging.status', 'charging'],
  ['gsm.signal.level', 'gsmSignalPercent'],
  ['gsm.mcc', 'mcc'],
  ['gsm.mnc', 'mnc'],
  ['gsm.lac', 'lac'],
  ['gsm.cellid', 'cellId'],
  ['position.hdop', 'hdop'],
  ['alarm.mode.status', 'armed'],
  ['can.fuel.level', 'fuel1Percent'],
  ['fuel.level', 'fuel1Percent'],
  ['can.fuel.consumed', 'fuelUsedL'],
  ['can.engine.rpm', 'rpm'],
  ['engine.rpm', 'rpm'],
  ['can.engine.motorhours', 'engineHours'],
  ['engine.motorhours', 'engineHours'],
  ['can.engine.coolant.temperature', 'engineTemperatureC'],
  ['engine.coolant.temperature', 'engineTemperatureC'],
  ['can.throttle.pedal.level', 'throttlePercent'],
  ['throttle.pedal.level', 'throttlePercent'],
  ['can.vehicle.speed', 'canSpeedKmh'],
  ['can.vehicle.mileage', 'canOdometerM', 1000],
  ['ibutton.code', 'driverCode'],
  ['rfid.code', 'driverCode'],
  ['event.enum', 'eventCode'],
  ['device.temperature', 'deviceTemperatureC'],
];

/** Numbered parameters; a parameter without a number is the first. */
const NUMBERED: readonly (readonly [RegExp, (number: string) => string])[] = [
  [/^(?:external\.|sensor\.|ble\.sensor\.)?temperature(?:\.(\d{1,2}))?$/, (number) => `temperature${number}C`],
  [/^(?:external\.|sensor\.|ble\.sensor\.)?humidity(?:\.(\d{1,2}))?$/, (number) => `humidity${number}Percent`],
  [/^ain(?:\.(\d{1,2}))?$/, (number) => `analog${number}V`],
  [/^din\.(\d{1,2})$/, (number) => `input${number}`],
  [/^dout\.(\d{1,2})$/, (number) => `output${number}`],
];

const ALARM_NAMES: Readonly<Record<string, Alarm>> = {
  sos: 'sos',
  panic: 'sos',
  'battery.low': 'low-battery',
  'external.powersource.lost': 'power-cut',
  'power.cut': 'power-cut',
  tamper: 'tamper',
  tampering: 'tamper',
  'case.open': 'tamper',
  overspeeding: 'overspeed',
  crash: 'crash',
  'harsh.acceleration': 'harsh-acceleration',
  'harsh.braking': 'harsh-braking',
  'harsh.cornering': 'harsh-cornering',
  towing: 'towing',
  'gsm.jamming': 'jamming',
  jamming: 'jamming',
  alarm: 'other',
};

/** Parameters that map to fields of a position or describe the whole message. */
const FIELDS: ReadonlySet<string> = new Set([
  'ident',
  'timestamp',
  'position.latitude',
  'position.longitude',
  'position.altitude',
  'position.speed',
  'position.direction',
  'position.satellites',
  'position.valid',
  'engine.ignition.status',
  'vehicle.mileage',
  'external.powersource.voltage',
  'fuel.volume',
]);

/**
 * Reads one message, or an array of messages from one or more terminals. Skips a message that cannot be read, because
 * the stream would send it again for ever.
 */
export function readMessages(value: unknown, nowMs: number): TerminalReports {
  const messages: unknown[] = Array.isArray(value) ? value : [value];
  const open = new Map<TerminalId, TerminalReport>();
  const reports: TerminalReport[] = [];
  const unread: Pick<RefusedReports, 'refused' | 'detail'>[] = [];
  let unlisted = 0;
  for (const [nth, message] of messages.entries()) {
    const read = readMessage(message, nowMs);
    if ('refused' in read) {
      const refusal = { refused: read.refused, detail: `[${nth}]: ${read.detail}` };
      if (unread.length < MAX_UNREAD) unread.push(refusal);
      else unread[MAX_UNREAD - 1] = { ...refusal, detail: `${refusal.detail}, and ${++unlisted} more before it` };
      continue;
    }
    let report = open.get(read.terminalId);
    if (report === undefined || report.positions.length >= POSITIONS_PER_REPORT) {
      report = { terminalId: read.terminalId, positions: [] };
      open.set(read.terminalId, report);
      reports.push(report);
    }
    if (read.position !== null) report.positions.push(read.position);
  }
  return { reports, unread };
}

function readMessage(
  message: unknown,
  nowMs: number,
): { terminalId: TerminalId; position: Position | null } | RefusedReports {
  if (!isObject(message)) return refused('bad-content', 'the message is not a JSON object');
  const { ident, timestamp } = message;
  const terminalId = terminalIdOf(ident);
  if (terminalId === null) return refused('not-identified', `ident: ${quote(ident)} is no identifier`);
  const fixTimeMs =
    timestamp === undefined
      ? nowMs
      : typeof timestamp === 'number' || typeof timestamp === 'string'
        ? readTimeMs(timestamp)
        : null;
  if (fixTimeMs === null) return refused('bad-content', `timestamp: ${quote(timestamp)} is no time`);

  const latitude = numberWithin(message['position.latitude'], -90, 90);
  const longitude = numberWithin(message['position.longitude'], -180, 180);
  const hasPlace = latitude !== null && longitude !== null;
  const position = hasPlace ? blankPosition(fixTimeMs, latitude, longitude) : blankPosition(fixTimeMs, 0, 0);
  position.valid = hasPlace && message['position.valid'] !== false;
  readFields(message, position);
  position.alarms = alarmsOf(message);
  position.attributes = attributesOf(message);
  const saysSomething = hasPlace || position.attributes !== null || position.ignition !== null;
  return { terminalId, position: saysSomething ? position : null };
}

function readFields(message: Message, position: Position): void {
  const speed = message['position.speed'];
  position.speedKmh = typeof speed === 'number' ? speedOf(speed) : null;
  const course = message['position.direction'];
  position.courseDeg = typeof course === 'number' ? courseOf(course) : null;
  position.altitudeM = wholeOf(numberWithin(message['position.altitude'], -1e6, 1e6));
  position.satellites = wholeOf(numberWithin(message['position.satellites'], 0, 255));
  const ignition = message['engine.ignition.status'];
  position.ignition = typeof ignition === 'boolean' ? ignition : null;
  const mileageKm = numberWithin(message['vehicle.mileage'], 0, 1e9);
  position.odometerM = mileageKm === null ? null : Math.round(mileageKm * 1000);
  position.supplyV = numberWithin(message['external.powersource.voltage'], 0, 1000);
  position.fuelL = numberWithin(message['can.fuel.volume'] ?? message['fuel.volume'], 0, 1e5);
}

function wholeOf(value: number | null): number | null {
  return value === null ? null : Math.round(value) + 0;
}

function alarmsOf(message: Message): readonly Alarm[] {
  const alarms = new Set<Alarm>();
  for (const [name, value] of Object.entries(message)) {
    if (value !== true) continue;
    const [, about = ''] = /^(.+?)(?:\.event|\.alarm)?(?:\.status|\.trigger)?$/.exec(name.slice(0, 64)) ?? [];
    if (about === 'alarm' && name !== 'alarm.event' && name !== 'alarm.event.trigger') continue;
    if (Object.hasOwn(ALARM_NAMES, about)) alarms.add(ALARM_NAMES[about] as Alarm);
  }
  return [...alarms];
}

function attributesOf(message: Message) {
  const attributes = new AttributeList();
  for (const [parameter, attribute, factor = 1] of COMMON) {
    const value = message[parameter];
    attributes.set(attribute, typeof value === 'number' ? value * factor : value);
  }
  for (const [name, value] of Object.entries(message))
    for (const [pattern, attribute] of NUMBERED) {
      const match = pattern.exec(name);
      if (match !== null) attributes.set(attribute(String(Number(match[1] ?? 1))), value);
    }
  for (const [parameter, name] of [
    ['din', 'input'],
    ['dout', 'output'],
  ] as const) {
    const bits = numberWithin(message[parameter], 0, 0xffff_ffff);
    if (bits === null) continue;
    const states: Record<string, boolean> = {};
    setStates(states, name, bits);
    for (const [state, isOn] of Object.entries(states)) attributes.set(state, isOn);
  }
  for (const [name, value] of Object.entries(message)) if (!FIELDS.has(name)) attributes.set(name, value);
  return attributes.all;
}

/** A position with flespi's parameter names. */
export function encodeMessage(terminalId: TerminalId, position: Position): Record<string, unknown> {
  return {
    ident: terminalId,
    timestamp: position.fixTimeMs / 1000,
    'position.latitude': position.latitude,
    'position.longitude': position.longitude,
    'position.valid': position.valid,
    'position.speed': position.speedKmh ?? undefined,
    'position.direction': position.courseDeg ?? undefined,
    'position.altitude': position.altitudeM ?? undefined,
    'position.satellites': position.satellites ?? undefined,
    'engine.ignition.status': position.ignition ?? undefined,
    'vehicle.mileage': position.odometerM === null ? undefined : position.odometerM / 1000,
    'external.powersource.voltage': position.supplyV ?? undefined,
    'fuel.volume': position.fuelL ?? undefined,
    ...position.attributes,
  };
}
