import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Figures, GoldenService, type TimeRange, unpack } from './data-dir-figures.fixture.ts';
import { HISTORY, RELEASES } from './fingerprints.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 500 };
let folder: string;
let service: GoldenService | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-golden-'));
});
afterEach(async () => {
  await service?.kill();
  service = null;
  rmSync(folder, { recursive: true, force: true });
});

test.each(RELEASES)(
  'an upgrade from %s in one process, and the way back that upgrade.md promises',
  {
    timeout: 240_000,
  },
  async (release) => {
    const home = new URL(`${release}/`, HISTORY);
    const { from, to, password, ...expected } = JSON.parse(
      readFileSync(new URL('data-dir.json', home), 'utf8'),
    ) as Figures & TimeRange & { password: string };
    const [data, copy] = [join(folder, 'data'), join(folder, 'copy')];
    mkdirSync(data);
    unpack(new URL('data-dir.tgz', home).pathname, data);
    cpSync(data, copy, { recursive: true });

    // What was acknowledged before the crash is archived now, and everything is as that release reported it.
    service = await GoldenService.start(data, password);
    const upgraded = service;
    await vi.waitFor(async () => expect(await upgraded.figures({ from, to })).toEqual(expected), PATIENCE);
    expect((await service.items('/api/v1/geozones?limit=1000')).length).toBeGreaterThan(0);
    await service.call('PATCH', '/api/v1/me', { name: 'Renamed' });
    expect(service.errors()).toEqual([]);
    expect(await service.stop()).toBe(0);

    // Back: the copy in the place of the folder, as upgrade.md says.
    rmSync(data, { recursive: true });
    cpSync(copy, data, { recursive: true });
    service = await GoldenService.start(data, password);
    const restored = service;
    await vi.waitFor(async () => expect(await restored.figures({ from, to })).toEqual(expected), PATIENCE);
    expect((await service.call<{ name: string }>('GET', '/api/v1/me')).name).not.toBe('Renamed');
    expect(await service.stop()).toBe(0);
    service = null;
  },
);
