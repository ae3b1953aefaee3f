import { insertBench } from '../../../packages/warehouse/src/insert.bench.ts';
import { archiveRowsCost } from '../archive-rows.ts';
import { defineSection, figure } from '../section.ts';

/** What archiving costs: rows a second into the embedded ClickHouse, and bytes a position on the disk. */
export const section = defineSection({
  about: 'positions archived a second, and what a position takes on the disk',
  bare: 'the same rows inserted as JSON by the client',
  async run(say, quick) {
    const positions = quick ? 100_000 : 1_000_000;
    say(`${positions.toLocaleString('en-US')} positions into the embedded ClickHouse`);
    const result = await insertBench({ positions, batch: positions / 10 });
    const columns = Object.keys(result.bytesByColumn);
    say('rows made of the bytes of the log');
    const rowCosts = [1, 10].map((perPacket) => archiveRowsCost(perPacket, quick ? 30_000 : 300_000));
    return {
      result: { ...result, rowCosts },
      tables: [
        {
          title: 'From the bytes of the log to columns, processor seconds for a million positions',
          columns: [
            'positions a packet',
            'as the archiver does',
            'by an object of each',
            "bare: the columns' bytes copied",
          ],
          rows: rowCosts.map(({ positionsPerPacket, packed, byObjects, bare }) => [
            positionsPerPacket,
            packed,
            byObjects,
            bare,
          ]),
        },
        {
          title: `Archiving ${result.positions.toLocaleString('en-US')} positions, ${result.batch.toLocaleString('en-US')} at a time`,
          columns: ['what', 'positions/s'],
          rows: [
            ['made into columns, nothing inserted', result.buildPerSecond],
            ['inserted, as the archiver does', result.insertPerSecond],
            ['inserted as JSON by the client', result.jsonPerSecond],
          ],
        },
        {
          title: 'Bytes a position on the disk',
          columns: ['column', 'generated fleet', 'recorded drive'],
          rows: [
            ['all', result.bytesPerPosition, result.recorded?.bytesPerPosition ?? null],
            ...columns.map((column): [string, number | null, number | null] => [
              column,
              result.bytesByColumn[column] ?? null,
              result.recorded?.bytesByColumn[column] ?? null,
            ]),
          ],
        },
        {
          title: 'Resident memory of its process, MB',
          columns: ['when', 'MB'],
          rows: [
            ['engine open', result.rssIdleMb],
            ['after the inserts', result.rssAfterMb],
          ],
        },
      ],
    };
  },
  figures: (result) => [
    figure('positions archived', 'positions/s', result.insertPerSecond, { bare: result.jsonPerSecond }),
    figure('a position on the disk', 'bytes', result.bytesPerPosition, { goal: { atMost: 8 } }),
    figure('a recorded position on the disk', 'bytes', result.recorded?.bytesPerPosition, { goal: { atMost: 8 } }),
    ...result.rowCosts.map(({ positionsPerPacket, packed, bare }) =>
      figure(`archive rows of packets with ${positionsPerPacket}`, 'CPU s per million', packed, { bare }),
    ),
  ],
});
