import { fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { blankPosition, type Position, type TelemetryPacket, type TerminalId, type VehicleId } from '@outrider/domain';
import { telemetryTopic } from '../topics.ts';
import { COMMIT_GAP_MS, openSqliteLog } from './open.ts';

/** Result of a run. Rates are per second of wall clock. */
export interface AppendBench {
  positionsPerPacket: number;
  packetsPerAppend: number;
  appendsInFlight: number;
  /** Bytes of Avro per position. */
  bytesPerPosition: number;
  /** Packets that were encoded and are durable. */
  packetsPerSecond: number;
  positionsPerSecond: number;
  bytesPerSecond: number;
  /** Time from the call of `append` until it resolved. */
  acknowledgedP50Ms: number;
  acknowledgedP99Ms: number;
  /**
   * Baseline of the disk: the same bytes appended to a bare file and synced, in writes of the average size of a commit.
   */
  bareFileBytesPerSecond: number;
  bytesPerBareSync: number;
  /** Rate of reading back and decoding. */
  readPositionsPerSecond: number;
  encodePositionsPerSecond: number;
  decodePositionsPerSecond: number;
}

export interface AppendBenchOptions {
  /** A folder on the disk to be measured. */
  folder: string;
  seconds?: number;
  positionsPerPacket?: number;
  packetsPerAppend?: number;
  appendsInFlight?: number;
}

/** Measures durable appends of telemetry to the SQLite log beside the bare cost of the disk, in one run. */
export async function benchAppend(options: AppendBenchOptions): Promise<AppendBench> {
  const { folder, seconds = 5, positionsPerPacket = 10, packetsPerAppend = 1, appendsInFlight = 2000 } = options;
  const place = mkdtempSync(join(folder, 'append-bench-'));
  try {
    const packets = Array.from({ length: 1000 }, (_, i) => packetOf(i, positionsPerPacket));
    const encoded = packets.map((packet) => Buffer.from(telemetryTopic.encode(packet)));
    const bytesPerPacket = encoded.reduce((sum, { length }) => sum + length, 0) / encoded.length;

    const log = openSqliteLog({ path: join(place, 'log.sqlite'), commitGapMs: COMMIT_GAP_MS });
    const waitsMs: number[] = [];
    let appended = 0;
    await log.append(telemetryTopic, packets);
    const beginMs = performance.now();
    const endMs = beginMs + seconds * 1000;
    const appendOn = async (first: number) => {
      for (let i = first; performance.now() < endMs; i += packetsPerAppend) {
        const begun = performance.now();
        const at = i % (packets.length - packetsPerAppend + 1);
        await log.append(telemetryTopic, packets.slice(at, at + packetsPerAppend));
        appended += packetsPerAppend;
        waitsMs.push(performance.now() - begun);
      }
    };
    await Promise.all(Array.from({ length: appendsInFlight }, (_, i) => appendOn(i)));
    const took = (performance.now() - beginMs) / 1000;

    const readBeginMs = performance.now();
    let read = 0;
    for await (const { records } of log.read(telemetryTopic, 0, 'earliest', appended)) read += records.length;
    const readTook = (performance.now() - readBeginMs) / 1000;
    await log.close();

    waitsMs.sort((a, b) => a - b);
    // A commit takes what arrived during the previous one: about half of the appends in flight, or all of them.
    const bytesPerBareSync = Math.round(appendsInFlight * packetsPerAppend * bytesPerPacket);
    return {
      positionsPerPacket,
      packetsPerAppend,
      appendsInFlight,
      bytesPerPosition: bytesPerPacket / positionsPerPacket,
      packetsPerSecond: appended / took,
      positionsPerSecond: (appended * positionsPerPacket) / took,
      bytesPerSecond: (appended * bytesPerPacket) / took,
      acknowledgedP50Ms: waitsMs[Math.floor(waitsMs.length * 0.5)] ?? Number.NaN,
      acknowledgedP99Ms: waitsMs[Math.floor(waitsMs.length * 0.99)] ?? Number.NaN,
      bareFileBytesPerSecond: bareFile(join(place, 'bare'), bytesPerBareSync, (seconds * 1000) / 4),
      bytesPerBareSync,
      readPositionsPerSecond: (read * positionsPerPacket) / readTook,
      encodePositionsPerSecond:
        ratePerSecond(() => packets.forEach(telemetryTopic.encode), packets.length) * positionsPerPacket,
      decodePositionsPerSecond:
        ratePerSecond(() => encoded.forEach(telemetryTopic.decode), encoded.length) * positionsPerPacket,
    };
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** Throughput of only appending and syncing, in bytes per second. */
function bareFile(path: string, bytesPerSync: number, forMs: number): number {
  const file = openSync(path, 'w');
  const bytes = Buffer.alloc(bytesPerSync, 7);
  const beginMs = performance.now();
  let written = 0;
  while (performance.now() - beginMs < forMs) {
    written += writeSync(file, bytes);
    fdatasyncSync(file);
  }
  return (written / (performance.now() - beginMs)) * 1000;
}

function ratePerSecond(action: () => void, count: number): number {
  for (let i = 0; i < 20; i++) action();
  const beginMs = performance.now();
  let runs = 0;
  while (performance.now() - beginMs < 500) {
    action();
    runs++;
  }
  return ((runs * count) / (performance.now() - beginMs)) * 1000;
}

function packetOf(number: number, positions: number): TelemetryPacket {
  const receivedAtMs = Date.UTC(2026, 0, 1, 12) + number * 1000;
  return {
    vehicleId: `018f4c1e-7a00-7000-8000-${String(number).padStart(12, '0')}` as VehicleId,
    terminalId: String(356307042441013 + number) as TerminalId,
    protocol: 'teltonika',
    receivedAtMs,
    positions: Array.from({ length: positions }, (_, i) =>
      positionOf(receivedAtMs - (positions - i) * 1000, number + i),
    ),
  };
}

function positionOf(fixTimeMs: number, number: number): Position {
  return Object.assign(blankPosition(fixTimeMs, 55.75 + number * 1e-4, 37.61 + number * 1e-4), {
    speedKmh: number % 90,
    courseDeg: number % 360,
    altitudeM: 150,
    satellites: 12,
    ignition: true,
    odometerM: 123_456_000 + number,
    supplyV: 13.8,
    fuelL: 55.5,
  });
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { folder: { type: 'string', default: '.' }, positions: { type: 'string', default: '10' } },
  });
  const result = await benchAppend({ folder: values.folder, positionsPerPacket: Number(values.positions) });
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
}
