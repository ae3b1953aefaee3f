import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blankPosition, type Position, type TerminalId } from '@outrider/domain';
import { openRegistryFile } from '@outrider/registry/blank';
import { playDrive } from '@outrider/simulator';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { inForce, LiveRecorder, type RunningService, startService } from './service.fixture.ts';

const PATIENCE = { timeout: 90_000, interval: 20 };
const TERMINAL = '356307042441013' as TerminalId;
const FIXES = 6000;
const T0 = Math.floor((Date.now() - 12 * 3_600_000) / 1000) * 1000;

interface Job {
  id: string;
  kind: string;
  state: string;
  rows: number;
  error: string | null;
  scheduleId: string | null;
  result: { rows: number; bytes: number; name: string } | null;
}

let folder: string;
let service: RunningService | null = null;
const live = new LiveRecorder();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-reports-'));
});
afterEach(async () => {
  live.close();
  await service?.kill();
  service = null;
  rmSync(folder, { recursive: true, force: true });
});

const stored = () => readdirSync(join(folder, 'reports')).filter((name) => !name.startsWith('.'));

/** Bytes of a report's file, as its user fetches it. */
async function fileOf({ ports, jwt }: RunningService, id: string): Promise<Buffer> {
  const url = `http://127.0.0.1:${ports.http}/api/v1/report-jobs/${id}/file`;
  const answer = await fetch(url, { headers: { Authorization: `JWT ${jwt}` } });
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

/** A vehicle that drove along a parallel, a fix every five seconds. */
async function furnish({ call, ports }: RunningService): Promise<string> {
  const { id } = await call<{ id: string }>('POST', '/api/v1/vehicles', { name: 'Van 7', terminalId: TERMINAL });
  await inForce(ports.http);
  const positions: Position[] = Array.from({ length: FIXES }, (_, nth) => ({
    ...blankPosition(T0 + nth * 5000, 52.52, 13.4 + nth * 0.0005),
    speedKmh: 25,
    satellites: 9,
  }));
  await playDrive({
    protocol: 'teltonika',
    host: '127.0.0.1',
    port: ports.teltonika,
    terminalId: TERMINAL,
    positions,
  });
  const query = `vehicleId=${id}&from=${new Date(T0 + (FIXES - 1) * 5000).toISOString()}&to=${new Date().toISOString()}`;
  await vi.waitFor(async () => {
    const { items } = await call<{ items: unknown[] }>('GET', `/api/v1/reports/track?${query}`);
    expect(items).toHaveLength(1);
  }, PATIENCE);
  return id;
}

test('killed with -9 while it makes reports, it begins them anew: each is made once, and whole', {
  timeout: 240_000,
}, async () => {
  service = await startService(folder);
  const vehicleId = await furnish(service);
  const asked = { kind: 'track', vehicleId, from: new Date(T0).toISOString(), to: new Date().toISOString() };
  const ids: string[] = [];
  for (const format of ['xlsx', 'csv', 'ndjson', 'parquet'])
    ids.push((await service.call<Job>('POST', '/api/v1/report-jobs', { ...asked, format })).id);
  const stateOf = async (id: string) => (await service?.call<Job>('GET', `/api/v1/jobs/${id}`))?.state;
  await vi.waitFor(async () => expect(await Promise.all(ids.map(stateOf))).toContain('running'), {
    ...PATIENCE,
    interval: 1,
  });
  await service.kill();
  service = await startService(folder, service.ports);
  await live.connect(service);
  const { call } = service;
  await vi.waitFor(async () => {
    const { items } = await call<{ items: Job[] }>('GET', '/api/v1/jobs?kind=report');
    expect(items.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done']);
  }, PATIENCE);
  for (const [nth, id] of ids.entries()) {
    const job = await call<Job>('GET', `/api/v1/jobs/${id}`);
    expect(job).toMatchObject({ rows: FIXES, result: { rows: FIXES } });
    const bytes = await fileOf(service, id);
    expect(bytes.length).toBe(job.result?.bytes);
    if (nth === 1) expect(bytes.toString().trimEnd().split('\r\n')).toHaveLength(1 + FIXES);
    if (nth === 2) expect(bytes.toString().trimEnd().split('\n')).toHaveLength(FIXES);
  }
  expect(stored()).toHaveLength(ids.length);
  expect(readdirSync(join(folder, 'reports', '.incoming'))).toEqual([]);
  // The four may all have finished before the client connected; the fifth finishes after it.
  const { id: fifth } = await call<Job>('POST', '/api/v1/report-jobs', { ...asked, format: 'csv' });
  const messages = () => live.of('report-job');
  await vi.waitFor(() => expect(messages().map(({ id }) => id)).toContain(fifth), PATIENCE);
  for (const { id, state, rows } of messages())
    expect([[...ids, fifth].includes(String(id)), state, rows]).toEqual([true, 'done', FIXES]);
});

test('a report of a schedule comes by e-mail, once, whatever is started again', { timeout: 240_000 }, async () => {
  service = await startService(folder, undefined, { MAIL_TRUSTED_DOMAINS: 'example.com' });
  await furnish(service);
  const schedule = await service.call<{ id: string }>('POST', '/api/v1/report-schedules', {
    name: 'Where everything is',
    kind: 'current-state',
    format: 'csv',
    timeZone: 'Europe/Berlin',
    frequency: 'daily',
    hour: 6,
    covers: 'yesterday',
    emails: ['dispatch@example.com'],
  });
  // The hour comes while the service is down.
  expect(await service.interrupt()).toBe(0);
  const database = openRegistryFile(join(folder, 'registry.sqlite'));
  const moved = database.prepare('UPDATE report_schedules SET next_at_ms = ?').run(Date.now() - 1000);
  expect(moved.changes).toBe(1);
  database.close();
  const mails = () =>
    readdirSync(join(folder, 'mail'))
      .filter((name) => name.endsWith('.eml'))
      .map((name) => readFileSync(join(folder, 'mail', name), 'utf8'));
  service = await startService(folder, service.ports, {
    MAIL_FROM: 'Fleet <fleet@example.com>',
    MAIL_TRUSTED_DOMAINS: 'example.com',
  });
  await vi.waitFor(() => expect(mails()).toHaveLength(1), PATIENCE);
  await service.kill();
  service = await startService(folder, service.ports);
  await new Promise((resolve) => setTimeout(resolve, 2000));

  const { items } = await service.call<{ items: Job[] }>('GET', '/api/v1/jobs?kind=report');
  expect(items).toMatchObject([{ state: 'done', scheduleId: schedule.id, rows: 1 }]);
  const [mail = '', ...more] = mails();
  expect(more).toEqual([]);
  expect(mail).toMatch(/^From: Fleet <fleet@example.com>/m);
  expect(mail).toMatch(/^To: dispatch@example.com/m);
  expect(mail).toMatch(/^Subject: Report Present state\b/m);
  expect(mail).toMatch(/^Content-Disposition: attachment; filename="Present state \d{4}-\d\d-\d\d\.csv"\s*$/m);
  const [, encoded = ''] =
    /^Content-Disposition: attachment[^\r]*\r\n(?:[^\r]+\r\n)*\r\n([A-Za-z0-9+/=\r\n]+)/m.exec(mail) ?? [];
  expect(Buffer.from(encoded, 'base64')).toEqual(await fileOf(service, items[0]?.id ?? ''));
});
