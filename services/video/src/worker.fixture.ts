import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { type Files, openFolder } from '@outrider/files';
import { MemoryHub } from '@outrider/hub';
import { followRegistry } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { createLogger, Metrics } from '@outrider/runtime';
import type { FetchPhase } from './driver.ts';
import { FakeTerminals } from './terminals.fixture.ts';
import { createVideo } from './video.ts';

// A video service in a process of its own, so that it can be killed: argument 1 is its folder, argument 2 the phase of
// a fetch that never ends, if any. It takes its time over
// everything.
const [folder = '', holdAt = ''] = process.argv.slice(2);
const registry = await openTestRegistry({ path: join(folder, 'registry.sqlite') });
const { directory } = await followRegistry(registry);
const store = await openFolder(join(folder, 'files'));
const terminals = new FakeTerminals();
terminals.partMs = 4;
if (holdAt !== '') terminals.holdAt = holdAt as FetchPhase;

async function* slowly(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const part of source) {
    await delay(15);
    yield part;
  }
}
const files: Files = {
  put: (id, source) => store.put(id, slowly(source)),
  info: (id) => store.info(id),
  get: (id, range) => store.get(id, range),
  delete: (id) => store.delete(id),
  list: () => store.list(),
  ping: () => store.ping(),
};
const video = createVideo({
  config: {
    spool: join(folder, 'spool'),
    maxDownloads: 2,
    leaseMs: 30_000,
    pollMs: 20,
    isAlone: true,
    retentionDays: 30,
    quotaBytes: 1e9,
  },
  registry,
  directory,
  files,
  hub: new MemoryHub(),
  drivers: [terminals],
  logger: createLogger('warn', 'text'),
  metrics: new Metrics(),
  clock: SYSTEM_CLOCK,
  random: Math.random,
});
await video.start();
process.stdout.write('started\n');
