import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteLog, setAside } from '@outrider/log';
import { createMetricsAccess, Metrics, NotReadyError } from '@outrider/runtime';
import type { ArchiveGap } from '@outrider/warehouse';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

let folder: string;
let log: ReturnType<typeof openSqliteLog>;
let world: World;
let jwt: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'operator-'));
  log = openSqliteLog({ path: join(folder, 'log.sqlite') });
  const metrics =
    'outrider_live_clients 3\noutrider_log_bytes 5000\noutrider_terminal_connections{protocol="gt06"} 2\n';
  world = await World.open(
    { serviceLimits: { liveClients: 100, logBytes: 10_000 }, mapFolders: [folder] },
    {
      log,
      metricsAccess: createMetricsAccess(async () => metrics, null),
      checks: {
        registry: async () => {},
        log: async () => {
          throw new NotReadyError('full', ['The log takes no packets.']);
        },
      },
    },
  );
  jwt = (await world.member('boss', 'operator')).jwt;
});
afterEach(async () => {
  await world.close();
  await log.close();
  rmSync(folder, { recursive: true });
});

test('the status names parts, uses and the last hour', async () => {
  const { status, body } = await world.call('GET', '/api/v1/operator/status', { jwt });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    status: 'failed',
    parts: [
      { name: 'registry', status: 'ok', warnings: [] },
      { name: 'log', status: 'failed', warnings: ['The log takes no packets.'] },
    ],
    nodeVersion: process.versions.node,
    startedAt: new Date(world.nowMs).toISOString(),
    history: { stepSeconds: 15, at: [new Date(world.nowMs).toISOString()] },
  });
  expect(body.version).toMatch(/^\d+\.\d+\.\d+/);
  expect(body.uses).toContainEqual({ name: 'liveClients', used: 3, limit: 100 });
  expect(body.uses).toContainEqual({ name: 'logBytes', used: 5000, limit: 10_000 });
  expect(body.uses).toContainEqual({ name: 'terminals', used: 2, limit: null });
  expect(body.uses).toContainEqual({ name: 'reportBytes', used: 0, limit: null });
  expect(body.history.series).toMatchObject({ liveClients: [3], positionsPerSecond: [null] });
});

test('what was put aside is listed by the page, and its bytes are given as they are', async () => {
  const place = { topic: 'telemetry', partition: 0, reader: 'rules', reason: 'RangeError' };
  const bytes = Buffer.from([0, 255, 10, 13]);
  await setAside(log, { ...place, offset: 1, record: bytes }, world.nowMs);
  await setAside(log, { ...place, topic: 'events', offset: 2, record: Buffer.from('x') }, world.nowMs + 1);
  const first = await world.call('GET', '/api/v1/operator/dead-letters?limit=1', { jwt });
  expect(first.body.items).toMatchObject([{ topic: 'events', offset: 2, bytes: 1, reason: 'RangeError' }]);
  const path = `/api/v1/operator/dead-letters?limit=1&cursor=${first.body.nextCursor}`;
  const second = (await world.call('GET', path, { jwt })).body;
  expect([second.items[0].topic, second.nextCursor]).toEqual(['telemetry', null]);
  const request = new Request(`http://outrider.test/api/v1/operator/dead-letters/file?id=${second.items[0].id}`, {
    headers: { authorization: `JWT ${jwt}` },
  });
  const answer = await world.api.fetch(request);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
  expect(answer.headers.get('content-disposition')).toContain('telemetry-0-1.bin');
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
  for (const id of ['nothing/0@1/rules', 'telemetry/0@9/rules'])
    expect((await world.call('GET', `/api/v1/operator/dead-letters/file?id=${id}`, { jwt })).status).toBe(404);
});

test('sessions of all accounts, page by page', async () => {
  const anna = await world.member('anna');
  const logins: string[] = [];
  let cursor = '';
  do {
    const { body } = await world.call('GET', `/api/v1/operator/sessions?limit=1${cursor}`, { jwt });
    logins.push(...body.items.map(({ login }: { login: string }) => login));
    cursor = body.nextCursor && `&cursor=${body.nextCursor}`;
  } while (cursor);
  expect(logins.toSorted()).toEqual(['anna', 'boss']);
  expect((await world.call('GET', '/api/v1/operator/sessions', anna)).status).toBe(403);
});

test('files of maps say what became of them', async () => {
  writeFileSync(join(folder, 'later.mbtiles'), 'added after the start');
  writeFileSync(join(folder, 'notes.txt'), 'no map');
  const { items } = (await world.call('GET', '/api/v1/operator/maps', { jwt })).body;
  const states = Object.fromEntries(items.map(({ file, state }: { file: string; state: string }) => [file, state]));
  expect(states).toMatchObject({ 'later.mbtiles': 'new', 'notes.txt': 'refused' });
});

test('a dealer and a user see nothing of it', async () => {
  const dealer = await world.member('carl', 'dealer');
  for (const path of ['status', 'sessions', 'dead-letters', 'dead-letters/file?id=telemetry/0@4/rules', 'maps'])
    expect((await world.call('GET', `/api/v1/operator/${path}`, dealer)).status, path).toBe(403);
});

test('the audit trail by what was done and to what', async () => {
  const { body: group } = await world.call('POST', '/api/v1/vehicle-groups', { jwt, body: { name: 'North' } });
  await world.call('PATCH', `/api/v1/vehicle-groups/${group.id}`, { jwt, body: { name: 'South' } });
  const trail = async (query: string) =>
    (await world.call('GET', `/api/v1/audit?${query}`, { jwt })).body.items?.map(
      ({ action, subject }: { action: string; subject: { name: string } }) => `${action} ${subject.name}`,
    );
  expect(await trail('kind=group')).toEqual(['changed South', 'created North']);
  expect(await trail('kind=group&action=created')).toEqual(['created North']);
  expect((await world.call('GET', '/api/v1/audit?action=burned', { jwt })).status).toBe(400);
});

test('what the archive lacks is listed, and accepted', async () => {
  const lost: ArchiveGap = {
    ...{ id: 'positions/202601_2_2', table: 'positions', reason: 'gone', path: null, rows: 12, vehicles: 1 },
    ...{ fromMs: 0, toMs: 1000, offsets: null, log: null, hasCorrections: false, noticedAtMs: world.nowMs },
    ...{ restored: 'not', isAccepted: false },
  };
  let gaps = [lost, { ...lost, id: 'events/202601_5_5', noticedAtMs: world.nowMs + 1, restored: null }];
  world.api = world.remake({
    metrics: new Metrics(),
    archiveGaps: {
      gaps: async () => gaps,
      updateGap: async (changed) => {
        gaps = gaps.map((gap) => (gap.id === changed.id ? changed : gap));
      },
    },
  });
  const { body } = await world.call('GET', '/api/v1/operator/archive-gaps', { jwt });
  expect(body.items.map(({ id, restored }: ArchiveGap) => [id, restored])).toEqual([
    ['events/202601_5_5', null],
    ['positions/202601_2_2', 'not'],
  ]);
  expect(body.items[1]).toEqual({
    ...{ id: 'positions/202601_2_2', table: 'positions', reason: 'gone', path: null, rows: 12, vehicles: 1 },
    ...{ from: '1970-01-01T00:00:00.000Z', to: '1970-01-01T00:00:01.000Z', noticedAt: '2026-01-15T12:00:00.000Z' },
    ...{ restored: 'not', isAccepted: false },
  });
  const accept = (id: string, by = jwt) =>
    world.call('POST', '/api/v1/operator/archive-gaps/accept', { jwt: by, body: { id } });
  expect((await accept('positions/202601_2_2')).body.isAccepted).toBe(true);
  expect(gaps.map(({ isAccepted }) => isAccepted)).toEqual([true, false]);
  expect((await accept('positions/202601_9_9')).status).toBe(404);
  const { jwt: other } = await world.member('anna', 'user');
  expect((await accept('events/202601_5_5', other)).status).toBe(403);
  expect((await world.call('GET', '/api/v1/operator/archive-gaps', { jwt: other })).status).toBe(403);
});
