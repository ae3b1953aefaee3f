import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { UserId } from '@outrider/domain';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { changePastRegistry, openTestRegistry } from '../blank-registry.fixture.ts';
import { geofenceFields, PASSWORD, userFields } from '../fleet/fields.fixture.ts';
import { DamagedRowError, type Registry } from '../index.ts';
import { RowSums } from './row-sums.ts';
import { openDatabase } from './sqlite.ts';

let folder: string;
let path: string;
let registry: Registry;
let ownerId: UserId;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'row-sums-'));
  path = join(folder, 'registry.sqlite');
  registry = await openTestRegistry({ path });
  ownerId = (await registry.users.create(userFields('owner', { role: 'operator' }), PASSWORD)).id;
});
afterEach(async () => {
  await registry.close();
  await rm(folder, { recursive: true });
});

const damage = (sql: string, ...values: string[]) => changePastRegistry(path, sql, ...values);
const geofence = (name: string) => registry.geofences.create(geofenceFields(name, ownerId));

describe('a row that is not as it was written', () => {
  test('is an error that names it to who reads it, and is missing in a list of others', async () => {
    const [one, two, three] = [await geofence('One'), await geofence('Two'), await geofence('Three')];
    damage('update geofences set name = ? where id = ?', 'Twp', two.id);
    await expect(registry.geofences.get(two.id)).rejects.toThrow(new DamagedRowError('geofences', two.id));
    await expect(registry.geofences.update(two.id, null, { name: 'New' })).rejects.toThrow(DamagedRowError);
    expect(await registry.geofences.get(one.id)).toEqual(one);
    const first = await registry.geofences.list({ ownerId }, { limit: 2, after: null });
    expect(first.items).toEqual([one]);
    const second = await registry.geofences.list({ ownerId }, { limit: 2, after: first.next });
    expect(second.items).toEqual([three]);
    expect(registry.rowSums?.damaged).toEqual([{ table: 'geofences', key: two.id }]);
  });

  test.each([
    ['users', "update users set role = 'dealer'"],
    ['vehicle_groups', "update vehicle_groups set name = name || '!'"],
    ['credentials', "update credentials set password_hash = replace(password_hash, 'a', 'b')"],
  ])('is found in %s by the check, which nothing else has to read', async (table, sql) => {
    await registry.groups.create({ name: 'Group', dealerId: null } as never);
    expect(await registry.rowSums?.check()).toEqual([]);
    expect(registry.rowSums?.damaged).toEqual([]);
    damage(sql);
    expect(await registry.rowSums?.check()).toEqual([]);
    expect(registry.rowSums?.damaged.map((row) => row.table)).toContain(table);
    registry.rowSums?.accept();
    await registry.rowSums?.check();
    expect(registry.rowSums?.damaged).toEqual([]);
  });

  test('stays damaged over a migration, which writes the sums of the others anew', async () => {
    const [one, two] = [await geofence('One'), await geofence('Two')];
    damage('update geofences set name = ? where id = ?', 'Twp', two.id);
    await registry.close();
    const database = openDatabase(path);
    const sums = new RowSums(database);
    sums.beforeMigration();
    database.exec("alter table geofences add column shade text default 'red'");
    sums.install();
    database.exec('alter table users add column late text');
    sums.install();
    database.exec(`update geofences set shade = 'blue' where id = '${one.id}'`);
    database.close();
    registry = await openTestRegistry({ path });
    expect(await registry.geofences.get(one.id)).toMatchObject(one);
    await expect(registry.geofences.get(two.id)).rejects.toThrow(DamagedRowError);
    await registry.rowSums?.check();
    expect(registry.rowSums?.damaged).toEqual([{ table: 'geofences', key: two.id }]);
  });
});

test('no copy of a value changes in the file without being found; indexes are made again from the rows', async () => {
  const { id } = await geofence('Needle');
  await registry.close();
  const database = openDatabase(path);
  // What is sent on and forgotten has no sums.
  for (const table of ['outbox', 'recent_changes']) database.exec(`delete from ${table}`);
  database.exec('vacuum');
  database.close();
  const bytes = await readFile(path);
  const found: string[] = [];
  for (let at = bytes.indexOf('Needle'); at >= 0; at = bytes.indexOf('Needle', at + 1)) {
    const flipped = Buffer.from(bytes);
    flipped.writeUInt8(flipped.readUInt8(at + 3) ^ 1, at + 3);
    await writeFile(path, flipped);
    registry = await openTestRegistry({ path });
    const findings = (await registry.rowSums?.check()) ?? [];
    const tables = registry.rowSums?.damaged.map(({ table }) => table) ?? [];
    found.push(
      tables.includes('geofences') ? 'row' : tables.length > 0 ? 'other row' : findings.length > 0 ? 'index' : 'silent',
    );
    if (findings.length > 0) registry.rowSums?.reindex();
    expect(await registry.rowSums?.check()).toEqual([]);
    if (tables.length === 0) expect((await registry.geofences.get(id))?.name).toBe('Needle');
    await registry.close();
  }
  expect(found).toEqual(expect.arrayContaining(['row', 'index']));
  expect(found).not.toContain('silent');
  registry = await openTestRegistry({ path: join(folder, 'other.sqlite') });
});

test('all tables whose rows are read by people have sums', () => {
  const database = new DatabaseSync(path, { readOnly: true });
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
  const summed = database.prepare("select distinct tbl_name from sqlite_master where type = 'trigger'").all();
  const names = new Set(summed.map((row) => row.tbl_name));
  expect(tables.length - names.size).toBeLessThan(40);
  for (const table of ['users', 'vehicles', 'geofences', 'drivers', 'report_schedules', 'share_links', 'audit'])
    expect(names).toContain(table);
  database.close();
});

test('a registry of before the sums gets them when it is opened', async () => {
  const one = await geofence('One');
  await registry.close();
  const database = openDatabase(path);
  for (const { name } of database.prepare("select name from sqlite_master where type = 'trigger'").all())
    database.exec(`drop trigger "${name}"`);
  database.exec('alter table geofences drop column row_sum');
  database.close();
  registry = await openTestRegistry({ path });
  expect(await registry.geofences.get(one.id)).toEqual(one);
  expect(await registry.rowSums?.check()).toEqual([]);
  expect(registry.rowSums?.damaged).toEqual([]);
});
