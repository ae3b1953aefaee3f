import { tmpdir } from 'node:os';
import { benchAppend } from '../../../packages/log/src/sqlite/append.bench.ts';
import type { Section } from '../section.ts';

/** Durable appends to the embedded log, beside bare writes of the same size to the same disk. */
export const section: Section = {
  about: 'positions appended to the embedded log a second, on the disk when counted',
  async run(say, quick) {
    const result = [];
    for (const positionsPerPacket of [10, 1]) {
      say(`${positionsPerPacket} a packet`);
      result.push(await benchAppend({ folder: tmpdir(), positionsPerPacket, seconds: quick ? 1 : 5 }));
    }
    return {
      result,
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
          rows: result.map((row) => [
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
          rows: result.map((row) => [
            row.positionsPerPacket,
            row.encodePositionsPerSecond,
            row.decodePositionsPerSecond,
            row.readPositionsPerSecond,
          ]),
        },
      ],
    };
  },
};
