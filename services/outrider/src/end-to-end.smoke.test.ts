import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadDrive } from '@outrider/simulator';
import { test } from 'vitest';
import { expectCommandsDone } from './commanded-fleet.fixture.ts';
import { asDriven, defineFleet, expectAllOfIt, playFleet, TERMINALS, UDP_TERMINALS } from './end-to-end.fixture.ts';
import { LiveRecorder, startService } from './service.fixture.ts';

test('a short drive through every protocol makes its events, live, is archived whole, and takes commands', {
  timeout: 180_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-e2e-'));
  const live = new LiveRecorder();
  const service = await startService(folder);
  try {
    const reached = {
      call: service.call,
      terminalPort: (protocol: keyof typeof service.ports) => service.ports[protocol],
      healthPorts: () => [service.ports.http],
      recorders: [live],
    };
    const drive = asDriven(loadDrive({ limit: 300, source: 'generated' }));
    const fleet = await defineFleet(reached, [drive], [...TERMINALS, ...UDP_TERMINALS]);
    await live.connect(service);
    await playFleet(reached, fleet);
    await expectAllOfIt(reached, fleet);
    await expectCommandsDone(reached, fleet);
  } finally {
    live.close();
    await service.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});
