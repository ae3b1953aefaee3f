import { insertBench } from '../../../packages/warehouse/src/insert.bench.ts';
import type { Section } from '../section.ts';

/** What archiving costs: rows a second into the embedded ClickHouse, and bytes a position on the disk. */
export const section: Section = {
  about: 'positions archived a second, and what a position takes on the disk',
  async run(say, quick) {
    const positions = quick ? 100_000 : 1_000_000;
    say(`${positions.toLocaleString('en-US')} positions into the embedded ClickHouse`);
    const result = await insertBench({ positions, batch: positions / 10 });
    const columns = Object.keys(result.bytesByColumn);
    return {
      result,
      tables: [
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
};
