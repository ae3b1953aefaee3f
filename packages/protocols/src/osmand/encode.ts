import { type AttributeValue, KMH_PER_UNIT, type Position, type TerminalId } from '@outrider/domain';

/**
 * Encodes a position as the target of a GET or POST: `/?id=…`, with speed in knots and time in Unix milliseconds;
 * unknown values are omitted. The text after the question mark also serves as the body of a form. Text attributes that
 * look like a number or a boolean arrive as one.
 */
export function encodeOsmandQuery(terminalId: TerminalId, position: Position): string {
  const query = new URLSearchParams({
    id: terminalId,
    timestamp: String(position.fixTimeMs),
    lat: decimal(position.latitude),
    lon: decimal(position.longitude),
  });
  if (!position.valid) query.set('valid', 'false');
  if (position.speedKmh !== null) query.set('speed', decimal(position.speedKmh / KMH_PER_UNIT.knots));
  if (position.courseDeg !== null) query.set('bearing', decimal(position.courseDeg));
  if (position.altitudeM !== null) query.set('altitude', decimal(position.altitudeM));
  for (const [name, value] of Object.entries(extrasOf(position))) query.set(name, String(value));
  return `/?${query}`;
}

/**
 * Encodes a position as the JSON that Traccar Client posts, with speed in m/s; values without a field in the format are
 * in its `extras`.
 */
export function encodeOsmandJson(terminalId: TerminalId, position: Position): string {
  const { accuracy, is_moving, event, batt, charge, activity, odometer, ...extras } = extrasOf(position);
  const hasBattery = batt !== undefined || charge !== undefined;
  return JSON.stringify({
    location: {
      timestamp: new Date(position.fixTimeMs).toISOString(),
      coords: {
        latitude: position.latitude,
        longitude: position.longitude,
        accuracy,
        speed: position.speedKmh === null ? undefined : position.speedKmh / KMH_PER_UNIT['m/s'],
        heading: position.courseDeg ?? undefined,
        altitude: position.altitudeM ?? undefined,
      },
      is_moving,
      odometer,
      event,
      battery: hasBattery
        ? { level: typeof batt === 'number' ? batt / 100 : undefined, is_charging: charge }
        : undefined,
      activity: activity === undefined ? undefined : { type: activity },
      extras: position.valid ? extras : { ...extras, valid: false },
    },
    device_id: terminalId,
  });
}

/** Values in addition to the fix, under Traccar's names. */
function extrasOf(position: Position): Record<string, AttributeValue> {
  const extras: Record<string, AttributeValue> = { ...position.attributes };
  if (position.satellites !== null) extras.sat = position.satellites;
  if (position.ignition !== null) extras.ignition = position.ignition;
  if (position.odometerM !== null) extras.odometer = position.odometerM;
  if (position.supplyV !== null) extras.power = position.supplyV;
  if (position.fuelL !== null) extras.fuel = position.fuelL;
  if (position.alarms.length > 0) extras.alarm = position.alarms.join();
  return extras;
}

/** A number without an exponent, rounded to 1e-10, which is finer than any stored value. */
function decimal(value: number): string {
  const short = String(Number(value.toFixed(10)) + 0);
  return short.includes('e') ? value.toFixed(10) : short;
}
