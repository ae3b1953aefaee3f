import { beganAtMs, EVENT_KINDS, type EventKind, type FleetEvent } from '@outrider/domain';
import type { NativeBlock, NativeColumn } from '../native/block.ts';
import {
  fixedColumn,
  Int64Values,
  LowCardinalityValues,
  nullableColumn,
  StringValues,
  UuidValues,
  uuidWords,
} from '../native/columns.ts';
import { clamp, degreesE7 } from '../native/scaled.ts';
import type { Recorded } from '../recorded.ts';
import { OWN_COLUMNS, type OwnColumn } from './own-columns.ts';

/** Makes the row of an event's end replace that of its begin, whatever their offsets. */
const END_PRECEDENCE = 1n << 62n;

const TIME = "DateTime64(3, 'UTC')";

/**
 * Builds rows of table `events`.
 *
 * @throws {UnfitRecordError} when an id is not a UUID
 */
export function eventBlock(events: readonly Recorded<FleetEvent>[]): NativeBlock {
  const rows = events.length;
  const columns = emptyColumns(rows);
  for (const [row, { offset, value }] of events.entries()) setRow(columns, row, offset, value);
  const kinds = Uint8Array.from(events, ({ value }) => KIND_NUMBERS[value.kind]);
  const own = OWN_COLUMNS.map((column) => ownColumn(column, events, kinds));
  return { rows, columns: [...nativeColumns(columns), ...own] };
}

/** The columns of table `events` that all events have. */
function emptyColumns(rows: number) {
  return {
    vehicleIds: new UuidValues(rows),
    beganAt: new Int64Values(rows),
    ids: new UuidValues(rows),
    kinds: new LowCardinalityValues(rows || 1),
    phases: new LowCardinalityValues(rows || 1),
    startedAt: new Int64Values(rows),
    notEnded: new Uint8Array(rows),
    endedAt: new Int64Values(rows),
    latitudes: new Int32Array(rows),
    longitudes: new Int32Array(rows),
    noSpeed: new Uint8Array(rows),
    speeds: new Uint16Array(rows),
    fixTimes: new Int64Values(rows),
    definitionVersions: new Uint32Array(rows),
    endReasons: new LowCardinalityValues(rows || 1),
    fromFixTimes: new Int64Values(rows),
    origins: new LowCardinalityValues(rows || 1),
    inferred: new Uint8Array(rows),
    noStart: new Uint8Array(rows).fill(1),
    startLatitudes: new Int32Array(rows),
    startLongitudes: new Int32Array(rows),
    driverCodes: new LowCardinalityValues(rows || 1),
    precedence: new BigUint64Array(rows),
  };
}
type EventColumns = ReturnType<typeof emptyColumns>;

function setRow(columns: EventColumns, row: number, offset: number, event: FleetEvent): void {
  columns.vehicleIds.set(row, uuidWords(event.vehicleId));
  columns.ids.set(row, uuidWords(event.id));
  columns.beganAt.set(row, beganAtMs(event.id));
  columns.kinds.push(event.kind);
  columns.phases.push(event.phase);
  columns.startedAt.set(row, event.startedAtMs);
  if (event.endedAtMs === null) columns.notEnded[row] = 1;
  else columns.endedAt.set(row, event.endedAtMs);
  columns.latitudes[row] = degreesE7(event.latitude);
  columns.longitudes[row] = degreesE7(event.longitude);
  if (event.speedKmh === null) columns.noSpeed[row] = 1;
  else columns.speeds[row] = clamp(event.speedKmh * 10, 0, 0xffff);
  columns.fixTimes.set(row, event.fixTimeMs);
  columns.fromFixTimes.set(row, event.fromFixTimeMs);
  columns.definitionVersions[row] = event.definitionVersion;
  columns.origins.push(event.origin);
  if (event.inferred) columns.inferred[row] = 1;
  if (event.startLatitude !== undefined && event.startLongitude !== undefined) {
    columns.noStart[row] = 0;
    columns.startLatitudes[row] = degreesE7(event.startLatitude);
    columns.startLongitudes[row] = degreesE7(event.startLongitude);
  }
  columns.endReasons.push(event.endReason ?? '');
  columns.driverCodes.push(event.driverCode ?? '');
  // As for positions, the first of several differing records is valid.
  columns.precedence[row] = (event.phase === 'end' ? END_PRECEDENCE : 0n) + BigInt(Number.MAX_SAFE_INTEGER - offset);
}

const KIND_NUMBERS = Object.fromEntries(EVENT_KINDS.map((kind, number) => [kind, number])) as Readonly<
  Record<EventKind, number>
>;

/**
 * A column of {@link OWN_COLUMNS} with the values of all events; null, empty or false for kinds without the field.
 *
 * @param kinds number of each event's kind
 */
function ownColumn(
  { name, type, fields }: OwnColumn,
  events: readonly Recorded<FleetEvent>[],
  kinds: Uint8Array,
): NativeColumn {
  const rows = events.length;
  const fieldOfKind = EVENT_KINDS.map((kind) => fields.get(kind)?.name);
  const valueAt = (row: number): unknown => {
    const field = fieldOfKind[kinds[row] as number];
    if (field === undefined) return undefined;
    const { value } = events[row] as Recorded<FleetEvent>;
    return (value as unknown as Record<string, unknown>)[field];
  };
  switch (type) {
    case 'UUID': {
      const values = new UuidValues(rows);
      const missing = new Uint8Array(rows);
      for (let row = 0; row < rows; row++) {
        const id = valueAt(row) as string | null | undefined;
        if (id == null) missing[row] = 1;
        else values.set(row, uuidWords(id));
      }
      return values.nullableColumn(name, missing);
    }
    case 'Float64': {
      const values = new Float64Array(rows);
      const missing = new Uint8Array(rows);
      for (let row = 0; row < rows; row++) {
        const number = valueAt(row) as number | null | undefined;
        if (number == null) missing[row] = 1;
        else values[row] = number;
      }
      return nullableColumn(name, type, missing, values);
    }
    case 'Bool': {
      const values = new Uint8Array(rows);
      for (let row = 0; row < rows; row++) if (valueAt(row) === true) values[row] = 1;
      return fixedColumn(name, type, values);
    }
    case 'String':
    case 'LowCardinality(String)': {
      const values = type === 'String' ? new StringValues(Math.max(16, rows)) : new LowCardinalityValues(rows || 1);
      for (let row = 0; row < rows; row++) values.push((valueAt(row) as string | undefined) ?? '');
      return values.column(name);
    }
  }
}

function nativeColumns(columns: EventColumns): NativeColumn[] {
  return [
    columns.vehicleIds.column('vehicle_id'),
    columns.beganAt.column('began_at', TIME),
    columns.ids.column('id'),
    columns.kinds.column('kind'),
    columns.phases.column('phase'),
    columns.startedAt.column('started_at', TIME),
    columns.endedAt.nullableColumn('ended_at', TIME, columns.notEnded),
    fixedColumn('latitude_e7', 'Int32', columns.latitudes),
    fixedColumn('longitude_e7', 'Int32', columns.longitudes),
    nullableColumn('speed_kmh_x10', 'UInt16', columns.noSpeed, columns.speeds),
    columns.fixTimes.column('fix_time', TIME),
    columns.fromFixTimes.column('from_fix_time', TIME),
    fixedColumn('definition_version', 'UInt32', columns.definitionVersions),
    columns.origins.column('origin'),
    fixedColumn('inferred', 'Bool', columns.inferred),
    columns.endReasons.column('end_reason'),
    nullableColumn('start_latitude_e7', 'Int32', columns.noStart, columns.startLatitudes),
    nullableColumn('start_longitude_e7', 'Int32', columns.noStart, columns.startLongitudes),
    columns.driverCodes.column('driver_code'),
    fixedColumn('precedence', 'UInt64', columns.precedence),
  ];
}
