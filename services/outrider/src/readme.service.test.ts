import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { example, ROOT } from './readme.fixture.ts';
import { spawnService } from './service.fixture.ts';

test('the first five minutes, and a program’s flow after them, work as pasted', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-readme-'));
  const [, password = ''] = /ADMIN_PASSWORD='([^']*)'/.exec(example('start')) ?? [];
  const service = spawnService(join(folder, 'data'), undefined, { ADMIN_PASSWORD: password });
  try {
    const ports = await service.ready;
    if (ports === null) throw new Error(`it did not start: ${service.stderrText()}`);
    const received = join(folder, 'received');
    /** What a part prints goes into a file of its own. */
    const part = (name: string) => `{ ${example(name).trimEnd()}\n} > ${join(folder, name)}`;
    const script = [
      'set -euo pipefail',
      example('login')
        .replace('http://localhost:8080', `http://127.0.0.1:${ports.http}`)
        .replace('http://localhost:5055', `http://127.0.0.1:${ports.osmand}`),
      part('vehicle'),
      part('geozone'),
      'sleep 3',
      `( ${example('watch').trimEnd()} ) > ${received} 2>/dev/null &`,
      `until grep -q resumed ${received} 2>/dev/null; do sleep 0.1; done`,
      part('drive'),
      // It is in the archive soon, whatever else the machine does.
      'sleep 3',
      part('ask'),
      `until grep -q '"kind":"speeding"' ${received} && grep -q '"kind":"geofence-visit"' ${received}; do sleep 0.1; done`,
      `cd ${folder}`,
      example('shorthand'),
      ...['people', 'user', 'refresh', 'api-key', 'feeds', 'files', 'many', 'rights', 'suspension'].map(part),
      // The client is not waited for: it ends when its server does.
    ].join('\n');
    await promisify(execFile)('bash', ['-c', script], { cwd: ROOT, timeout: 100_000 });
    const printed = (name: string) =>
      readFileSync(join(folder, name), 'utf8')
        .split('\n')
        .filter((line) => line !== '');
    const answers = (name: string) => printed(name).map((line) => JSON.parse(line));

    expect(printed('drive')).toEqual(['200', '200', '200']);
    const [state, track] = answers('ask');
    expect(state.position).toMatchObject({ latitude: 52.5199, longitude: 13.405 });
    expect(track.items).toHaveLength(3);
    const messages = answers('received');
    // One that came while another was on its way to the socket may be left out: the newest never is.
    expect(messages.findLast(({ type }) => type === 'position')).toMatchObject({ latitude: 52.5199 });
    expect(
      messages
        .filter(({ type }) => type === 'event')
        .map(({ kind, phase }) => `${kind} ${phase}`)
        .toSorted(),
    ).toEqual(['geofence-visit begin', 'speeding begin', 'trip begin']);

    const [anna] = answers('people');
    expect(anna).toMatchObject({ login: 'anna', role: 'user', apiAccess: true });
    const [vehicles, where, alley] = answers('user');
    expect(vehicles.items).toMatchObject([{ name: 'Van 7', groupIds: [expect.toBeOneOf(anna.groupIds)] }]);
    expect(where.position).toEqual(state.position);
    expect(alley.properties).toMatchObject({ ownerId: anna.id, widthM: 30, speedLimitKmh: 30 });
    expect(answers('refresh')).toMatchObject([{ id: anna.id }]);
    const [byKey, refused, keys] = answers('api-key');
    expect(byKey).toEqual(vehicles);
    expect(refused).toMatchObject({ status: 403, detail: expect.stringContaining('`write`') });
    expect(keys.items).toMatchObject([
      { name: 'Dispatch', scopes: ['read'], groupIds: [expect.toBeOneOf(anna.groupIds)] },
    ]);
    const [feed, rest, heartbeat, ...lines] = answers('feeds');
    expect(feed.items.map(({ kind, phase }: { kind: string; phase: string }) => `${kind} ${phase}`)).toContain(
      'speeding begin',
    );
    expect(rest).toMatchObject({ items: expect.any(Array), nextCursor: expect.any(String), lagSeconds: 0 });
    expect(heartbeat).toMatchObject({ type: 'heartbeat', cursor: expect.any(String) });
    expect(lines.map(({ latitude }) => latitude)).toContain(52.5199);
    const [imported, copied] = answers('files');
    expect(imported).toMatchObject({ dryRun: true, created: 0, updated: 0, unchanged: 1 });
    expect(copied).toMatchObject({ dryRun: false, created: 1, updated: 0, unchanged: 0 });
    const [changed, joined, found] = answers('many');
    expect(changed).toMatchObject({ dryRun: true, updated: 1, unchanged: 0, items: [{ outcome: 'updated' }] });
    expect(joined).toEqual({ dryRun: false, added: 0, removed: 0 });
    expect(found.items).toMatchObject([{ name: 'Van 7', color: null }]);
  } finally {
    await service.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});
