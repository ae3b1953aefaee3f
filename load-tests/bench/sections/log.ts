import { tmpdir } from 'node:os';
import { benchAppend } from '../../../packages/log/src/sqlite/append.bench.ts';
import { LOG_LOADS, type LogBytesMeasured, measureLogBytes } from '../log-bytes.ts';
import { defineSection, figure } from '../section.ts';

/** What a position may take on the disk while it is in the log, with one a packet. */
const GOAL_BYTES = 60;
/** Enough that most of them are compressed. */
const SMALL_PACKETS = 60_000;
const FULL_PACKETS = 60_000;

/** Durable appends to the embedded log, beside bare writes of the same size to the same disk. */
export const section = defineSection({
  about: 'positions appended to the embedded log a second, on the disk when counted',
  bare: 'writes of the same size to a file, each synced',
  async run(say, quick) {
    const rates = [];
    for (const positionsPerPacket of [10, 1]) {
      say(`${positionsPerPacket} a packet`);
      rates.push(await benchAppend({ folder: tmpdir(), positionsPerPacket, seconds: quick ? 1 : 5 }));
    }
    const bytes: LogBytesMeasured[] = [];
    for (const load of LOG_LOADS)
      for (const perPacket of [1, 10]) {
        say(`bytes, ${load.name}, ${perPacket} a packet`);
        const packets = load.appendsInFlight > 1 ? FULL_PACKETS : SMALL_PACKETS;
        bytes.push(await measureLogBytes(tmpdir(), load, perPacket, (perPacket * packets) / (quick ? 3 : 1)));
      }
    return {
      result: { rates, bytes },
      tables: [
        {
          title: 'Embedded log: durable appends',
          columns: [
            'a packet',
            'packets/s',
            'positions/s',
            'bytes/position',
            'MB/s',
            'bare file MB/s',
            'p50 ms',
            'p99 ms',
          ],
          rows: rates.map((row) => [
            row.positionsPerPacket,
            row.packetsPerSecond,
            row.positionsPerSecond,
            row.bytesPerPosition,
            row.bytesPerSecond / 1e6,
            row.bareFileBytesPerSecond / 1e6,
            row.acknowledgedP50Ms,
            row.acknowledgedP99Ms,
          ]),
        },
        {
          title: 'Beside it, positions/s',
          columns: ['a packet', 'encoded', 'decoded', 'read back and decoded'],
          rows: rates.map((row) => [
            row.positionsPerPacket,
            row.encodePositionsPerSecond,
            row.decodePositionsPerSecond,
            row.readPositionsPerSecond,
          ]),
        },
        {
          title: 'Bytes a position in the log, and what it costs to append it once and to read it twice',
          columns: ['load', 'a packet', 'positions', 'record', 'on the disk', 'of those compressed', 's/M'],
          rows: bytes.map((row) => [
            row.load,
            row.perPacket,
            row.positions,
            row.recordBytesPerPosition,
            row.fileBytesPerPosition,
            row.compressedBytesPerPosition,
            row.cpuSecondsPerMillion,
          ]),
        },
      ],
    };
  },
  figures: ({ rates, bytes }) => [
    ...rates.map((row) =>
      figure(`appended and synced, ${row.positionsPerPacket} a packet`, 'MB/s', row.bytesPerSecond / 1e6, {
        bare: row.bareFileBytesPerSecond / 1e6,
      }),
    ),
    ...bytes
      .filter(({ compressedBytesPerPosition }) => compressedBytesPerPosition !== null)
      .map(({ load, perPacket, compressedBytesPerPosition }) =>
        figure(`a position in the log, ${load}, ${perPacket} a packet`, 'bytes', compressedBytesPerPosition, {
          goal: perPacket === 1 ? { atMost: GOAL_BYTES } : null,
        }),
      ),
  ],
});
