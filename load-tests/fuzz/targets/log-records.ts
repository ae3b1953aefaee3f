import { isDeepStrictEqual } from 'node:util';
import {
  ALARMS,
  type DefinitionChange,
  type EventId,
  type FleetEvent,
  type GeofenceId,
  type TelemetryPacket,
  type TerminalId,
} from '@outrider/domain';
import type { Topic } from '@outrider/log';
import { protocols } from '@outrider/protocols';
import type { Random } from '@outrider/simulator';
import { decodeDeadLetter, encodeDeadLetter } from '../../../packages/log/src/avro/dead-letter.ts';
import {
  correctionsTopic,
  definitionsTopic,
  eventsTopic,
  lateTopic,
  telemetryRecordsTopic,
  telemetryTopic,
} from '../../../packages/log/src/topics.ts';
import { packedBlock } from '../../../packages/warehouse/src/positions/packed-block.ts';
import { loadVehicleId } from '../../bench/drives.ts';
import { somePosition } from '../positions.ts';
import { claim, type Target } from '../target.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const ID = '01990000-0000-7000-8000-000000000001';
const HEADER_BYTES = 10;

/** What the services read from the log's topics, which others may have written to. */
export const logRecordTargets: readonly Target[] = [
  recordTarget('telemetry', telemetryTopic, somePacket),
  recordTarget('telemetry in the archive', { encode: telemetryTopic.encode, decode: decodeAndArchive }, somePacket),
  recordTarget('events', eventsTopic, someEvent),
  recordTarget('late', lateTopic, (random) => ({
    vehicleId: loadVehicleId(1),
    fromMs: NOW_MS - Math.floor(random.next() * 1e9),
    toMs: NOW_MS,
    receivedAtMs: NOW_MS,
    hasAlarm: random.next() < 0.5,
  })),
  recordTarget('corrections', correctionsTopic, (random) => ({
    event: someEvent(random),
    removed: random.next() < 0.3,
  })),
  recordTarget('definitions', definitionsTopic, someChange),
  recordTarget('dead letters', { encode: encodeDeadLetter, decode: decodeDeadLetter }, (random) => ({
    topic: 'telemetry',
    partition: Math.floor(random.next() * 12),
    offset: Math.floor(random.next() * 1e9),
    reader: 'rules',
    reason: 'it could not be processed',
    diedAtMs: NOW_MS,
    record: random.next() < 0.8 ? Buffer.from('a record') : null,
    replayedAtMs: random.next() < 0.5 ? NOW_MS : null,
  })),
];

function recordTarget<T>(
  name: string,
  topic: Pick<Topic<T>, 'encode' | 'decode'>,
  some: (random: Random) => T,
): Target {
  return {
    name: `log ${name}`,
    covers: ['/log/src/avro/'],
    words: [
      Buffer.of(0xff, 0xff, 0xff, 0xff, 0x0f),
      Buffer.of(0xfe, 0xff, 0xff, 0xff, 0x0f),
      Buffer.of(1),
      Buffer.of(2),
      Buffer.of(0x80, 0x80, 0x04),
      Buffer.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
      Buffer.from('__proto__'),
      Buffer.of(0x12, ...Buffer.from('__proto__')),
    ],
    framing: {
      // Behind a header that is left alone in most of them, as anything else is refused at once.
      split: (wire) => [wire.subarray(0, HEADER_BYTES), wire.subarray(HEADER_BYTES)],
      wrap: (plain) => plain,
      seal: (plain) => plain,
    },
    maxBytes: 4096,
    seeds: (random) => Array.from({ length: 3 }, () => Buffer.from(topic.encode(some(random)))),
    run(input) {
      let value: T;
      try {
        value = topic.decode(Buffer.from(input));
      } catch (error) {
        claim(error instanceof Error && !(error instanceof TypeError), () => `it throws ${String(error)}`);
        return 'refused';
      }
      const again = topic.decode(Buffer.from(topic.encode(value)));
      claim(
        isDeepStrictEqual(topic.decode(Buffer.from(topic.encode(again))), again),
        () => 'what was read is not what is written of it',
      );
      return 'accepted';
    },
  };
}

function somePacket(random: Random): TelemetryPacket {
  return {
    vehicleId: loadVehicleId(1),
    terminalId: '356307042441013' as TerminalId,
    protocol: random.pick(protocols).name,
    receivedAtMs: NOW_MS,
    positions: Array.from({ length: 1 + Math.floor(random.next() * 4) }, () => somePosition(random)),
  };
}

/** Reads the bytes as the archiver does. */
function decodeAndArchive(bytes: Buffer): TelemetryPacket {
  packedBlock([{ offset: 0, value: telemetryRecordsTopic.decode(bytes) }]);
  return telemetryTopic.decode(bytes);
}

function someEvent(random: Random): FleetEvent {
  const base = {
    id: ID as EventId,
    phase: random.pick(['begin', 'end'] as const),
    vehicleId: loadVehicleId(2),
    startedAtMs: NOW_MS,
    endedAtMs: random.next() < 0.5 ? null : NOW_MS + 1000,
    latitude: random.between(-90, 90),
    longitude: random.between(-180, 180),
    speedKmh: random.next() < 0.5 ? null : 61.5,
    fromFixTimeMs: NOW_MS,
    fixTimeMs: NOW_MS,
    definitionVersion: 7,
    origin: random.pick(['live', 'recalculated'] as const),
    inferred: random.next() < 0.5,
  };
  const geofenceId = ID as GeofenceId;
  return random.pick<FleetEvent>([
    { kind: 'geofence-visit', ...base, geofenceId, endReason: 'left' },
    {
      kind: 'speeding',
      ...base,
      limitSource: 'vehicle',
      geofenceId,
      limitKmh: 60,
      peakKmh: 80,
      meanKmh: 70,
      distanceM: 900,
      endReason: 'slowed',
    },
    {
      kind: 'trip',
      ...base,
      startLatitude: 1,
      startLongitude: 2,
      distanceM: 1000,
      movingMs: 60_000,
      idlingMs: 0,
      maxKmh: 80,
      meanKmh: 60,
      endReason: 'stopped',
    },
    { kind: 'alarm', ...base, alarm: random.pick(ALARMS), endReason: null },
  ]);
}

function someChange(random: Random): DefinitionChange {
  const point = () => [random.between(-180, 180), random.between(-90, 90)] as const;
  const shape = random.pick([
    { type: 'polygon', rings: [[point(), point(), point()]] },
    { type: 'multipolygon', polygons: [[[point(), point(), point()]], [[point(), point()]]] },
    { type: 'circle', center: point(), radiusM: 100 },
    { type: 'line', path: [point(), point()], widthM: 20 },
  ]);
  const definition = random.pick([
    {
      kind: 'group',
      id: ID,
      version: 3,
      name: 'North',
      dealerId: null,
      retentionDays: 30,
      externalId: 'N',
      customAttributes: { a: 'x', b: 2, c: true },
    },
    {
      kind: 'geofence',
      id: ID,
      version: 3,
      name: 'Depot',
      ownerId: ID,
      shape,
      groupIds: [ID],
      speedLimitKmh: 30,
      minDwellSeconds: 0,
      color: '#1f5fc4',
      description: null,
      category: null,
      sharedWithOrganisation: false,
      sharedGroupIds: [],
      externalId: null,
      customAttributes: {},
    },
  ]);
  return {
    kind: definition.kind,
    id: ID,
    version: 3,
    changedAtMs: NOW_MS,
    definition: random.next() < 0.2 ? null : definition,
  } as unknown as DefinitionChange;
}
