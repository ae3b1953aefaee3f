import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PacketTrace, type Position, type TelemetryPacket } from '@outrider/domain';
import { COMMIT_GAP_MS, type Log, openSqliteLog, telemetryTopic } from '@outrider/log';
import { decodePackets, loadTerminalId, loadVehicleId, recordPackets } from './drives.ts';
import { timed } from './measure.ts';

const VEHICLES = 1000;
const READERS = 2;
/** Odd: as the gateway spreads the ids of its packets. */
const SPREAD = 0x9e3779b1;

/** How packets come: so many are appended at a time, and so many such appends are under way. */
export interface LogLoad {
  name: string;
  packetsPerAppend: number;
  appendsInFlight: number;
}

/** At 300 positions a second, one a packet, a commit has 5 of them; at full load it has thousands. */
export const LOG_LOADS: readonly LogLoad[] = [
  { name: 'commits of 5 packets', packetsPerAppend: 5, appendsInFlight: 1 },
  { name: 'full load', packetsPerAppend: 1000, appendsInFlight: 4 },
];

export interface LogBytesMeasured {
  load: string;
  perPacket: number;
  positions: number;
  /** Of the records as they are encoded. */
  recordBytesPerPosition: number;
  /** Of the file's used pages, without those of an empty log: the newest MiB is not compressed. */
  fileBytesPerPosition: number;
  /** Of the positions that are compressed, with all that is around their rows; null where none is. */
  compressedBytesPerPosition: number | null;
  /** To encode and append them, and to read and decode them twice. */
  cpuSecondsPerMillion: number;
}

/** What a fleet's positions take in the embedded log, appended to a new file while two readers follow. */
export async function measureLogBytes(
  folder: string,
  load: LogLoad,
  perPacket: number,
  positions: number,
): Promise<LogBytesMeasured> {
  const packets = fleetPackets(perPacket, positions);
  const place = mkdtempSync(join(folder, 'log-bytes-'));
  const path = join(place, 'log.sqlite');
  const commitGapMs = load.appendsInFlight > 1 ? COMMIT_GAP_MS : 0;
  const logs = Array.from({ length: 1 + READERS }, () => openSqliteLog({ path, commitGapMs }));
  try {
    const emptyBytes = usedBytes(path);
    const [log, ...readers] = logs as [Log, ...Log[]];
    const { cpuSeconds } = await timed(async () => {
      const reading = readers.map((reader) => readAll(reader, packets.length));
      await appendAll(log, packets, load);
      await Promise.all(reading);
    });
    const recordBytes = packets.reduce((sum, packet) => sum + telemetryTopic.encode(packet).length, 0);
    const appended = packets.length * perPacket;
    return {
      load: load.name,
      perPacket,
      positions: appended,
      recordBytesPerPosition: recordBytes / appended,
      fileBytesPerPosition: (usedBytes(path) - emptyBytes) / appended,
      compressedBytesPerPosition: compressedBytes(path, emptyBytes, perPacket),
      cpuSecondsPerMillion: (cpuSeconds / appended) * 1e6,
    };
  } finally {
    await Promise.all(logs.map((log) => log.close()));
    rmSync(place, { recursive: true });
  }
}

/** As a gateway makes them, in the order in which they come: each vehicle's first packet, then each one's second. */
function fleetPackets(perPacket: number, positions: number): TelemetryPacket[] {
  const rounds = Math.ceil(positions / VEHICLES / perPacket);
  const endMs = Date.now();
  const byVehicle = Array.from({ length: VEHICLES }, (_, vehicle) =>
    decodePackets(recordPackets(vehicle, rounds * perPacket, perPacket, endMs)),
  );
  const packets: TelemetryPacket[] = [];
  for (let round = 0; round < rounds; round++)
    for (const [vehicle, drive] of byVehicle.entries()) {
      const nth = packets.length;
      packets.push({
        vehicleId: loadVehicleId(vehicle),
        terminalId: loadTerminalId(vehicle),
        protocol: 'teltonika',
        receivedAtMs: endMs - (rounds - round) * perPacket * 1000 + vehicle,
        positions: drive[round] as Position[],
        trace: new PacketTrace(0x5bd1e995, 0x1b873593, 0x27d4eb2f, Math.imul(nth, SPREAD)),
      });
    }
  return packets;
}

async function appendAll(log: Log, packets: readonly TelemetryPacket[], load: LogLoad): Promise<void> {
  let next = 0;
  const appendOn = async () => {
    for (let from = next; from < packets.length; from = next) {
      next += load.packetsPerAppend;
      await log.append(telemetryTopic, packets.slice(from, next));
    }
  };
  await Promise.all(Array.from({ length: load.appendsInFlight }, appendOn));
}

/** Resolves when a reader that follows the log has had so many packets. */
async function readAll(log: Log, packets: number): Promise<void> {
  let read = 0;
  const all = Promise.withResolvers<void>();
  const subscription = await log.consume(telemetryTopic, {
    group: 'reader',
    startAt: () => 'earliest',
    async onBatch({ records }) {
      read += records.length;
      if (read >= packets) all.resolve();
    },
  });
  await Promise.race([all.promise, subscription.failed]);
  await subscription.stop();
}

/** SQLite keeps the pages of rows that were replaced, and writes into them next: they are not counted. */
function usedBytes(path: string): number {
  return (
    queried(path, 'PRAGMA page_size') * (queried(path, 'PRAGMA page_count') - queried(path, 'PRAGMA freelist_count'))
  );
}

/** A position's share of the file, of those that are compressed. */
function compressedBytes(path: string, emptyBytes: number, perPacket: number): number | null {
  const packets = queried(path, 'SELECT max(next_offset) FROM compressed');
  if (packets === 0) return null;
  const plain = queried(path, `SELECT sum(length(records)) FROM "telemetry/0" WHERE base_offset >= ${packets}`);
  return (usedBytes(path) - emptyBytes - plain) / packets / perPacket;
}

/** The number that a query finds; 0 where it is null. */
function queried(path: string, query: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(Object.values(db.prepare(query).get() ?? {})[0]);
  } finally {
    db.close();
  }
}
