import type { User, Vehicle } from '@outrider/client';
import { describe, expect, test } from 'vitest';
import { axeViolations, CHROMIUM, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };

describe.skipIf(CHROMIUM === undefined)('Rights and suspensions in a browser', { timeout: 180_000 }, () => {
  const demo = useDemo();

  test('the form of an account gives rights, and pages follow as they are given and taken away', async () => {
    const { page, faults } = await demo.enter(demo.operator);
    await page.goto(`${demo.url}/users?user=new`);
    const form = page.getByRole('complementary', { name: 'Account', exact: true });
    await form.getByLabel('Login', { exact: true }).fill('reader');
    const password = await form.getByLabel('New password', { exact: true }).inputValue();
    const rights = form.getByRole('group', { name: 'May change', exact: true });
    for (const name of ['Geofences', 'Notifications', 'Share links'])
      await rights.getByRole('checkbox', { name }).uncheck();
    await rights.getByText('Nothing: the account is read-only.').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await form.getByRole('button', { name: 'Save', exact: true }).click();
    const operator = await demo.as(demo.operator);
    const account = async () => (await operator<{ items: User[] }>('GET', '/api/v1/users?q=reader')).items[0];
    await expect.poll(async () => (await account())?.rights, PATIENCE).toEqual([]);
    const id = (await account())?.id ?? '';

    const groups = await operator<{ items: { id: string }[] }>('GET', '/api/v1/vehicle-groups');
    await operator('PATCH', `/api/v1/users/${id}`, { groupIds: groups.items.map((group) => group.id) });
    const reader = await demo.enter({ login: 'reader', password });
    await reader.page.goto(`${demo.url}/geofences`);
    await reader.page.getByRole('link', { name: 'Export', exact: true }).waitFor();
    const circle = reader.page.getByRole('button', { name: 'Circle' });
    expect(await circle.isVisible()).toBe(false);
    await operator('PATCH', `/api/v1/users/${id}`, { rights: ['edit-geofences'] });
    await circle.waitFor();
    await operator('PATCH', `/api/v1/users/${id}`, { rights: [] });
    await circle.waitFor({ state: 'hidden' });
    expect([...faults, ...reader.faults]).toEqual([]);
  });

  test('a dealer’s panel says how long the fleet keeps histories, for the dealer as well', async () => {
    const operator = await demo.as(demo.operator);
    const users = await operator<{ items: User[] }>('GET', '/api/v1/users?q=demo-dealer');
    const { id } = users.items[0] as User;
    const kept = async () =>
      (await operator<{ retentionDays: number | null }>('GET', `/api/v1/users/${id}/retention`)).retentionDays;
    const { page, faults } = await demo.enter({ login: 'demo-dealer', password: demo.password });
    await page.goto(`${demo.url}/users?user=${id}`);
    const days = page.getByLabel('Keep history of the fleet for (days)', { exact: true });
    await days.fill('400');
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save retention', exact: true }).click();
    await page.getByText('Retention saved').waitFor();
    await expect.poll(kept, PATIENCE).toBe(400);
    const other = await demo.enter(demo.operator);
    await other.page.goto(`${demo.url}/users?user=${id}`);
    const seen = other.page.getByLabel('Keep history of the fleet for (days)', { exact: true });
    await expect.poll(() => seen.inputValue(), PATIENCE).toBe('400');
    await seen.fill('');
    await other.page.getByRole('button', { name: 'Save retention', exact: true }).click();
    await expect.poll(kept, PATIENCE).toBeNull();
    expect([...faults, ...other.faults]).toEqual([]);
  });

  test('the demo has a vehicle that is suspended with a reason, and an account that changes nothing', async () => {
    const viewer = { login: 'demo-viewer', password: demo.password };
    const { page, faults } = await demo.enter(viewer, '/?q=Supervisor%2001');
    const row = page.locator('.vehicle').filter({ hasText: 'Supervisor 01' });
    await row.getByText('Suspended', { exact: true }).waitFor();
    await page.goto(`${demo.url}/geofences`);
    await page.getByRole('link', { name: 'Export', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Circle' }).isVisible()).toBe(false);
    expect(faults).toEqual([]);
  });

  test('a vehicle is suspended with a reason, leaves the map of its users, and comes back', async () => {
    const operator = await demo.as(demo.operator);
    const user = await demo.as(demo);
    const vehicle = (await user<{ items: Vehicle[] }>('GET', '/api/v1/vehicles?limit=1')).items[0] as Vehicle;
    const watching = await demo.enter(demo, `/?vehicle=${vehicle.id}`);
    const panel = watching.page.getByRole('complementary', { name: vehicle.name, exact: true });
    await panel.getByText('Last contact', { exact: true }).waitFor();

    const { page, faults } = await demo.enter(demo.operator);
    await page.goto(`${demo.url}/vehicles?vehicle=${vehicle.id}`);
    await page.getByRole('button', { name: 'Suspend', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: `Suspend “${vehicle.name}”`, exact: true });
    await dialog.getByLabel('Reason', { exact: true }).fill('Invoice 1204 is unpaid.');
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByRole('row').filter({ hasText: vehicle.name }).getByText('Suspended', { exact: true }).waitFor();

    await panel.getByText('Invoice 1204 is unpaid.').waitFor();
    await panel.getByText('Last contact', { exact: true }).waitFor({ state: 'hidden' });
    await watching.page.goto(`${demo.url}/?q=${encodeURIComponent(vehicle.name)}`);
    const row = watching.page.locator('.vehicle').filter({ hasText: vehicle.name });
    await row.getByText('Suspended', { exact: true }).waitFor();
    expect(await axeViolations(watching.page)).toEqual([]);

    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await row.getByText('Suspended', { exact: true }).waitFor({ state: 'hidden' });
    await row.getByRole('button').first().click();
    await panel.getByText('Last contact', { exact: true }).waitFor();
    // What was known of it came again: it is on the map.
    await expect.poll(() => panel.getByText('No position').count(), PATIENCE).toBe(0);
    const { suspension } = await operator<Vehicle>('GET', `/api/v1/vehicles/${vehicle.id}`);
    expect(suspension).toBeNull();
    expect([...faults, ...watching.faults]).toEqual([]);
  });
});
