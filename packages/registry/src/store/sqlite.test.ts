import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { expect, test } from 'vitest';
import { openRegistryFile, openTestRegistry } from '../blank-registry.fixture.ts';
import { SUITES } from '../conformance.fixture.ts';
import { geofenceFields, PASSWORD, ruleFields, userFields, vehicleFields } from '../fleet/fields.fixture.ts';
import { openRegistry, Secrets } from '../index.ts';
import { PLUGINS } from '../registry.ts';
import type { Place } from '../test-registry.fixture.ts';
import type { LeasesPlace } from '../work/leases.conformance.ts';
import { migrate } from './migrate.ts';
import { quotasConformance } from './quotas.conformance.ts';
import { STREAM_PROFILE, secretsConformance } from './secrets.conformance.ts';
import { NodeSqliteDialect, openDatabase } from './sqlite.ts';

async function newFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'registry-'));
}

async function newPlace(): Promise<Place & LeasesPlace> {
  const folder = await newFolder();
  const path = join(folder, 'registry.sqlite');
  return {
    open: (now) => openTestRegistry({ path, now }),
    async whileWriting(work) {
      const writer = openDatabase(path);
      try {
        writer.exec('begin immediate');
        return await work();
      } finally {
        writer.close();
      }
    },
    remove: () => rm(folder, { recursive: true }),
  };
}

for (const suite of Object.values(SUITES).flat()) suite('node:sqlite', newPlace);
quotasConformance('node:sqlite', async () => {
  const folder = await newFolder();
  return {
    open: (quotas) => openTestRegistry({ path: join(folder, 'registry.sqlite'), quotas }),
    isShared: false,
    remove: () => rm(folder, { recursive: true }),
  };
});
secretsConformance('node:sqlite', async () => {
  const folder = await newFolder();
  const path = join(folder, 'registry.sqlite');
  const using = <T>(work: (database: DatabaseSync) => T): T => {
    const database = openRegistryFile(path);
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    open: (secrets, onSecrets, forgetLostSecrets = false) =>
      openTestRegistry({ path, forgetLostSecrets, ...(secrets && { secrets }), ...(onSecrets && { onSecrets }) }),
    dump: async (table) => using((database) => JSON.stringify(database.prepare(`select * from ${table}`).all())),
    execute: async (statement) => using((database) => database.exec(statement)),
    remove: () => rm(folder, { recursive: true }),
  };
});

test('the file itself has no secret in clear any more, once they are sealed', async () => {
  const folder = await newFolder();
  const path = join(folder, 'registry.sqlite');
  const before = await openRegistry({ path });
  const { id } = await before.users.create(userFields('anna'), PASSWORD);
  const webhook = { webhookUrl: 'https://hooks.example/a' };
  await before.notificationRules.create(ruleFields('Rule', id, webhook), 'whsec_in_the_file');
  await before.close();
  expect(await readFile(path, 'latin1')).toContain('whsec_in_the_file');
  await (await openRegistry({ path, secrets: new Secrets([randomBytes(32)]) })).close();
  for (const name of await readdir(folder))
    expect(await readFile(join(folder, name), 'latin1')).not.toContain('whsec_in_the_file');
  await rm(folder, { recursive: true });
});

/**
 * Makes the file what a version was whose newest migration is `last`: its tables, with the rows that they had place
 * for.
 */
async function backTo(last: string, path: string): Promise<void> {
  await rename(path, `${path}.new`);
  const database = openDatabase(path);
  await migrate(new Kysely({ dialect: new NodeSqliteDialect(database), plugins: PLUGINS }), undefined, last);
  database.exec(`pragma foreign_keys = off; attach '${path}.new' as newer`);
  const names = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map(({ name }) => String(name));
  for (const table of names("select name from main.sqlite_schema where type = 'table' and name not like 'kysely_%'")) {
    if (table.startsWith('sqlite_')) continue;
    const newer = new Set(names(`select name from pragma_table_info('${table}', 'newer')`));
    const columns = names(`select name from pragma_table_info('${table}', 'main')`).filter((name) => newer.has(name));
    const list = columns.map((name) => `"${name}"`).join(', ');
    database.exec(`insert into main.${table} (${list}) select ${list} from newer.${table}`);
  }
  database.close();
  await rm(`${path}.new`);
}

test('the file is opened so that a commit outlives a power cut and foreign keys hold', async () => {
  const folder = await newFolder();
  const database = openDatabase(join(folder, 'registry.sqlite'));
  expect(database.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
  expect(database.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 2 });
  expect(database.prepare('PRAGMA foreign_keys').get()).toMatchObject({ foreign_keys: 1 });
  expect(database.prepare('PRAGMA busy_timeout').get()).toMatchObject({ timeout: 5000 });
  database.close();
  await rm(folder, { recursive: true });
});

test('a folder that does not exist is an error, not an empty registry', async () => {
  const folder = await newFolder();
  await rm(folder, { recursive: true });
  await expect(openRegistry({ path: join(folder, 'registry.sqlite') })).rejects.toThrow('unable to open database file');
  await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('on upgrade the addresses of streams go from what is carried, in a new version, and accounts may go on without a key', async () => {
  const folder = await newFolder();
  const path = join(folder, 'registry.sqlite');
  const before = await openRegistry({ path });
  await before.users.create(userFields('anna'), PASSWORD);
  const vehicle = await before.vehicles.create(vehicleFields('Van'));
  const profile = await before.videoProfiles.create({ ...STREAM_PROFILE, vehicleId: vehicle.id });
  await before.close();
  const database = openDatabase(path);
  // As the release before stored it: in clear, in the changes as well.
  for (const table of ['outbox', 'recent_changes'])
    database.exec(`update ${table} set change = replace(change, '***', '${STREAM_PROFILE.address}')`);
  database.close();
  await backTo('0016-access', path);

  const inClear: boolean[] = [];
  const registry = await openRegistry({
    path,
    secrets: new Secrets([]),
    onSecrets: (state) => inClear.push(state.inClear),
  });
  expect(inClear).toEqual([true]);
  const pending = (await registry.outbox.pending(100)).map(({ change }) => change);
  expect(pending.at(-1)).toMatchObject({ id: profile.id, version: 2, definition: { address: '***', version: 2 } });
  const recent = await registry.recentChanges.after(0);
  expect(JSON.stringify([pending, recent])).not.toContain('hunter2');
  expect(recent).toMatchObject({ seq: pending.length });
  expect(await registry.videoProfiles.get(profile.id)).toMatchObject({ version: 2, address: STREAM_PROFILE.address });
  await registry.close();
  await rm(folder, { recursive: true });
});

test('on upgrade the URLs of webhooks go from what is shown, carried and noted, in a new version, and are sealed', async () => {
  const folder = await newFolder();
  const path = join(folder, 'registry.sqlite');
  const url = 'https://hooks.example/services/T01/geheim';
  const secrets = new Secrets([randomBytes(32)]);
  const before = await openRegistry({ path, secrets });
  const { id: anna } = await before.users.create(userFields('anna'), PASSWORD);
  const fields = ruleFields('Rule', anna, { webhookUrl: url });
  const { id, webhookUrl: hidden } = await before.notificationRules.create(fields, 'whsec_a');
  const plain = await before.notificationRules.create(ruleFields('Without', anna), null);
  await before.channelTests.request({ userId: anna, ruleId: id, channel: 'webhook', target: hidden ?? '' });
  await before.close();
  await backTo('0071-token-generations', path);
  const older = openDatabase(path);
  for (const [table, column] of [
    ['notification_rules', 'terms'],
    ['outbox', 'change'],
    ['recent_changes', 'change'],
    ['audit', 'after'],
    ['channel_tests', 'target'],
  ])
    expect(
      older.prepare(`update ${table} set ${column} = replace(${column}, ?, ?)`).run(hidden, url).changes,
    ).toBeTruthy();
  older.close();

  const registry = await openRegistry({ path, secrets });
  expect(await registry.notificationRules.get(id)).toMatchObject({ version: 2, webhookUrl: hidden });
  expect(await registry.notificationRules.get(plain.id)).toEqual(plain);
  expect(await registry.notificationRules.webhook(id)).toEqual({ url, secret: 'whsec_a' });
  const pending = (await registry.outbox.pending(100)).map(({ change }) => change);
  expect(pending.at(-1)).toMatchObject({ id, version: 2, definition: { webhookUrl: hidden } });
  await registry.close();
  const file = openDatabase(path);
  for (const { name } of file.prepare("select name from sqlite_schema where type = 'table'").all())
    expect(JSON.stringify(file.prepare(`select * from ${name}`).all()), String(name)).not.toContain('geheim');
  file.close();
  await rm(folder, { recursive: true });
});

test('an older database keeps the names of deleted geofences, and goes on writing to the addresses that it names', async () => {
  const folder = await newFolder();
  const path = join(folder, 'registry.sqlite');
  const before = await openRegistry({ path });
  const dealer = await before.users.create(userFields('dealer', { role: 'dealer' }), PASSWORD);
  const anna = await before.users.create(userFields('anna', { dealerId: dealer.id }), PASSWORD);
  const depot = await before.geofences.create(geofenceFields('Depot', anna.id));
  await before.geofences.delete(depot.id, null);
  await before.users.delete(anna.id, null);
  const path5 = [0, 1, 2, 3, 4].map((x): [number, number] => [x, 0]);
  const shape = { type: 'line', path: path5, widthM: 20 } as const;
  await before.geofences.create({ ...geofenceFields('Kept', dealer.id), shape });
  await before.notificationRules.create(ruleFields('Rule', dealer.id, { emails: ['A@example.com'] }), null);
  await before.reportSchedules.create({
    ...{ ownerId: dealer.id, name: 'Daily', active: true, frequency: 'daily', hour: 6, covers: 'yesterday' },
    ...{ timeZone: 'UTC', report: { report: 'mileage' }, emails: ['a@example.com', 'b@example.com'] },
  });
  await before.close();
  await backTo('0008-report-jobs', path);

  const registry = await openRegistry({ path });
  expect(await registry.geofences.deleted([depot.id])).toEqual([
    {
      ...{ id: depot.id, name: 'Depot', ownerId: anna.id },
      owner: { id: anna.id, role: 'user', dealerId: dealer.id },
      ...{ sharedWithOrganisation: false, sharedGroupIds: [] },
    },
  ]);
  const named = ['a@example.com', 'b@example.com', 'c@example.com'];
  expect([...(await registry.mailAddresses.statuses(dealer.id, named))]).toEqual([
    ['a@example.com', { state: 'confirmed', suppressed: 0 }],
    ['b@example.com', { state: 'confirmed', suppressed: 0 }],
  ]);
  expect(await registry.recentChanges.newest()).toBe(0);
  expect(await registry.quotas.use(dealer.id, 'dealer', 'geofenceVertices')).toMatchObject({ used: 5 });
  await registry.close();
  await rm(folder, { recursive: true });
});

test('users of a dealer that was blocked before that blocked them are blocked by the upgrade, and the log gets to know', async () => {
  const folder = await newFolder();
  const path = join(folder, 'registry.sqlite');
  const before = await openRegistry({ path });
  const dealer = await before.users.create(userFields('dealer', { role: 'dealer' }), PASSWORD);
  const anna = await before.users.create(userFields('anna', { dealerId: dealer.id }), PASSWORD);
  await before.outbox.delivered((await before.outbox.pending(100)).map(({ seq }) => seq));
  await before.close();
  await backTo('0015-mail-addresses', path);
  const database = openDatabase(path);
  database.exec("update users set blocked = 1 where login = 'dealer'");
  database.close();

  const registry = await openRegistry({ path });
  expect(await registry.users.get(anna.id)).toMatchObject({ blocked: true, version: anna.version + 1 });
  expect((await registry.outbox.pending(100)).map(({ change }) => change)).toMatchObject([
    { id: anna.id, version: anna.version + 1, definition: { blocked: true, groupIds: anna.groupIds } },
  ]);
  await registry.users.update(dealer.id, null, { blocked: false });
  expect((await registry.users.get(anna.id))?.blocked).toBe(false);
  await registry.close();
  await rm(folder, { recursive: true });
});

test('a registry that is damaged is named by its file, when it is opened and when it is read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'damaged-registry-'));
  const path = join(folder, 'registry.sqlite');
  try {
    await writeFile(path, Buffer.alloc(8192, 0x5a));
    await expect(openRegistry({ path })).rejects.toThrow(`the registry ${path}`);
    await rm(path);
    const whole = await openRegistry({ path });
    await whole.users.create({ ...userFields('damaged'), role: 'operator' }, PASSWORD);
    await whole.close();
    // All pages but the first, which says what is in the file.
    const bytes = await readFile(path);
    await writeFile(path, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0x5a)]));
    const reading = openRegistry({ path }).then((registry) => registry.users.byLogin('damaged'));
    await expect(reading).rejects.toThrow(new RegExp(`the registry ${path} .*database disk image is malformed`));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
