import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { call, logIn, type ServiceProcess, spawnService } from './service.fixture.ts';

/** Folders of data as releases left them: each was written by the demo of the release, and then killed. */
const HISTORY = new URL('../../../schemas/history/', import.meta.url);
const RELEASES = readdirSync(HISTORY, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
/** What that release itself said of it. */
const FIGURES: Record<string, { vehicles: number; positions: number; trips: number; speeding: number }> = {
  'v0.1.0': { vehicles: 26, positions: 1422, trips: 25, speeding: 16 },
};
const DAY = 'from=2026-11-22T00:00:00Z&to=2026-11-23T00:00:00Z&limit=1000';

test.each(RELEASES)('data of %s opens, says what it said then, and goes on', { timeout: 240_000 }, async (release) => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-golden-'));
  let service: ServiceProcess | null = null;
  try {
    execFileSync('tar', ['-xzf', new URL(`${release}/data-dir.tgz`, HISTORY).pathname, '-C', folder]);
    // However long ago it was written.
    service = spawnService(folder, undefined, { TELEMETRY_RETENTION_HOURS: '87600' });
    const { stderrText } = service;
    const ports = await service.ready;
    if (ports === null) throw new Error(`the service did not start:\n${stderrText()}`);
    const jwt = await logIn(ports.http, 'demo', 'outrider-demo');
    const items = async (path: string): Promise<{ id: string }[]> => {
      const found: { id: string }[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const page = await call<{ items: { id: string }[]; nextCursor: string | null }>(
          ports.http,
          jwt,
          'GET',
          `${path}${more}`,
        );
        found.push(...page.items);
        cursor = page.nextCursor;
      }
      return found;
    };
    const vehicles = await items('/api/v1/vehicles?limit=1000');
    const figures = async () => ({
      vehicles: vehicles.length,
      positions: (
        await Promise.all(vehicles.map(({ id }) => items(`/api/v1/reports/track?vehicleId=${id}&${DAY}`)))
      ).flat().length,
      trips: (await items(`/api/v1/reports/trips?${DAY}`)).length,
      speeding: (await items(`/api/v1/reports/speeding?${DAY}`)).length,
    });
    // What was acknowledged before it was killed is archived now.
    await vi.waitFor(async () => expect(await figures()).toEqual(FIGURES[release]), { timeout: 60_000, interval: 500 });
    expect((await items('/api/v1/geozones?limit=1000')).length).toBeGreaterThan(0);
    await call(ports.http, jwt, 'PATCH', '/api/v1/me', { name: 'Renamed' });
    for (const line of stderrText()
      .split('\n')
      .filter((text) => text.includes('"level":50')))
      throw new Error(`an error while it ran: ${line}`);
    expect(await service.interrupt()).toBe(0);
    service = null;
  } finally {
    await service?.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});
