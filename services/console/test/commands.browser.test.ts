import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { axeViolations, CHROMIUM, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };

describe.skipIf(CHROMIUM === undefined)('commands in a browser', { timeout: 120_000 }, () => {
  const demo = useDemo();

  const call = (page: Page, method: string, path: string, body?: unknown) =>
    page.evaluate(
      async ([how, where, what]) => {
        const headers = { 'content-type': how === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
        const response = await fetch(where, { method: how, ...(what === undefined ? {} : { headers, body: what }) });
        return response.status === 204 ? null : response.json();
      },
      [method, path, body === undefined ? undefined : JSON.stringify(body)] as const,
    );

  test('a command waits for its terminal, is cancelled, and one that stops the vehicle is guarded', async () => {
    const { page, faults } = await demo.enter(demo.operator);
    const { id } = await call(page, 'POST', '/api/v1/vehicles', {
      name: 'Absent van',
      terminalId: '359999000012345',
      terminalAccess: { protocol: 'teltonika' },
    });
    await page.goto(`${demo.url}/?vehicle=${id}`);
    const panel = page.getByRole('complementary', { name: 'Absent van' });
    await panel.getByRole('button', { name: 'Send command' }).click();
    const dialog = page.getByRole('dialog', { name: 'Command to “Absent van”' });
    await dialog.getByText('The terminal is not connected').waitFor();
    expect(await axeViolations(page)).toEqual([]);

    await dialog.getByLabel('Command', { exact: true }).selectOption({ label: 'Restart the terminal' });
    await dialog.getByLabel('Expires after').selectOption('3600');
    await dialog.getByRole('button', { name: 'Send command' }).click();
    const list = panel.getByRole('list', { name: 'Commands' });
    await list.getByText('Waiting').waitFor();
    expect(await list.getByText(/^expires in (1 hr|60 min|59 min)/).count()).toBe(1);

    await panel.getByRole('button', { name: 'Send command' }).click();
    await dialog.getByLabel('Command', { exact: true }).selectOption({ label: 'Block the engine' });
    await dialog.getByText('This may stop the vehicle').waitFor();
    const only = dialog.getByLabel('Only below, km/h');
    await only.fill('5');
    // Without the confirmation the browser sends nothing.
    await dialog.getByRole('button', { name: 'Send command' }).click();
    expect(await dialog.getByText('Not sent').count()).toBe(0);
    await dialog.getByLabel('I have made sure that nobody is endangered.').check();
    await dialog.getByRole('button', { name: 'Send command' }).click();
    await dialog.getByText('Not sent: the vehicle is not known to be slow enough.').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).last().click();

    await list.getByRole('button', { name: 'Cancel: Restart the terminal' }).click();
    const question = page.getByRole('dialog', { name: 'Cancel' });
    await question.getByRole('button', { name: 'Cancel' }).first().click();
    await list.getByText('Cancelled').waitFor();

    await panel.getByRole('link', { name: 'All commands' }).click();
    const rows = page.getByRole('region', { name: 'Commands' }).locator('tbody tr:not(.gap)');
    await expect.poll(() => rows.count(), PATIENCE).toBe(1);
    expect(await rows.first().textContent()).toContain('Restart the terminal');
    expect(await axeViolations(page)).toEqual([]);
    await page.getByLabel('State').selectOption('queued');
    await page.getByText('No command is in this state.').waitFor();
    expect(new URL(page.url()).searchParams.get('state')).toBe('queued');
    expect(faults).toEqual([]);
  });

  test('a terminal that is connected does what it is asked, and its answer is seen arriving', async () => {
    const { page, faults } = await demo.enter(demo.operator);
    const { items } = await call(page, 'GET', '/api/v1/vehicles?protocol=teltonika&limit=1');
    const { id, name } = items[0];
    await page.goto(`${demo.url}/?vehicle=${id}`);
    const panel = page.getByRole('complementary', { name });
    await panel.getByRole('button', { name: 'Send command' }).click();
    const dialog = page.getByRole('dialog', { name: `Command to “${name}”` });
    await dialog.getByText('The terminal is connected').waitFor();
    await dialog.getByLabel('Command', { exact: true }).selectOption({ label: 'Request the position' });
    await dialog.getByRole('button', { name: 'Send command' }).click();
    const list = panel.getByRole('list', { name: 'Commands' });
    await list.getByText('Done').waitFor({ timeout: 60_000 });
    await list.getByText(/^Answer: /).waitFor();
    expect(faults).toEqual([]);
  });

  test('a user has commands only with the right, which is granted in the console', async () => {
    const { page, faults } = await demo.enter(demo.operator);
    const { items } = await call(page, 'GET', `/api/v1/users?q=${demo.login}`);
    const account = items.find(({ login }: { login: string }) => login === demo.login);
    await call(page, 'PATCH', `/api/v1/users/${account.id}`, { services: [] });

    const other = await demo.enter(demo);
    const vehicles = await call(other.page, 'GET', '/api/v1/vehicles?limit=1');
    await other.page.goto(`${demo.url}/?vehicle=${vehicles.items[0].id}`);
    const panel = other.page.getByRole('complementary', { name: vehicles.items[0].name });
    await panel.getByRole('heading', { name: 'Trips today' }).waitFor();
    expect(await panel.getByRole('button', { name: 'Send command' }).count()).toBe(0);

    await page.goto(`${demo.url}/users?user=${account.id}`);
    await page.getByLabel('May send text commands').check();
    expect(await page.getByLabel('May send commands', { exact: false }).first().isChecked()).toBe(true);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('The account was saved.').waitFor();
    await panel.getByRole('button', { name: 'Send command' }).waitFor({ timeout: 60_000 });
    expect([...faults, ...other.faults]).toEqual([]);
  });
});
