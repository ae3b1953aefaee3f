import { Worker } from 'node:worker_threads';
import { type CodecResult, type CodecTask, codecNames } from '../codecs/codec-worker.ts';
import { defineSection, figure } from '../section.ts';

const POSITIONS = 20_000;

/**
 * What each codec decodes a second on one core: frames of ten positions, and of one, from 64 KiB reads, as the gateway
 * feeds it.
 */
export const section = defineSection({
  about: 'frames and positions decoded a second on one core, beside a CRC over the same bytes',
  bare: 'a check sum over the same bytes',
  async run(say, quick) {
    const results: CodecResult[] = [];
    // One at a time over HTTP: there is no other way.
    for (const codec of codecNames)
      for (const perPacket of codec === 'osmand query' ? [1] : [10, 1]) {
        say(`${codec}, ${perPacket} a packet`);
        results.push(await inThread({ codec, positions: POSITIONS, perPacket, forMs: quick ? 200 : 2000 }));
      }
    return {
      result: results,
      tables: [
        {
          title: 'Codecs: decoding on one core',
          columns: ['codec', 'a frame', 'bytes/position', 'frames/s', 'positions/s', 'CRC alone, positions/s', 'ratio'],
          rows: results.map((each) => [
            each.codec,
            each.positionsPerFrame,
            each.bytesPerPosition,
            each.framesPerSecond,
            each.positionsPerSecond,
            each.crcPositionsPerSecond,
            each.ofCrc,
          ]),
        },
      ],
    };
  },
  figures: (rows) =>
    rows.map((row) =>
      figure(`${row.codec}, ${row.positionsPerFrame} a packet`, 'positions/s', row.positionsPerSecond, {
        bare: row.crcPositionsPerSecond,
      }),
    ),
});

function inThread(task: CodecTask): Promise<CodecResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('../codecs/codec-worker.ts', import.meta.url), { workerData: task });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}
