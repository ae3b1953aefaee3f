import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runCli } from './cli/run.ts';
import { runImport } from './import/import.ts';
import { OPERATOR_PASSWORD, type RunningService, startService } from './service.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };

const folder = mkdtempSync(join(tmpdir(), 'outrider-cli-'));
const loginFile = join(folder, 'config/login.json');
let service: RunningService;

beforeAll(async () => {
  service = await startService(join(folder, 'data'));
});
afterAll(async () => {
  await service.kill();
  rmSync(folder, { recursive: true, force: true });
});

function start(words: readonly string[], env: Record<string, string> = {}) {
  const printed: string[] = [];
  const noted: string[] = [];
  const ending = new AbortController();
  const done = runCli(words, {
    env: { OUTRIDER_URL: `http://127.0.0.1:${service.ports.http}`, OUTRIDER_LOGIN_FILE: loginFile, ...env },
    print: (line) => printed.push(line),
    note: (line) => noted.push(line),
    ask: async () => OPERATOR_PASSWORD,
    signal: ending.signal,
  });
  return { printed, noted, done, end: () => ending.abort() };
}

/** Runs a command that ends. */
async function run(...words: string[]) {
  const { printed, noted, done } = start(words);
  return { code: await done, text: printed.join('\n'), noted: noted.join('\n') };
}

async function alarm(seconds: number): Promise<void> {
  const position = `id=4711&lat=59.9&lon=30.3&timestamp=${Math.floor(Date.now() / 1000) + seconds}&alarm=sos`;
  const { status } = await fetch(`http://127.0.0.1:${service.ports.osmand}/?${position}`, { method: 'POST' });
  expect(status).toBe(200);
  const later = position
    .replace('&alarm=sos', '')
    .replace(/timestamp=\d+/, (at) => `timestamp=${Number(at.slice(10)) + 1}`);
  await fetch(`http://127.0.0.1:${service.ports.osmand}/?${later}`, { method: 'POST' });
}

test('a login is kept for its owner alone, and works until it is forgotten', async () => {
  expect((await run('vehicles', 'list')).noted).toContain('log in first');
  const wrong = start(['login', 'admin'], { OUTRIDER_PASSWORD: 'wrong' });
  expect([await wrong.done, wrong.noted.join()]).toEqual([1, expect.stringContaining('401')]);
  expect((await run('login', 'admin')).code).toBe(0);
  expect(statSync(loginFile).mode & 0o777).toBe(0o600);
  // What has expired is renewed.
  writeFileSync(
    loginFile,
    readFileSync(loginFile, 'utf8').replace(/"expiresAt": "[^"]+"/, '"expiresAt": "2020-01-01T00:00:00.000Z"'),
  );
  expect((await run('vehicles', 'list')).code).toBe(0);
  expect(readFileSync(loginFile, 'utf8')).not.toContain('2020-01-01');
  expect((await run('logout')).code).toBe(0);
  expect((await run('vehicles', 'list')).code).toBe(1);
  await run('login', 'admin');
});

test('things are added, listed, changed and deleted', async () => {
  const add = await run('vehicles', 'add', '{"name":"Van 1","externalId":"FLEET-1"}', '--json');
  const { id } = JSON.parse(add.text);
  await run('vehicles', 'change', id, '{"customAttributes":{"costCentre":"4711"}}');
  const list = await run('vehicles', 'list', '--attribute', 'costCentre:4711', '--external-id', 'FLEET-1');
  expect(list.text.split('\n')).toEqual([expect.stringMatching(/^ID +NAME/), expect.stringContaining('Van 1')]);
  expect(JSON.parse((await run('vehicles', 'list', '--q', 'van', '--json')).text)).toMatchObject([{ id }]);
  await run('vehicles', 'suspend', id, 'Invoice 1204 is unpaid.');
  expect((await run('vehicles', 'list')).text).toContain('Invoice 1204 is unpaid.');
  await run('vehicles', 'resume', id);
  expect((await run('vehicles', 'list')).text).not.toContain('Invoice');
  const refused = await run('vehicles', 'add', '{"name":"","speedLimitKmh":-1}');
  expect([refused.code, refused.noted]).toEqual([
    1,
    expect.stringMatching(/400 [\s\S]*\/name: [\s\S]*\/speedLimitKmh: /),
  ]);
  for (const [name, body] of [
    ['groups', '{"name":"North"}'],
    ['drivers', '{"name":"Anna Berg"}'],
    ['users', '{"login":"anna","name":"Anna","password":"correct horse battery"}'],
    [
      'geofences',
      '{"type":"Feature","geometry":{"type":"Point","coordinates":[30,60]},"properties":{"shape":"circle","radiusM":90,"name":"Yard"}}',
    ],
  ] as const) {
    const made = JSON.parse((await run(name, 'add', body, '--json')).text);
    expect((await run(name, 'get', made.id)).text).toContain(made.id);
    expect((await run(name, 'list')).text).toContain(made.id);
    expect((await run(name, 'delete', made.id)).code).toBe(0);
    expect((await run(name, 'get', made.id)).noted).toContain('404');
  }
  expect((await run('vehicles', 'delete', id)).code).toBe(0);
});

test('the fleet of the operator keeps histories for as long as it is said', async () => {
  const [me] = JSON.parse((await run('users', 'list', '--q', 'admin', '--json')).text);
  expect((await run('users', 'retention', me.id)).text).toBe('no limit');
  expect((await run('users', 'retention', me.id, '90')).text).toBe('90 days');
  expect(JSON.parse((await run('users', 'retention', me.id, '--json')).text)).toEqual({ retentionDays: 90 });
  const refused = await run('users', 'retention', me.id, '0');
  expect([refused.code, refused.noted]).toEqual([1, expect.stringContaining('/retentionDays')]);
  expect((await run('users', 'retention', me.id, 'none')).text).toBe('no limit');
});

test('files are imported and exported', async () => {
  const file = join(folder, 'vehicles.csv');
  writeFileSync(file, 'name,externalId,terminalId\nVan 7,FLEET-7,4711\n');
  expect((await run('vehicles', 'import', file, '--dry-run')).text).toBe('would be: 1 added, 0 changed, 0 unchanged');
  expect((await run('vehicles', 'list')).text).not.toContain('FLEET-7');
  expect((await run('vehicles', 'import', file)).text).toBe('done: 1 added, 0 changed, 0 unchanged');
  expect((await run('vehicles', 'export')).text).toContain('FLEET-7');
  expect((await run('vehicles', 'export', file)).code).toBe(0);
  expect(JSON.parse((await run('vehicles', 'import', file, '--json')).text)).toMatchObject({ unchanged: 1 });
  writeFileSync(file, 'name,speedLimitKmh\nVan 8,fast\n');
  const wrong = await run('vehicles', 'import', file);
  expect([wrong.code, wrong.noted]).toEqual([1, expect.stringContaining('row 2, speedLimitKmh')]);
  const geofences = join(folder, 'geofences.geojson');
  await run('geofences', 'export', geofences);
  expect((await run('geofences', 'import', geofences)).text).toContain('0 added');
  expect((await run('vehicles', 'import', join(folder, 'nowhere.csv'))).noted).toContain('nowhere.csv');
});

test('what a vehicle did before a time is counted, and erased with --yes alone', { timeout: 120_000 }, async () => {
  const { id } = JSON.parse((await run('vehicles', 'add', '{"name":"Van 9"}', '--json')).text);
  const history = join(folder, 'history.csv');
  const hours = Array.from({ length: 24 }, (_, hour) => `2026-01-15T${String(hour).padStart(2, '0')}:00:00Z`);
  writeFileSync(history, ['fixTime,latitude,longitude', ...hours.map((time) => `${time},59.9,30.3`), ''].join('\n'));
  const to = `http://127.0.0.1:${service.ports.http}`;
  const imported: string[] = [];
  expect(
    await runImport(
      ['csv', history, '--vehicle', id, '--to', to, '--login', 'admin'],
      { OUTRIDER_PASSWORD: OPERATOR_PASSWORD },
      (line) => imported.push(line),
    ),
  ).toBe(0);
  expect(imported[0]).toBe(`${id}: 24 positions, ${hours[0]} to ${hours[23]}`.replaceAll(':00Z', ':00.000Z'));

  const erase = (...words: string[]) => run('vehicles', 'erase-history', id, ...words);
  const before = ['--before', '2026-01-15T10:00:00Z'];
  await vi.waitFor(async () => {
    const { code, text, noted } = await erase(...before);
    expect([code, text, noted]).toEqual([
      0,
      expect.stringMatching(/^would be erased: 10 positions, \d+ events, 0 videos, 0 notifications$/),
      'add --yes to erase it for good',
    ]);
  }, PATIENCE);
  expect(JSON.parse((await erase(...before, '--json')).text)).toMatchObject({ positions: 10, videos: 0 });
  expect(await erase(...before, '--yes')).toMatchObject({
    code: 0,
    text: expect.stringMatching(/^erased: \d+ rows of the archive, 0 videos, 0 reports, 0 notifications$/),
  });
  expect(JSON.parse((await erase('--before', '2026-01-15T12:00:00Z', '--json')).text)).toMatchObject({ positions: 2 });
  const job = JSON.parse((await erase('--before', '2026-01-15T12:00:00Z', '--yes', '--json')).text);
  expect(job).toMatchObject({ kind: 'erase-history', state: 'done' });

  expect(await erase()).toMatchObject({ code: 2, noted: expect.stringContaining('--before must be a time') });
  expect(await erase('--before', 'yesterday')).toMatchObject({ code: 2 });
  const tooLate = await erase('--before', '2100-01-01');
  expect([tooLate.code, tooLate.noted]).toEqual([1, expect.stringMatching(/400 [\s\S]*before/)]);
  const nobody = await run('vehicles', 'erase-history', crypto.randomUUID(), ...before, '--yes');
  expect([nobody.code, nobody.noted]).toEqual([1, expect.stringContaining('404')]);
});

test('all that is held about an account or a driver is written as JSON, to a file that its owner alone reads', {
  timeout: 120_000,
}, async () => {
  const users = JSON.parse((await run('users', 'list', '--json')).text) as { id: string; login: string }[];
  const admin = users.find(({ login }) => login === 'admin')?.id ?? '';
  const file = join(folder, 'admin.json');
  writeFileSync(file, 'of everybody', { mode: 0o644 });
  expect(await run('users', 'data', admin, file)).toEqual({ code: 0, text: '', noted: '' });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const held = JSON.parse(readFileSync(file, 'utf8'));
  expect(held).toMatchObject({ format: 'outrider-personal-data', data: { profile: [{ id: admin, login: 'admin' }] } });
  expect(held.data.sessions.length).toBeGreaterThan(0);

  const { id } = JSON.parse((await run('drivers', 'add', '{"name":"Ben Cole"}', '--json')).text);
  const printed = await run('drivers', 'data', id);
  expect(JSON.parse(printed.text)).toMatchObject({ data: { profile: [{ id, name: 'Ben Cole' }] } });
  for (const name of ['users', 'drivers']) {
    const nobody = await run(name, 'data', crypto.randomUUID());
    expect([nobody.code, nobody.noted]).toEqual([1, expect.stringContaining('404')]);
  }
  const nowhere = await run('drivers', 'data', id, join(folder, 'nowhere', 'ben.json'));
  expect([nowhere.code, nowhere.noted]).toEqual([1, expect.stringContaining("can't be written")]);
});

test('events are shown as they happen, over a restart of the service, and fed from the beginning', {
  timeout: 240_000,
}, async () => {
  const tail = start(['events', 'tail', '--json']);
  await vi.waitFor(() => expect(tail.noted).toContain('connected'), PATIENCE);
  await alarm(0);
  const alarms = () =>
    tail.printed.map((line) => JSON.parse(line)).filter(({ kind, phase }) => kind === 'alarm' && phase === 'begin');
  await vi.waitFor(() => expect(alarms()).toHaveLength(1), PATIENCE);
  const { ports } = service;
  await service.interrupt();
  service = await startService(join(folder, 'data'), ports);
  await alarm(5);
  await vi.waitFor(() => expect(alarms()).toHaveLength(2), PATIENCE);
  tail.end();
  expect(await tail.done).toBe(0);
  const [first] = alarms();
  const since = start(['events', 'tail', '--since', first.cursor]);
  await vi.waitFor(() => expect(since.printed.filter((line) => /alarm +begin/.test(line))).toHaveLength(1), PATIENCE);
  since.end();
  await since.done;

  const feed = start(['feed', 'events', '--from', 'earliest']);
  const begun = () =>
    feed.printed.map((line) => JSON.parse(line)).filter(({ kind, phase }) => kind === 'alarm' && phase === 'begin');
  await vi.waitFor(() => expect(begun()).toHaveLength(2), PATIENCE);
  feed.end();
  expect(await feed.done).toBe(0);
});

test('a wrong key is refused, and not asked with again', async () => {
  for (const words of [
    ['vehicles', 'list'],
    ['events', 'tail'],
    ['feed', 'events'],
  ]) {
    const refused = start(words, { OUTRIDER_KEY: 'outrider_nonsense' });
    expect(await refused.done).toBe(1);
    expect(refused.noted.join('\n')).toMatch(/401|does not take/);
  }
});
