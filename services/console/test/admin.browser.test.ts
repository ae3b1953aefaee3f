import type { Position, TerminalId } from '@outrider/domain';
import { createTeltonikaSimulator } from '@outrider/protocols';
import { createTcpTerminal } from '@outrider/simulator';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { axeViolations, CHROMIUM, type PageOptions, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };
const MANY = 500;

describe.skipIf(CHROMIUM === undefined)('vehicles, groups and terminals in a browser', { timeout: 120_000 }, () => {
  const demo = useDemo();

  const operator = (path: string, options?: PageOptions) => demo.enter(demo.operator, path, options);
  const rows = (page: Page) =>
    page.getByRole('region', { name: 'Vehicles', exact: true }).locator('tbody tr:not(.gap)');
  const csv = (text: string) => ({ name: 'fleet.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  /** Calls the API as the page does. */
  const call = (page: Page, method: string, path: string, body?: unknown) =>
    page.evaluate(
      async ([how, where, what]) => {
        const headers = { 'content-type': how === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
        const response = await fetch(where, { method: how, ...(what === undefined ? {} : { headers, body: what }) });
        return response.status === 204 ? null : response.json();
      },
      [method, path, body === undefined ? undefined : JSON.stringify(body)] as const,
    );

  test('a CSV with a wrong row is refused by row and column, mended, tried and imported', async () => {
    const { page, faults } = await operator('/vehicles?q=Tanker');
    await page.getByText('No vehicle matches').waitFor();
    await page.getByRole('link', { name: 'Import CSV' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import CSV' });
    const file = dialog.locator('input[type=file]');
    await file.setInputFiles(csv('name,plate,speedLimitKmh\nTanker 1,A1,80\nTanker 2,A2,9000\n'));
    await dialog.getByText('1 error was found. Nothing was imported.').waitFor();
    const wrong = await dialog.locator('tbody tr').first().locator('td').allTextContents();
    expect(wrong.slice(0, 2)).toEqual(['3', 'speedLimitKmh']);
    expect(await axeViolations(page)).toEqual([]);
    await file.setInputFiles(csv('name,plate,speedLimitKmh\nTanker 1,A1,80\nTanker 2,A2,90\n'));
    await dialog.getByText('New: 2. Changed: 0. Unchanged: 0.').waitFor();
    // It was a dry run.
    expect((await call(page, 'GET', '/api/v1/vehicles?q=Tanker')).items).toEqual([]);
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await dialog.getByText('The file was imported. New: 2.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await expect.poll(() => rows(page).count(), PATIENCE).toBe(2);
    expect(faults).toEqual([]);
  });

  test('an unknown terminal becomes a vehicle in two clicks, and its position is seen arriving', async () => {
    const { page, faults } = await operator('/terminals');
    const { items } = await call(page, 'GET', '/api/v1/terminal-protocols');
    const { port } = items.find(({ name }: { name: string }) => name === 'teltonika');
    const terminal = createTcpTerminal({
      host: '127.0.0.1',
      port,
      terminalId: '356307042449999' as TerminalId,
      createSimulator: createTeltonikaSimulator,
      backoffMs: [500, 2000],
    });
    try {
      terminal.record([fixAt(59.94, 30.31)]);
      await page.getByRole('button', { name: 'Add vehicle' }).click();
      expect(await page.getByLabel('Name').inputValue()).toBe('Vehicle Teltonika …449999');
      expect(await axeViolations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Create' }).click();
      const card = page.getByRole('region', { name: 'Vehicle Teltonika …449999' });
      await card.getByText('The first position has arrived.').waitFor();
      await card.getByText('59.94000, 30.31000').waitFor();
      await card.locator('.maplibregl-canvas').waitFor();
      await page.getByText('No unknown terminal has connected').waitFor();
      await page.getByRole('link', { name: 'Teltonika Codec 8' }).click();
      await page.getByRole('article').getByText(String(port)).first().waitFor();
      expect(faults).toEqual([]);
    } finally {
      await terminal.close();
    }
  });

  test(`${MANY} vehicles are chosen by what they match, put into a group, and taken out again`, async () => {
    const { page, faults } = await operator('/vehicles?q=Lorry');
    const lines = Array.from({ length: MANY }, (_, n) => `Lorry ${n}`).join('\n');
    await page.evaluate(
      (body) =>
        fetch('/api/v1/vehicles/import', { method: 'POST', headers: { 'content-type': 'text/csv' }, body }).then((r) =>
          r.json(),
        ),
      `name\n${lines}\n`,
    );
    const group = await call(page, 'POST', '/api/v1/vehicle-groups', { name: 'Lorries' });
    await page.reload();
    await rows(page).first().waitFor();
    await page.getByLabel('Choose all rows').check();
    await page.getByRole('button', { name: 'Choose all that match' }).click();
    await page.getByText(`${MANY} vehicles chosen`).first().waitFor();
    await page.getByRole('button', { name: 'Add to group…' }).click();
    const dialog = page.getByRole('dialog', { name: /Add to group/ });
    await dialog.getByRole('button', { name: /^Group/ }).click();
    await dialog.getByRole('searchbox').fill('Lorries');
    await dialog.getByText('Lorries', { exact: true }).click();
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Check' }).click();
    await dialog.getByText(`${MANY} vehicles would change.`).waitFor();
    const members = async () => {
      const { items } = await call(page, 'GET', `/api/v1/vehicles?groupId=${group.id}&limit=1000`);
      return items.length;
    };
    expect(await members()).toBe(0);
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.getByText(`${MANY} vehicles were changed.`).waitFor();
    expect(await members()).toBe(MANY);
    await dialog.getByRole('button', { name: 'Undo' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await members()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('by keyboard: a vehicle is added, refused at its field, saved; a change by somebody else stands beside it', async () => {
    const { page, faults } = await operator('/vehicles');
    await page.getByRole('link', { name: 'New vehicle' }).press('Enter');
    const form = page.getByRole('complementary');
    await form.getByLabel('Name').fill('Crane 1');
    await form.getByLabel(/^VIN/).fill('too short');
    await form.getByLabel(/^VIN/).press('Enter');
    await expect.poll(() => form.getByLabel(/^VIN/).getAttribute('aria-invalid'), PATIENCE).toBe('true');
    await form.getByLabel(/^VIN/).fill('');
    await form.getByRole('radio', { name: 'Crane' }).press('Space');
    await form.getByRole('radio', { name: 'Teal' }).press('Space');
    await form.getByRole('button', { name: 'Save' }).press('Enter');
    await expect.poll(() => new URL(page.url()).searchParams.get('vehicle'), PATIENCE).toMatch(/^[0-9a-f-]{36}$/);
    const id = new URL(page.url()).searchParams.get('vehicle');
    expect(await call(page, 'GET', `/api/v1/vehicles/${id}`)).toMatchObject({ icon: 'crane', color: '#0f766e' });
    await form.getByLabel('Plate').fill('MINE 1');
    await call(page, 'PATCH', `/api/v1/vehicles/${id}`, { plate: 'THEIRS 2', speedLimitKmh: 40 });
    await form.getByRole('button', { name: 'Save' }).press('Enter');
    const conflict = form.getByRole('alert');
    await conflict.getByText('MINE 1').waitFor();
    await conflict.getByText('THEIRS 2').waitFor();
    await conflict.getByRole('button', { name: 'Keep mine' }).press('Enter');
    await form.getByRole('button', { name: 'Save' }).press('Enter');
    await form.waitFor({ state: 'detached' });
    expect(await call(page, 'GET', `/api/v1/vehicles/${id}`)).toMatchObject({ plate: 'MINE 1', speedLimitKmh: 40 });
    await page.goto(`${demo.url}/vehicles?vehicle=${id}`);
    await form.getByRole('button', { name: 'Delete' }).press('Enter');
    const question = page.getByRole('dialog', { name: 'Delete' });
    await question.getByText('Delete “Crane 1”?').waitFor();
    await question.getByRole('button', { name: 'Delete' }).press('Enter');
    await form.waitFor({ state: 'detached' });
    expect((await call(page, 'GET', `/api/v1/vehicles/${id}`)).status).toBe(404);
    expect(faults).toEqual([]);
  });

  test('a vehicle is moved to a dealer, whose vehicle begins anew, and its history stays', async () => {
    const { page, faults } = await operator('/vehicles');
    const dealer = { login: 'rental', name: 'Rental', role: 'dealer', password: 'a password of a dealer' };
    const { id: dealerId } = await call(page, 'POST', '/api/v1/users', dealer);
    const { id } = await call(page, 'POST', '/api/v1/vehicles', { name: 'Lent van', terminalId: 'LENT1' });
    await page.goto(`${demo.url}/vehicles?vehicle=${id}`);
    const form = page.getByRole('complementary');
    await form.getByRole('button', { name: 'Move to another owner…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Move to another owner' });
    await dialog.getByRole('radio', { name: 'Stays with the present owner' }).waitFor();
    await dialog.getByRole('combobox', { name: 'Owner' }).selectOption('Rental');
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Move', exact: true }).click();
    await page.getByText('The vehicle was moved.').waitFor();
    const { items } = await call(page, 'GET', '/api/v1/vehicles?q=Lent');
    expect(items).toMatchObject([
      { id, terminalId: null, dealerId: null, historyFrom: null },
      { terminalId: 'LENT1', dealerId, historyFrom: expect.stringMatching(/^2/) },
    ]);
    await page.goto(`${demo.url}/vehicles?vehicle=${items[1].id}`);
    await form.getByText('It came from another owner').waitFor();
    expect(faults).toEqual([]);
  });

  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe finds nothing in ${colorScheme}`, async () => {
      const { page, faults } = await operator('/vehicles', { colorScheme });
      const found: string[] = [];
      await rows(page).first().waitFor();
      found.push(...(await axeViolations(page)));
      await rows(page).first().locator('button').click();
      await page.locator('.detail form').waitFor();
      found.push(...(await axeViolations(page)));
      await page.getByRole('button', { name: 'Video' }).click();
      await page.locator('dialog[open] form.body').waitFor();
      found.push(...(await axeViolations(page)));
      await page.goto(`${demo.url}/groups`);
      await page.locator('tbody button').first().click();
      await page.locator('.members').nth(1).waitFor();
      found.push(...(await axeViolations(page)));
      await page.goto(`${demo.url}/terminals?protocol=gt06`);
      await page.getByRole('article').waitFor();
      found.push(...(await axeViolations(page)));
      expect(found).toEqual([]);
      expect(faults).toEqual([]);
    });

  test('a sensor from a preset is tried, calibrated by a pasted table and saved; its history is a table as well', async () => {
    const { page, faults } = await operator('/vehicles');
    const { items } = await call(page, 'GET', '/api/v1/vehicles?q=Van%2003');
    const { id } = items[0];
    await page.goto(`${demo.url}/vehicles?vehicle=${id}&sensors=1`);
    const dialog = page.getByRole('dialog', { name: 'Sensors: Van 03' });
    await dialog.getByRole('button', { name: 'From presets' }).click();
    await dialog.getByRole('searchbox').fill('supply');
    await dialog.getByLabel('Supply voltage').first().check();
    await dialog.getByRole('button', { name: 'Add 1 sensor' }).click();
    await expect
      .poll(() => dialog.locator('.trial td').allTextContents(), PATIENCE)
      .toContainEqual(expect.stringMatching(/^1\d(\.\d+)? V$/));
    const source = dialog.getByLabel('Expression');
    await source.fill('supplyV +');
    await dialog.locator('.source mark').waitFor();
    await source.fill('supplyV * 1000');
    await dialog.getByRole('button', { name: 'Paste a table…' }).click();
    await dialog.getByLabel(/^Two columns/).fill('Raw\tVolts\n0\t0\n30000\t30');
    await dialog.getByRole('button', { name: 'Use this table' }).click();
    expect(await dialog.locator('.points tbody tr').count()).toBe(2);
    await dialog.locator('.curve').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await call(page, 'PATCH', `/api/v1/vehicles/${id}`, { speedLimitKmh: 71 });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Somebody else has changed this in the meantime.').waitFor();
    await dialog.getByRole('button', { name: 'Keep mine' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The sensors were saved.').waitFor();
    const { sensors } = await call(page, 'GET', `/api/v1/vehicles/${id}`);
    expect(sensors).toMatchObject([{ name: 'Supply voltage', calibration: [{ raw: 0 }, { raw: 30_000, value: 30 }] }]);

    await page.goto(`${demo.url}/track?vehicle=${id}&chart=sensor.${sensors[0].id}&table=1`);
    const table = page.getByRole('dialog', { name: 'Supply voltage' });
    await expect
      .poll(() => table.locator('tbody td.number').allTextContents(), PATIENCE)
      .toContainEqual(expect.stringMatching(/^1\d(\.\d+)? V$/));
    expect(faults).toEqual([]);
  });
});

function fixAt(latitude: number, longitude: number): Position {
  return {
    fixTimeMs: Date.now(),
    latitude,
    longitude,
    valid: true,
    speedKmh: 40,
    courseDeg: 90,
    altitudeM: 10,
    satellites: 9,
    ignition: true,
    odometerM: null,
    supplyV: null,
    fuelL: null,
    alarms: [],
    attributes: {},
  };
}
