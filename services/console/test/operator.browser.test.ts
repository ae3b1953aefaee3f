import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { axeViolations, CHROMIUM, type PageOptions, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };
const PHONE = { width: 390, height: 780 };

describe.skipIf(CHROMIUM === undefined)('administration in a browser', { timeout: 120_000 }, () => {
  const demo = useDemo();

  /** A page with the demo's operator logged in. */
  const operator = (options?: PageOptions, path?: string) => demo.enter(demo.operator, path, options);

  test('the page opens without a connection, and no answer of the API is kept', async () => {
    const { page, faults } = await operator({ serviceWorkers: 'allow' });
    const keptPaths = () =>
      page.evaluate(async () => {
        const found: string[] = [];
        for (const name of await caches.keys())
          for (const { url } of await (await caches.open(name)).keys()) found.push(new URL(url).pathname);
        return found;
      });
    await expect.poll(async () => (await keptPaths()).includes('/'), PATIENCE).toBe(true);
    for (const path of await keptPaths())
      expect(path).toMatch(/^\/$|^\/(assets|icons)\/[\w.-]+$|^\/(favicon\.svg|manifest\.webmanifest)$/);
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
    await page.context().setOffline(true);
    await page.goto(`${demo.url}/track`);
    await page.getByText('The service could not be reached').waitFor();
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: 'Track', exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test('each part of the service has a name in words', async () => {
    const { page } = await operator({}, '/operator');
    await page.locator('.parts li').first().waitFor();
    const names = await page.locator('.parts li > span:first-child').allTextContents();
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !/^[A-Z]/.test(name))).toEqual([]);
  });

  test('on a phone a drawer has every screen', async () => {
    const { page, faults } = await operator({ viewport: PHONE });
    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    const drawer = page.locator('#views-menu');
    await drawer.getByRole('link', { name: 'Geofences' }).click();
    await page.getByRole('button', { name: 'New circle' }).waitFor();
    await drawer.waitFor({ state: 'hidden' });
    expect(faults).toEqual([]);
  });

  test('an account is made, sees its group alone, loses it, and its session ends: the audit trail has it all', async () => {
    const { page, faults } = await operator({}, '/users');
    await page.getByRole('button', { name: 'New user' }).click();
    const panel = page.getByRole('complementary', { name: 'Account' });
    await panel.getByLabel('Login').fill('demo');
    await panel.getByRole('button', { name: 'Save', exact: true }).click();
    await expect.poll(() => panel.getByLabel('Login').getAttribute('aria-invalid'), PATIENCE).toBe('true');
    await panel.getByLabel('Login').fill('nina');
    const password = await panel.getByLabel('New password').inputValue();
    expect(password).toMatch(/^(\w{4}-){3}\w{4}$/);
    await panel.getByRole('button', { name: /^Groups/ }).click();
    await page.getByRole('checkbox', { name: 'Long haul' }).check();
    await page.keyboard.press('Escape');
    await panel.getByRole('button', { name: 'Save', exact: true }).click();
    await panel.getByRole('heading', { name: 'nina' }).waitFor();

    const nina = await demo.enter({ login: 'nina', password });
    const names = () => nina.page.locator('.vehicle strong').allTextContents();
    await expect.poll(async () => (await names()).length, PATIENCE).toBeGreaterThan(3);
    for (const name of await names()) expect(name).toMatch(/^Truck/);
    // What her rights don't allow is neither in the menu nor shown by its address.
    await nina.page.goto(`${demo.url}/users`);
    await nina.page.getByText('You do not have the right to see this.').waitFor();
    await nina.page.goto(demo.url);
    await nina.page.locator('.vehicle').first().waitFor();

    await panel.getByRole('button', { name: /^Groups/ }).click();
    await page.getByRole('checkbox', { name: 'Long haul' }).uncheck();
    await page.keyboard.press('Escape');
    await panel.getByRole('button', { name: 'Save', exact: true }).click();
    await nina.page.getByText('You have no vehicles yet').waitFor();

    await page.reload();
    await panel.getByRole('region', { name: 'Sessions' }).getByRole('button', { name: 'End' }).click();
    await nina.page.getByText('Your session has ended').waitFor();

    await page.goto(`${demo.url}/operator?tab=audit`);
    const trail = page.getByRole('list', { name: 'Audit trail' });
    await trail.getByText('ended a session').first().waitFor();
    await trail.locator('li', { hasText: 'nina' }).filter({ hasText: 'changed' }).first().click();
    await trail.getByRole('rowheader', { name: 'groupIds' }).first().waitFor();
    expect(faults).toEqual([]);
    expect(nina.faults).toEqual([]);
  });

  test('a blocked account is shown and let in again; a deleted one asks first', async () => {
    const { page, faults } = await operator({}, '/users?user=new');
    const panel = page.getByRole('complementary', { name: 'Account' });
    await panel.getByLabel('Login').fill('otto');
    await panel.getByRole('button', { name: 'Save', exact: true }).click();
    await panel.getByRole('button', { name: 'Block', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Block' }).click();
    await panel.getByRole('button', { name: 'Unblock' }).waitFor();
    await page.getByRole('combobox', { name: 'State' }).selectOption('true');
    await page.getByRole('row', { name: /otto/ }).waitFor();
    // Delete waits for the answer: it would be refused with the version from before.
    await page.route('**/unblock', async (route) => {
      const response = await route.fetch();
      await setTimeout(1000);
      await route.fulfill({ response });
    });
    await panel.getByRole('button', { name: 'Unblock' }).click();
    await panel.getByRole('button', { name: 'Delete' }).click();
    await page
      .getByRole('dialog')
      .getByText(/geofences, notification rules/)
      .waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await panel.waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  test('the service says how it is, who is logged in, and which maps it serves', async () => {
    const { page, faults } = await operator({}, '/operator');
    await page.getByText('Everything works').waitFor();
    await page.getByRole('img', { name: /^Terminals connected/ }).waitFor();
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('cell', { name: 'This session' }).waitFor();
    await page.getByRole('link', { name: 'Dead letters' }).click();
    await page.getByText('Every record could be processed').waitFor();
    await page.getByRole('link', { name: 'Maps', exact: true }).click();
    await page.getByRole('cell', { name: 'world.mbtiles' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('jobs of each state are shown, and a program that reads the page aloud can name their progress', async () => {
    const { page, faults } = await operator();
    const job = {
      userId: null,
      startedAt: null,
      createdAt: '2026-09-01T06:00:00.000Z',
      finishedAt: null,
      kind: 'late-data',
      subjectId: null,
      from: '2026-09-01T05:00:00.000Z',
      to: '2026-09-01T05:10:00.000Z',
      positions: 0,
      result: null,
    };
    const states = ['queued', 'running', 'done', 'failed', 'cancelled'];
    const items = states.map((state, at) => ({
      ...job,
      id: `00000000-0000-4000-8000-00000000000${at}`,
      state,
      percent: state === 'done' ? 100 : 40 * at,
      error: state === 'failed' ? 'The archive is full.' : null,
    }));
    await page.route('**/api/v1/jobs?*', (route) => route.fulfill({ json: { items, nextCursor: null } }));
    await page.goto(`${demo.url}/operator?tab=jobs`);
    await page.getByRole('progressbar', { name: 'Queued' }).waitFor();
    await page.getByRole('progressbar', { name: 'Running' }).waitFor();
    await page.getByText('The archive is full.').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe finds nothing in ${colorScheme}`, async () => {
      const { page, faults } = await operator({ colorScheme, reducedMotion: 'reduce' });
      const screens: [path: string, shown: string][] = [
        ['/users?user=new', '.side-panel form'],
        ['/operator', '.trend'],
        ['/operator?tab=audit', '.audit'],
        ['/operator?tab=sessions', '.table'],
        ['/operator?tab=jobs', '.message, .table'],
        ['/operator?tab=maps', '.table'],
        ['/me', '.meters'],
      ];
      for (const [path, shown] of screens) {
        await page.goto(demo.url + path);
        await page.locator(shown).first().waitFor();
        expect(await axeViolations(page), path).toEqual([]);
      }
      await page.setViewportSize(PHONE);
      await page.getByRole('button', { name: 'Menu', exact: true }).click();
      expect(await axeViolations(page), 'drawer').toEqual([]);
      expect(faults).toEqual([]);
    });
});
