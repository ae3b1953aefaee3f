import { type TerminalId, type User, type UserId, VEHICLE_DEFAULTS, VEHICLE_FIELDS } from '@outrider/domain';
import { readCsv } from '@outrider/reports';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ABSENT, type Answer, World } from '../api.fixture.ts';
import { MAX_ROWS } from './definition-csv.ts';
import { VEHICLE_CSV } from './vehicle-csv.ts';

let world: World;
let jwt: string;
let user: User;
beforeEach(async () => {
  world = await World.open();
  ({ user, jwt } = await world.member('operator', 'operator'));
});
afterEach(() => world.close());

const VEHICLE_COLUMNS = VEHICLE_CSV.columns;
const HEADER = VEHICLE_COLUMNS.join(',');
/** Rows of a CSV, each with its cells by column. */
const rowsOf = (csv: string): Record<string, string>[] => {
  const [header, ...rows] = [...readCsv(csv.replace(/^\uFEFF/, ''), csv.includes(';') ? ';' : ',')];
  return rows.map(({ cells }) => Object.fromEntries(cells.map((cell, nth) => [header?.cells[nth] ?? '', cell])));
};
/** As an export writes the defaults. */
const DEFAULT_CELLS = Object.fromEntries(
  VEHICLE_COLUMNS.map((column) => [column, String(VEHICLE_DEFAULTS[column as 'plate'] ?? '')]),
);
const send = (csv: string, query = '', as = jwt, type = 'text/csv'): Promise<Answer> =>
  world.call('POST', `/api/v1/vehicles/import${query}`, {
    jwt: as,
    body: csv,
    headers: { 'content-type': type },
  });
const exported = async (query = '', as = jwt): Promise<string> =>
  (await world.call('GET', `/api/v1/vehicles/export${query}`, { jwt: as })).body;
const listed = async (as = jwt) => (await world.call('GET', '/api/v1/vehicles?limit=1000', { jwt: as })).body.items;
const faults = ({ body }: Answer) =>
  body.errors.map(({ row, column }: { row: number; column?: string }) => `${row} ${column ?? ''}`.trim());
const newGroup = (name: string, dealerId: UserId | null = null) => world.registry.groups.create({ name, dealerId });

describe('vehicles as CSV', () => {
  test('rows are added, come out as they went in, and going in again change nothing', async () => {
    const dealer = await world.member('dealer', 'dealer');
    await newGroup('Refrigerated');
    await newGroup('Vans, large');
    const rows = [
      'name,plate,terminalId,dealerId,groups,speedLimitKmh,speedToleranceKmh,speedingMinSeconds,offlineAfterMinutes',
      `Van 12,A123BC,356307042441013,${dealer.user.id},"Refrigerated | Vans, large",90,5,10.5,20`,
      '"The ""old"" van",,,,,,,,',
    ];
    const { status, body } = await send(`${rows.join('\r\n')}\r\n`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ dryRun: false, created: 2, updated: 0, unchanged: 0 });
    expect(body.items.map(({ row }: { row: number }) => row)).toEqual([2, 3]);
    const [van, old] = body.items.map(({ id }: { id: string }) => id);

    const csv = await exported();
    expect(csv.split('\r\n')[0]).toBe(HEADER);
    expect(csv.endsWith('\r\n')).toBe(true);
    const learn = { ...DEFAULT_CELLS, terminalProtocol: 'learn' };
    expect(rowsOf(csv)).toEqual([
      {
        ...learn,
        id: van,
        name: 'Van 12',
        plate: 'A123BC',
        terminalId: '356307042441013',
        dealerId: dealer.user.id,
        groups: 'Refrigerated | Vans, large',
        speedLimitKmh: '90',
        speedToleranceKmh: '5',
        speedingMinSeconds: '10.5',
        offlineAfterMinutes: '20',
      },
      { ...learn, id: old, name: 'The "old" van' },
    ]);
    const before = (await world.registry.outbox.pending(100)).length;
    expect((await send(csv)).body).toMatchObject({ created: 0, updated: 0, unchanged: 2 });
    expect(await world.registry.outbox.pending(100)).toHaveLength(before);
    expect(await exported()).toBe(csv);
  });

  test('as Excel writes it in much of Europe, and with tabs, it is read as well', async () => {
    await send('name,plate,speedLimitKmh\nVan;1,,90.5\n');
    const path = '/api/v1/vehicles/export?excel=true';
    const response = await world.api.fetch(
      new Request(`http://outrider.test${path}`, { headers: { authorization: `JWT ${jwt}` } }),
    );
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="vehicles.csv"');
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    expect(text).toContain(';"Van;1";');
    expect(rowsOf(text)).toMatchObject([{ name: 'Van;1', speedLimitKmh: '90,5', terminalProtocol: 'learn' }]);
    expect((await send(text)).body).toMatchObject({ unchanged: 1 });
    expect((await send('name\tspeedLimitKmh\nVan 2\t50\n')).body).toMatchObject({ created: 1 });
    expect((await listed()).map(({ speedLimitKmh }: { speedLimitKmh: number }) => speedLimitKmh)).toEqual([90.5, 50]);
  });

  test('no cell is a formula for a spreadsheet, and every name comes back, whatever it holds', async () => {
    const names = ['=HYPERLINK("http://evil.example";"pay")', '+1', '-1', '@SUM(A1)', "'=quoted", "'t Hooft", 'a=1'];
    await send(`name,plate\r\n${names.map((name) => `"'${name.replaceAll('"', '""')}",`).join('\r\n')}\r\n`);
    // An apostrophe that keeps a formula from being one is taken off; any other is part of the name.
    const kept = ['=HYPERLINK("http://evil.example";"pay")', '+1', '-1', '@SUM(A1)', "'=quoted", "''t Hooft", "'a=1"];
    expect((await listed()).map(({ name }: { name: string }) => name)).toEqual(kept);
    const csv = await exported();
    for (const { cells } of readCsv(csv, ',')) for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@]/);
    expect((await send(csv)).body).toMatchObject({ unchanged: names.length });

    const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.stringMatching(/^['=+\-@a,;"|]{1,10}$/));
    const printable = text.map((name) => name.replaceAll(/\p{Cc}/gu, '').trim()).filter((name) => name !== '');
    await fc.assert(
      fc.asyncProperty(printable, printable, async (name, plate) => {
        // A minute's limits, and the life of a token, count by the clock of the test.
        world.nowMs += 60_000;
        jwt = await world.tokenOf(user);
        const [{ id }] = await listed();
        // Whole characters: half of one can't be kept.
        const patch = { name, plate: [...plate].slice(0, 10).join('').trim() };
        const { status } = await world.call('PATCH', `/api/v1/vehicles/${id}`, { jwt, body: patch });
        expect(status).toBe(200);
        const csv = await exported();
        for (const { cells } of readCsv(csv, ',')) for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@]/);
        expect((await send(csv)).body).toMatchObject({ unchanged: names.length });
        expect((await listed())[0]).toMatchObject(patch);
      }),
      { numRuns: runs(30) },
    );
  });

  test('a row is about the vehicle with its id, else with its terminal, else about a new one', async () => {
    const { body } = await send('name,terminalId\nOne,1\nTwo,2\n');
    const [one, two] = body.items;
    const again = await send(`id,name,terminalId\n${one.id},Uno,1\n,Due,2\n,Three,3\n`);
    expect(again.body).toMatchObject({ created: 1, updated: 2 });
    expect(again.body.items.slice(0, 2)).toMatchObject([
      { row: 2, id: one.id },
      { row: 3, id: two.id },
    ]);
    // Terminals change places in one go; columns that are not there stay as they are.
    expect((await send(`id,terminalId\n${one.id},2\n${two.id},1\n`)).body).toMatchObject({ updated: 2 });
    expect((await listed()).map((each: { name: string; terminalId: string }) => [each.name, each.terminalId])).toEqual([
      ['Uno', '2'],
      ['Due', '1'],
      ['Three', '3'],
    ]);
    // An empty cell means none.
    await send(`id,terminalId\n${one.id},\n`);
    expect((await listed())[0]).toMatchObject({ name: 'Uno', terminalId: null });
    // By terminal, the very same rows twice change nothing.
    const rows = 'name,terminalId,speedLimitKmh\nNew,9,50\n';
    expect((await send(rows)).body).toMatchObject({ created: 1 });
    expect((await send(rows)).body).toMatchObject({ created: 0, unchanged: 1 });
  });

  test('all faults are reported at once, by row and column, and nothing is imported', async () => {
    await newGroup('Twice');
    await newGroup('Twice', (await world.member('dealer', 'dealer')).user.id);
    const answer = await send(
      [
        'id,name,terminalId,dealerId,groups,speedLimitKmh,offlineAfterMinutes',
        ',Good,1,,,50,10',
        `${ABSENT},Nobody,,,,,`,
        'one,Van,,,,,',
        ',,2,,,,',
        ',Van,3.563E+14,,,,',
        ',Van,,somebody,,,',
        ',Van,,,Nowhere | Twice,,',
        ',Van,,,,fast,-1',
        '',
        ',"Van',
        '12",,,,,',
        ',Van,1,,',
        ',Van,,,,900,1',
      ].join('\n'),
    );
    expect(answer.status).toBe(400);
    expect(faults(answer)).toEqual([
      '4 id',
      '5 name',
      '6 terminalId',
      '7 dealerId',
      '9 speedLimitKmh',
      '9 offlineAfterMinutes',
      '11 name',
      '12',
      '13 speedLimitKmh',
      '3 id',
      '8 groups',
      '8 groups',
    ]);
    expect(answer.body.detail).toBe('12 errors were found; nothing was changed.');
    expect(await listed()).toEqual([]);
  });

  test('a file that is not a table of vehicles is refused with the place', async () => {
    expect(faults(await send(''))).toEqual(['1']);
    expect(faults(await send('name,colour,plate,name\nVan,red,,\n'))).toEqual(['1 colour', '1 name']);
    expect(faults(await send('name\nVan\n"open\n'))).toEqual(['3']);
    expect(faults(await send('name\n"Van" 12\n'))).toEqual(['2']);
    const latin1 = new Uint8Array([...new TextEncoder().encode('name\n'), 0xfc, 0x0a]);
    const response = await world.api.fetch(
      new Request('http://outrider.test/api/v1/vehicles/import', {
        method: 'POST',
        headers: { authorization: `JWT ${jwt}`, 'content-type': 'text/csv' },
        body: latin1,
      }),
    );
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [{ pointer: '', detail: expect.stringContaining('It must be text in UTF-8') }],
    });
    expect((await send('name\nVan\n', '', jwt, 'text/csv; charset=iso-8859-1')).status).toBe(415);
    expect((await send('name\nVan\n', '', jwt, 'application/json')).status).toBe(415);
    expect((await send('name\nVan\n', '', jwt, 'text/csv; charset=UTF-8')).status).toBe(200);
  });

  test('a file is taken as spreadsheets save it', async () => {
    const saved = 'sep=;\r\nNAME;Plate;TerminalId;speedLimitKmh\r\nVan 1;A1;1;90,5\r\n;;;\r\n;;;\r\n';
    expect((await send(saved)).body).toMatchObject({ created: 1, items: [{ row: 3 }] });
    for (const [nth, isBigEndian] of [false, true].entries()) {
      const bytes = Buffer.from(`\uFEFFname\tplate\r\nVân ${nth}\tB${nth}\r\n`, 'utf16le');
      const response = await world.api.fetch(
        new Request('http://outrider.test/api/v1/vehicles/import', {
          method: 'POST',
          headers: { authorization: `JWT ${jwt}`, 'content-type': 'text/csv' },
          body: new Uint8Array(isBigEndian ? bytes.swap16() : bytes),
        }),
      );
      expect(response.status).toBe(200);
    }
    expect((await listed()).map(({ name, plate }: { name: string; plate: string }) => [name, plate])).toEqual([
      ['Van 1', 'A1'],
      ['Vân 0', 'B0'],
      ['Vân 1', 'B1'],
    ]);
    // The place of what is wrong is that in the spreadsheet.
    expect(faults(await send('sep=;\nname;speedLimitKmh\nVan;fast\n'))).toEqual(['3 speedLimitKmh']);
  });

  test('clashes are reported as conflicts: with other vehicles, within the file, and with changes made meanwhile', async () => {
    await send('name,terminalId\nOne,1\n');
    const { id } = (await listed())[0];
    const twice = await send('name,terminalId\nA,7\nB,7\n');
    expect([twice.status, faults(twice)]).toEqual([409, ['3 terminalId']]);
    const same = await send(`id,name,terminalId\n${id},Uno,1\n,Due,1\n`);
    expect([same.status, faults(same)]).toEqual([400, ['3']]);
    expect((await listed()).map(({ name }: { name: string }) => name)).toEqual(['One']);
  });

  test('a dry run says what would become of it, and changes nothing', async () => {
    await send('name,terminalId\nOne,1\n');
    const before = await listed();
    const { body } = await send('name,terminalId\nUno,1\nTwo,2\n', '?dryRun=true');
    expect(body).toEqual({
      dryRun: true,
      created: 1,
      updated: 1,
      unchanged: 0,
      items: [
        { row: 2, id: before[0].id, outcome: 'updated' },
        { row: 3, id: null, outcome: 'created' },
      ],
    });
    expect(await listed()).toEqual(before);
    expect((await send('name,terminalId\nA,7\nB,7\n', '?dryRun=true')).status).toBe(409);
  });

  test('a dealer imports for the dealer alone, and a user nothing', async () => {
    const dealer = await world.member('dealer', 'dealer');
    const user = await world.member('user', 'user', { dealerId: dealer.user.id });
    await send('name,terminalId\nOperator’s,1\n');
    const { id } = (await listed())[0];
    expect((await send('name\nMine\n', '', dealer.jwt)).body).toMatchObject({ created: 1 });
    expect(await listed(dealer.jwt)).toMatchObject([{ name: 'Mine', dealerId: dealer.user.id }]);
    // Another's is not there by its id; its terminal is taken, as it is for anyone who adds a vehicle with it.
    expect(faults(await send(`id,name\n${id},Mine\n`, '', dealer.jwt))).toEqual(['2 id']);
    const taken = await send('name,terminalId\nMine,1\n', '', dealer.jwt);
    expect([taken.status, faults(taken)]).toEqual([409, ['2 terminalId']]);
    expect(faults(await send(`name,dealerId\nX,${ABSENT}\n`, '', dealer.jwt))).toEqual(['2 dealerId']);
    await newGroup('Operator’s');
    expect(faults(await send('name,groups\nX,Operator’s\n', '', dealer.jwt))).toEqual(['2 groups']);
    expect((await exported('', dealer.jwt)).split('\r\n')).toHaveLength(3);
    expect((await send('no table at all', '', user.jwt)).status).toBe(403);
    expect(await exported('', user.jwt)).toBe(`${HEADER}\r\n`);
    expect(faults(await send(`name,dealerId\nX,${user.user.id}\n`))).toEqual(['2 dealerId']);
  });

  test('a group that the caller does not see is neither exported nor taken away', async () => {
    const dealer = await world.member('dealer', 'dealer');
    const [own, other] = [await newGroup('Own', dealer.user.id), await newGroup('Other')];
    const [{ id }] = (await send('name\nVan\n', '', dealer.jwt)).body.items;
    await world.registry.groups.setVehicle(own.id, id, true);
    await world.registry.groups.setVehicle(other.id, id, true);
    const csv = await exported('', dealer.jwt);
    expect(csv).toContain(',Own,');
    expect(csv).not.toContain('Other');
    expect((await send(csv, '', dealer.jwt)).body).toMatchObject({ unchanged: 1 });
    expect((await send(`id,groups\n${id},\n`, '', dealer.jwt)).body).toMatchObject({ updated: 1 });
    expect((await world.registry.vehicles.get(id))?.groupIds).toEqual([other.id]);
  });

  test('only the vehicles of one group are exported where one is named', async () => {
    const group = await newGroup('Some');
    await send('name,groups\nIn,Some\nOut,\n');
    expect((await exported(`?groupId=${group.id}`)).split('\r\n').slice(1, -1)).toHaveLength(1);
    expect((await world.call('GET', `/api/v1/vehicles/export?groupId=${ABSENT}`, { jwt })).status).toBe(404);
  });

  test('thousands go at once, an export comes in parts, and more than that is refused', {
    timeout: 60_000,
  }, async () => {
    const csv = (count: number) =>
      `name,terminalId\n${Array.from({ length: count }, (_, nth) => `Van ${nth},t${nth}`).join('\n')}\n`;
    expect((await send(csv(2500))).body).toMatchObject({ created: 2500 });
    expect(world.directory.vehicleOfTerminal('t2499' as TerminalId)).toMatchObject({ name: 'Van 2499' });
    const response = await world.api.fetch(
      new Request('http://outrider.test/api/v1/vehicles/export', { headers: { authorization: `JWT ${jwt}` } }),
    );
    let parts = 0;
    for await (const _ of response.body ?? []) parts += 1;
    expect(parts).toBe(5);
    const all = await exported();
    expect(all.split('\r\n')).toHaveLength(2502);
    expect((await send(all)).body).toMatchObject({ unchanged: 2500 });

    expect(faults(await send(csv(MAX_ROWS + 1)))).toEqual([`${MAX_ROWS + 2}`]);
    expect((await send(`name\n${'x'.repeat(8 * 1024 * 1024)}`)).status).toBe(413);
  });

  test('every field of a vehicle has a column', () => {
    for (const name of Object.keys(VEHICLE_FIELDS)) expect(VEHICLE_COLUMNS).toContain(name);
  });
});
