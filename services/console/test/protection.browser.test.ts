import { readFile } from 'node:fs/promises';
import type { Driver, User, Vehicle, VehicleGroup } from '@outrider/client';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { axeViolations, CHROMIUM, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };
const NARROW = { viewport: { width: 390, height: 780 } };
/** Long before the demo began: a position for each of these hours. */
const DAY = '2025-03-10';
const HOURS = 20;

describe.skipIf(CHROMIUM === undefined)('data protection in a browser', { timeout: 240_000 }, () => {
  const demo = useDemo();
  const dealer = () => ({ login: 'demo-dealer', password: demo.password });

  /** Has the data of a person made, and saves the file. */
  async function exported(page: Page, section: Locator, action: string) {
    await section.getByRole('button', { name: action, exact: true }).click();
    const link = section.getByRole('link', { name: 'Save the file', exact: true });
    await link.waitFor({ timeout: PATIENCE.timeout });
    expect(await axeViolations(page)).toEqual([]);
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    await section.getByRole('button', { name: 'Create it again', exact: true }).waitFor();
    return { name: download.suggestedFilename(), held: JSON.parse(await readFile(await download.path(), 'utf8')) };
  }

  const isWithin = (page: Page) =>
    page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

  test('a user saves what is held about the own account, on a telephone as well', async () => {
    const { page, faults } = await demo.enter(demo, '/me', NARROW);
    const section = page.getByRole('region', { name: 'Data protection', exact: true });
    await section.scrollIntoViewIfNeeded();
    const { name, held } = await exported(page, section, 'Export my data');
    expect(name).toMatch(/^user-.+\.json$/);
    expect(held).toMatchObject({ data: { profile: [{ login: demo.login }] }, leftOut: [] });
    expect(held.data.sessions.length).toBeGreaterThan(0);
    expect(await isWithin(page)).toBe(true);
    expect(faults).toEqual([]);
  });

  test('a dealer saves what is held about a user and a driver of its own, and learns where it fails', async () => {
    const call = await demo.as(dealer());
    const { items: users } = await call<{ items: User[] }>('GET', '/api/v1/users');
    const user = users.find(({ role }) => role === 'user') as User;
    const { items: drivers } = await call<{ items: Driver[] }>('GET', '/api/v1/drivers?q=Carmen');
    const { page, faults } = await demo.enter(dealer(), `/users?user=${user.id}`);
    const account = page.getByRole('complementary', { name: 'Account', exact: true });
    const ofUser = account.getByRole('region', { name: 'Data protection', exact: true });
    const first = await exported(page, ofUser, 'Export the data');
    expect(first.held).toMatchObject({ data: { profile: [{ id: user.id, login: user.login }] } });
    expect(first.held.leftOut).toContain('sessions');

    await page.setViewportSize(NARROW.viewport);
    await page.goto(`${demo.url}/drivers?driver=${drivers[0]?.id}&tab=details`);
    const panel = page.getByRole('complementary', { name: 'Carmen Ruiz' });
    const ofDriver = panel.getByRole('region', { name: 'Data protection', exact: true });
    const second = await exported(page, ofDriver, 'Export the data');
    expect(second.name).toMatch(/^driver-.+\.json$/);
    expect(second.held.data.profile).toMatchObject([{ name: 'Carmen Ruiz' }]);
    expect(await isWithin(page)).toBe(true);

    await page.route('**/api/v1/jobs/*', async (route) => {
      const job = await (await route.fetch()).json();
      await route.fulfill({ json: { ...job, state: 'failed', result: null, error: 'The store is full.' } });
    });
    await ofDriver.getByRole('button', { name: 'Create it again', exact: true }).click();
    await ofDriver.getByRole('alert').getByText('The file could not be created: The store is full.').waitFor();
    await ofDriver.getByRole('button', { name: 'Export the data', exact: true }).waitFor();
    expect(await ofDriver.getByRole('link').count()).toBe(0);
    expect(await axeViolations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('the history of a vehicle is counted, asked about, and erased for good', async () => {
    const call = await demo.as(dealer());
    const { id, name } = (await call<{ items: Vehicle[] }>('GET', '/api/v1/vehicles?q=Van%2003')).items[0] as Vehicle;
    const history = ['fixTime,latitude,longitude'];
    for (let hour = 0; hour < HOURS; hour++) history.push(`${DAY}T${String(hour).padStart(2, '0')}:00:00Z,59.9,30.3`);
    await call('POST', `/api/v1/vehicles/${id}/history`, `${history.join('\n')}\n`);

    const { page, faults } = await demo.enter(dealer(), `/vehicles?vehicle=${id}`, { timezoneId: 'UTC' });
    await page.getByRole('button', { name: 'Erase history', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: `Erase history: ${name}`, exact: true });
    const day = dialog.getByLabel('Before', { exact: true });
    const count = dialog.getByRole('button', { name: 'Count', exact: true });
    const erase = dialog.getByRole('button', { name: 'Erase history', exact: true });
    const counted = dialog.getByText(new RegExp(`^${HOURS} positions, \\d+ events, 0 videos, 0 notifications$`));

    await day.fill(DAY);
    await count.click();
    await dialog.getByText('There is nothing from before this day.').waitFor();
    expect(await erase.count()).toBe(0);
    await day.fill('2999-01-01');
    await count.click();
    await dialog.locator('.field .error').waitFor();
    expect(await day.getAttribute('aria-invalid')).toBe('true');
    expect(await axeViolations(page)).toEqual([]);

    await day.fill('2025-03-11');
    // What was taken is in the archive within a second.
    await expect
      .poll(async () => {
        await count.click();
        await dialog.locator('p[role=status]').waitFor();
        return counted.count();
      }, PATIENCE)
      .toBe(1);
    await erase.click();
    const question = page.getByRole('dialog', { name: 'Erase history', exact: true });
    await question.getByText(/^Erase everything from before .*2025\? This can’t be undone\.$/).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await question.getByRole('button', { name: 'Cancel', exact: true }).click();
    await question.waitFor({ state: 'hidden' });
    await count.click();
    await counted.waitFor();

    await page.setViewportSize(NARROW.viewport);
    await erase.click();
    expect(await isWithin(page)).toBe(true);
    await question.getByRole('button', { name: 'Erase history', exact: true }).click();
    await dialog.locator('.job').getByText('Done', { exact: true }).waitFor({ timeout: PATIENCE.timeout });
    // What was counted is there no more, and is said no more.
    expect(await counted.count()).toBe(0);
    expect(await erase.count()).toBe(0);
    expect(await axeViolations(page)).toEqual([]);
    await count.click();
    await dialog.getByText('There is nothing from before this day.').waitFor();
    expect(faults).toEqual([]);
  });

  test('a group keeps the history of its vehicles for a number of days, or without a limit', async () => {
    const call = await demo.as(dealer());
    const { id } = await call<VehicleGroup>('POST', '/api/v1/vehicle-groups', { name: 'Rented' });
    const kept = async () =>
      (await call<{ items: VehicleGroup[] }>('GET', '/api/v1/vehicle-groups')).items.find((group) => group.id === id)
        ?.retentionDays;
    const { page, faults } = await demo.enter(dealer(), `/groups?group=${id}`, NARROW);
    const panel = page.getByRole('complementary', { name: 'Rented', exact: true });
    const days = panel.getByLabel('Keep history for (days)', { exact: true });
    const save = panel.getByRole('button', { name: 'Save', exact: true });
    await days.fill('0');
    await save.click();
    expect(await days.evaluate((input: HTMLInputElement) => input.validity.rangeUnderflow)).toBe(true);
    expect(await kept()).toBeNull();
    await days.fill('30');
    expect(await axeViolations(page)).toEqual([]);
    expect(await isWithin(page)).toBe(true);
    await save.click();
    await page.getByText('The group was saved.').waitFor();
    expect(await kept()).toBe(30);
    await page.goto(`${demo.url}/groups?group=${id}`);
    await expect.poll(() => days.inputValue(), PATIENCE).toBe('30');
    await days.fill('');
    await save.click();
    await expect.poll(kept, PATIENCE).toBeNull();
    expect(faults).toEqual([]);
  });
});
