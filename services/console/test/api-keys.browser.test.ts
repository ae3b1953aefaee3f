import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { axeViolations, CHROMIUM, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };

describe.skipIf(CHROMIUM === undefined)('API keys in a browser', { timeout: 120_000 }, () => {
  const demo = useDemo();

  const keysOf = (page: Page) => page.getByRole('region', { name: 'API keys', exact: true });
  const withKey = (key: string, path: string, method = 'GET') =>
    fetch(demo.url + path, { method, headers: { authorization: `Bearer ${key}` } });

  test('a key is made, shown once, used, and revoked after a question', async () => {
    const { page, faults } = await demo.enter(demo.operator);
    await page.goto(`${demo.url}/me`);
    await keysOf(page).getByText('No API keys').waitFor();
    await keysOf(page).getByRole('button', { name: 'New API key', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'New API key', exact: true });
    await dialog.getByLabel('Name', { exact: true }).fill('Dispatch');
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'New API key', exact: true }).click();
    const key = await dialog.getByLabel('API key', { exact: true }).inputValue();
    expect(key).toMatch(/^outrider_[0-9a-f]{32}_[\w-]{43}$/);
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByText('Copied.').waitFor();
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();

    const row = keysOf(page).getByRole('listitem').filter({ hasText: 'Dispatch' });
    await row.getByText('Never used').waitFor();
    await row.getByText('Read · All groups').waitFor();
    expect(await page.content()).not.toContain(key);
    expect((await withKey(key, '/api/v1/vehicles')).status).toBe(200);
    expect((await withKey(key, '/api/v1/me', 'PATCH')).status).toBe(403);
    await page.reload();
    await row.getByText('127.0.0.1').waitFor();

    await row.getByRole('button', { name: 'Revoke the API key “Dispatch”', exact: true }).click();
    await page
      .getByRole('dialog', { name: 'Revoke', exact: true })
      .getByRole('button', { name: 'Revoke', exact: true })
      .click();
    await keysOf(page).getByText('No API keys').waitFor();
    await expect.poll(async () => (await withKey(key, '/api/v1/vehicles')).status, PATIENCE).toBe(401);
    expect(faults).toEqual([]);
  });

  test('an operator sees the keys of an account beside its sessions, and revokes them', async () => {
    const login = await fetch(`${demo.url}/auth/login?jwt=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ login: demo.login, password: demo.password }),
    });
    const { jwt } = (await login.json()) as { jwt: string };
    const headers = { authorization: `JWT ${jwt}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'Warehouse', scopes: ['read'] });
    const made = await fetch(`${demo.url}/api/v1/api-keys`, { method: 'POST', headers, body });
    const { key, userId } = (await made.json()) as { key: string; userId: string };
    const { page, faults } = await demo.enter(demo.operator);
    await page.goto(`${demo.url}/users?user=${userId}`);
    await keysOf(page).getByText('Warehouse', { exact: true }).waitFor();
    // They are made by their user alone.
    expect(await keysOf(page).getByRole('button', { name: 'New API key', exact: true }).count()).toBe(0);
    await keysOf(page).getByRole('button', { name: 'Revoke the API key “Warehouse”', exact: true }).click();
    await page
      .getByRole('dialog', { name: 'Revoke', exact: true })
      .getByRole('button', { name: 'Revoke', exact: true })
      .click();
    await keysOf(page).getByText('No API keys').waitFor();
    expect((await withKey(key, '/api/v1/vehicles')).status).toBe(401);
    expect(faults).toEqual([]);
  });
});
