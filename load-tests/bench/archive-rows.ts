import { telemetryRecordsTopic, telemetryTopic } from '@outrider/log';
import { blocksChunks } from '../../packages/warehouse/src/native/block.ts';
import { positionBlock } from '../../packages/warehouse/src/positions/block.ts';
import { packedBlock } from '../../packages/warehouse/src/positions/packed-block.ts';
import { fleetPackets } from '../../packages/warehouse/src/sample.ts';
import { cheapest } from './measure.ts';

/** Processor seconds for a million positions. */
export interface ArchiveRowsCost {
  positionsPerPacket: number;
  /** From the log's bytes to the archive's columns, as the archiver does it. */
  packed: number;
  /** The same by an object for each position. */
  byObjects: number;
  /** The columns' bytes copied once and nothing else: no encoder is cheaper. */
  bare: number;
}

/** Rows that the archiver makes at a time. */
const ROWS = 4096;
const ROUNDS = 20;

/** What it takes to turn the log's records into rows of the archive. */
export function archiveRowsCost(positionsPerPacket: number, positions: number): ArchiveRowsCost {
  const packs: { offset: number; bytes: Buffer }[][] = [];
  const packets = fleetPackets({
    vehicles: 1000,
    positions,
    perPacket: positionsPerPacket,
    startMs: Date.UTC(2026, 0, 1),
  });
  for (let from = 0; from < packets.length; from += ROWS / positionsPerPacket)
    packs.push(
      packets
        .slice(from, from + ROWS / positionsPerPacket)
        .map(({ offset, value }) => ({ offset, bytes: Buffer.from(telemetryTopic.encode(value)) })),
    );
  const packed = (pack: (typeof packs)[number]) =>
    packedBlock(pack.map(({ offset, bytes }) => ({ offset, value: telemetryRecordsTopic.decode(bytes) })));
  const columns = packs.map((pack) => blocksChunks([packed(pack)]));
  const runs = {
    packed: () => {
      for (const pack of packs) packed(pack);
    },
    byObjects: () => {
      for (const pack of packs)
        positionBlock(pack.map(({ offset, bytes }) => ({ offset, value: telemetryTopic.decode(bytes) })));
    },
    bare: () => {
      for (const chunks of columns) Buffer.concat(chunks);
    },
  };
  const cost = cheapest(runs, ROUNDS);
  const perMillion = (seconds: number) => (seconds * 1e6) / positions;
  return {
    positionsPerPacket,
    packed: perMillion(cost.packed),
    byObjects: perMillion(cost.byObjects),
    bare: perMillion(cost.bare),
  };
}
