import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadDrive } from '@outrider/simulator';
import { test } from 'vitest';
import { asDriven, defineFleet, expectAllOfIt, playFleet } from './end-to-end.fixture.ts';
import { LiveRecorder, startService } from './service.fixture.ts';

test('a short drive through every protocol makes its events, live, and is archived whole', {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-e2e-'));
  const live = new LiveRecorder();
  const service = await startService(folder);
  try {
    const reached = {
      call: service.call,
      terminalPort: (protocol: keyof typeof service.ports) => service.ports[protocol],
      recorders: [live],
    };
    const fleet = await defineFleet(reached, [asDriven(loadDrive({ limit: 300, source: 'generated' }))]);
    await live.connect(service);
    await playFleet(reached, fleet);
    await expectAllOfIt(reached, fleet);
  } finally {
    live.close();
    await service.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});
