import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { VIEWS } from '../src/screens.ts';
import { axeViolations, CHROMIUM, type Login, logIn, type PageOptions, pixelsOf, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };
const SLOWLY = { timeout: 60_000, interval: 250 };
const PHONE = { width: 390, height: 780 };
/** The rim of taxis, which are all in one group. */
const TAXI_RIM = [183, 134, 11];

describe.skipIf(CHROMIUM === undefined)('the whole console', { timeout: 170_000 }, () => {
  const demo = useDemo({ historyDays: 1 });

  const opened = (login: Login, options?: PageOptions) => demo.enter(login, '/', options);

  /** Goes through all screens without loading the page anew. */
  async function throughScreens(page: Page, look: (path: string) => Promise<void>): Promise<void> {
    for (const path of [...VIEWS.map((view) => view.path), '/reports?kind=trips']) {
      await page.evaluate((to) => {
        history.pushState(null, '', to);
        dispatchEvent(new PopStateEvent('popstate'));
      }, path);
      await expect.poll(() => page.locator('main').getByText('Loading…').count(), PATIENCE).toBe(0);
      await page.waitForTimeout(500);
      await look(path);
    }
  }
  /** Pixels by which the page is wider than its window. */
  const overflow = (page: Page) =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  /** The same of a screen, and by which a part of it is wider than its place. Tables and tabs may scroll. */
  const overflowOfScreen = (page: Page) =>
    page.evaluate(() => {
      const beyond = (box: Element) => box.scrollWidth - box.clientWidth;
      const scrolls = (box: Element) =>
        ['auto', 'scroll'].includes(getComputedStyle(box).overflowX) && !box.matches('.table, .tabs');
      const parts = [...document.querySelectorAll('main *')].filter(scrolls);
      return Math.max(beyond(document.documentElement), ...parts.map(beyond));
    });

  test.each([
    ['in light colours', { colorScheme: 'light' }],
    ['in dark colours at 390 px', { colorScheme: 'dark', viewport: PHONE }],
  ] as const)('all screens are accessible, fit and load nothing from elsewhere, %s', async (_, options) => {
    const { page, faults } = await opened(demo.operator, { reducedMotion: 'reduce', ...options });
    const found: Record<string, unknown> = {};
    await throughScreens(page, async (path) => {
      const problems = await axeViolations(page);
      const beyond = await overflowOfScreen(page);
      if (problems.length > 0 || beyond > 0) found[path] = { problems, beyond };
    });
    expect(found).toEqual({});
    expect(faults).toEqual([]);
  });

  test('in Hebrew all screens run from right to left and fit', async () => {
    const { page } = await opened(demo.operator, { reducedMotion: 'reduce' });
    const api = await demo.as(demo.operator);
    await api('PATCH', '/api/v1/me/preferences', { language: 'he' });
    try {
      await page.reload();
      await page.locator('html[dir="rtl"]').waitFor({ state: 'attached' });
      await page.getByRole('button', { name: /^Truck 02/ }).click();
      const coordinates = page.locator('.panel .facts dd', { hasText: /^-?[0-9.]+, -?[0-9.]+$/ });
      // Latitude and longitude in their order, which a paragraph from right to left would turn round.
      const widthInOrder = () =>
        coordinates.evaluate((fact) => {
          const text = document.createTreeWalker(fact, NodeFilter.SHOW_TEXT).nextNode() as Text;
          const leftOf = (at: number) => {
            const range = document.createRange();
            range.setStart(text, at);
            range.setEnd(text, at + 1);
            return range.getBoundingClientRect().left;
          };
          return leftOf(text.length - 1) - leftOf(0);
        });
      await expect.poll(widthInOrder, PATIENCE).toBeGreaterThan(0);
      const beyond: Record<string, number> = {};
      for (const viewport of [{ width: 1280, height: 800 }, PHONE]) {
        await page.setViewportSize(viewport);
        await throughScreens(page, async (path) => {
          const pixels = await overflowOfScreen(page);
          if (pixels > 0) beyond[`${path} at ${viewport.width}`] = pixels;
        });
      }
      expect(beyond).toEqual({});
    } finally {
      await api('PATCH', '/api/v1/me/preferences', { language: null });
    }
  });

  test.each([
    ['live', 'event', 'geofenceId'],
    ['topics', 'telemetry', 'vehicleId'],
  ])('the documentation shows every message of %s, at any width, in light and dark', async (shown, message, field) => {
    const { page, faults } = await demo.open(`/docs/messages.html?document=${shown}#${message}`);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const viewport of [{ width: 1280, height: 800 }, PHONE]) {
        await page.setViewportSize(viewport);
        await page.locator(`#${message} td`, { hasText: field }).first().waitFor();
        expect(await overflow(page)).toBe(0);
      }
      expect(await axeViolations(page)).toEqual([]);
    }
    expect(await page.locator('details').count()).toBeGreaterThan(5);
    // Nothing in it was against the policy that it is served with.
    expect(faults).toEqual([]);
  });

  test('from the login to the replay of a vehicle by keyboard alone', async () => {
    const { page, faults } = await demo.open();
    await page.getByLabel('Login').waitFor();
    const { keyboard } = page;
    /** Presses Tab until something with this text has the focus. */
    const tabTo = async (text: RegExp) => {
      for (let presses = 0; presses < 80; presses += 1) {
        if (text.test(await page.evaluate(() => document.activeElement?.textContent?.trim() ?? ''))) return;
        await keyboard.press('Tab');
      }
      throw new Error(`Tab does not reach ${text}`);
    };
    const tabToField = async (label: string) => {
      for (let presses = 0; presses < 20; presses += 1) {
        if (await page.getByLabel(label, { exact: true }).evaluate((field) => field === document.activeElement)) return;
        await keyboard.press('Tab');
      }
      throw new Error(`Tab does not reach ${label}`);
    };
    await tabToField('Login');
    await keyboard.type(demo.login);
    await tabToField('Password');
    await keyboard.type(demo.password);
    await keyboard.press('Enter');
    await page.locator('.vehicle').first().waitFor();
    await tabTo(/^Skip to content$/);
    await keyboard.press('Enter');
    await tabToField('Search');
    await keyboard.type('truck 01');
    await page.locator('.vehicle').nth(1).waitFor({ state: 'detached' });
    await tabTo(/^Truck 01/);
    await keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Truck 01' }).waitFor();
    await tabTo(/^Show track$/);
    await keyboard.press('Enter');
    await page.locator('.player').waitFor();
    expect(new URL(page.url()).pathname).toBe('/track');
    expect(faults).toEqual([]);
  });

  test.each(['Asia/Tokyo', 'America/New_York'])('times are those of the viewer in %s', async (timeZone) => {
    const { page } = await opened(demo, { timezoneId: timeZone });
    await page.getByRole('button', { name: /^Truck 02/ }).click();
    const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone });
    const facts = page.locator('.panel .facts').first();
    const showsNow = async () => {
      const text = (await facts.textContent()) ?? '';
      return [0, 1, 2].some((minutes) => text.includes(`Last fix${clock.format(Date.now() - minutes * 60_000)}`));
    };
    await expect.poll(showsNow, PATIENCE).toBe(true);
  });

  test('a user who loses a group loses its vehicles from list and map within 5 s', async () => {
    const api = await demo.as({ login: 'demo-operator', password: demo.password });
    const users = await api<{ items: { id: string; login: string; groupIds: string[] }[] }>('GET', '/api/v1/users');
    const groups = await api<{ items: { id: string; name: string }[] }>('GET', '/api/v1/vehicle-groups');
    const user = users.items.find(({ login }) => login === demo.login);
    const lost = groups.items.find(({ name }) => name === 'Passengers');
    if (user === undefined || lost === undefined) throw new Error('no such user or group');
    const { page, faults } = await opened(demo, { reducedMotion: 'reduce', colorScheme: 'light' });
    await page.getByRole('searchbox').fill('taxi');
    await page.locator('.vehicle', { hasText: 'Taxi 01' }).waitFor();
    await page.getByRole('button', { name: 'Show all vehicles on the map' }).click();
    await expect.poll(() => pixelsOf(page, '.mapbox', TAXI_RIM), PATIENCE).toBeGreaterThan(20);
    try {
      const groupIds = user.groupIds.filter((id) => id !== lost.id);
      await api('PATCH', `/api/v1/users/${user.id}`, { groupIds });
      const inTime = { timeout: 5000, interval: 100 };
      await expect.poll(() => page.locator('.vehicle').count(), inTime).toBe(0);
      await expect.poll(() => pixelsOf(page, '.mapbox', TAXI_RIM), inTime).toBe(0);
    } finally {
      await api('PATCH', `/api/v1/users/${user.id}`, { groupIds: user.groupIds });
    }
    await page.locator('.vehicle', { hasText: 'Taxi 01' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('the service is killed while the page is open: after the restart nothing was missed', async () => {
    const api = await demo.as(demo);
    await api('POST', '/api/v1/notification-rules', {
      name: 'Everything',
      eventKinds: ['geofence-visit', 'trip', 'speeding', 'ignition'],
      phases: ['begin', 'end'],
    });
    const { page } = await demo.open();
    const numbers: number[] = [];
    let loads = 0;
    page.on('domcontentloaded', () => {
      loads += 1;
    });
    page.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => {
        const message = typeof payload === 'string' ? (JSON.parse(payload) as { type: string; number: number }) : null;
        if (message?.type === 'notification') numbers.push(message.number);
      }),
    );
    await logIn(page, demo);
    await expect.poll(() => numbers.length, SLOWLY).toBeGreaterThan(1);
    const loadsBefore = loads;
    const before = Math.max(...numbers);
    await demo.crash();
    await page.locator('.live.on').waitFor({ timeout: 60_000 });
    await expect.poll(() => Math.max(...numbers), SLOWLY).toBeGreaterThan(before + 1);
    // Each once, none left out, and without loading the page anew.
    const known = numbers.toSorted((a, b) => a - b);
    expect(known).toEqual(Array.from(known, (_, nth) => (known[0] as number) + nth));
    expect(loads).toBe(loadsBefore);
    expect(await page.locator('.vehicle').count()).toBeGreaterThan(8);
  });
});
