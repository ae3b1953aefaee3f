import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { CHROMIUM, type Login, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 100 };

describe.skipIf(CHROMIUM === undefined)(
  'the console for keyboards, large text and Hebrew',
  { timeout: 170_000 },
  () => {
    const demo = useDemo();

    /** What has the focus, in words. */
    const focused = (page: Page) =>
      page.evaluate(() => {
        const { activeElement: element } = document;
        return `${element?.localName} ${element?.getAttribute('aria-label') ?? element?.textContent?.trim() ?? ''}`;
      });
    const expectFocus = (page: Page, text: RegExp) => expect.poll(() => focused(page), PATIENCE).toMatch(text);
    const choose = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

    test('after the login and on each new screen the focus is on the heading of the page', async () => {
      const { page } = await demo.enter(demo);
      await expectFocus(page, /^h1 Map$/);
      await page.getByRole('link', { name: 'Reports', exact: true }).press('Enter');
      await expectFocus(page, /^h1 Reports$/);
      await page.goBack();
      await expectFocus(page, /^h1 Map$/);
      await page.getByRole('button', { name: /^Logged in as/ }).click();
      await choose(page, 'Log out');
      await expectFocus(page, /^input/);
    });

    test('a list is one stop of the Tab key, Enter leads into the panel, Escape back to the row', async () => {
      const { page } = await demo.enter(demo);
      const { keyboard } = page;
      await page.locator('.vehicle button').first().focus();
      await keyboard.press('End');
      const last = await focused(page);
      await keyboard.press('Home');
      await keyboard.press('ArrowDown');
      await keyboard.press('ArrowRight');
      await expectFocus(page, /^button Favourite: /);
      await keyboard.press('ArrowLeft');
      const row = await focused(page);
      expect(row).not.toBe(last);
      await keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement?.closest('[data-row]') ?? null)).toBeNull();
      await keyboard.press('Shift+Tab');
      const nameOf = (text: string) => /^button (.+? \d\d|Bus with cameras)/.exec(text)?.[1];
      expect(nameOf(await focused(page))).toBe(nameOf(row));
      await keyboard.press('Enter');
      await expectFocus(page, new RegExp(`^h2 ${nameOf(row)}`));
      // What is open above the panel closes first.
      await page.locator('.panel').getByRole('button', { name: 'Share' }).press('Enter');
      await page.getByRole('dialog').waitFor();
      await keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await expectFocus(page, /^button Share/);
      await keyboard.press('Escape');
      await page.locator('.panel').waitFor({ state: 'detached' });
      await expect.poll(async () => nameOf(await focused(page)), PATIENCE).toBe(nameOf(row));
    });

    test('a table is one stop of the Tab key as well; Escape asks before changes of its panel go', async () => {
      const { page } = await demo.enter(demo.operator, '/users');
      const { keyboard } = page;
      await page.getByRole('button', { name: 'demo', exact: true }).focus();
      await keyboard.press('ArrowDown');
      await expectFocus(page, /^button demo-dealer$/);
      await keyboard.press('Enter');
      await expectFocus(page, /^h2 demo-dealer$/);
      await page.locator('aside').getByLabel('Name', { exact: true }).fill('Somebody else');
      await keyboard.press('Escape');
      const question = page.getByRole('dialog', { name: 'Not saved' });
      await question.getByRole('button', { name: 'Cancel' }).click();
      await expectFocus(page, /^input/);
      await keyboard.press('Escape');
      await question.getByRole('button', { name: 'Leave' }).click();
      await page.locator('aside').waitFor({ state: 'detached' });
      await expectFocus(page, /^button demo-dealer$/);
    });

    test('what is saved or deleted gives the focus to what stands in its place', async () => {
      const { page } = await demo.enter(demo.operator, '/groups');
      await page
        .getByRole('button', { name: 'New group' })
        .or(page.getByRole('link', { name: 'New group' }))
        .press('Enter');
      const panel = page.locator('aside');
      await panel.getByLabel('Name', { exact: true }).fill('Night shift');
      await panel.getByRole('button', { name: 'Save' }).press('Enter');
      await page.getByRole('complementary', { name: 'Night shift' }).waitFor();
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.closest('aside') !== null), PATIENCE)
        .toBe(true);
      await panel.getByRole('button', { name: 'Delete' }).press('Enter');
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
      await panel.waitFor({ state: 'detached' });
      await expect.poll(() => focused(page), PATIENCE).not.toMatch(/^body/);
      await page.goto(`${demo.url}/me`);
      const save = page.getByRole('region', { name: 'Account' }).getByRole('button', { name: 'Save' });
      await save.press('Enter');
      await page.locator('.toast').waitFor();
      await expectFocus(page, /^button Save$/);
    });

    test('Escape gives up a geofence that is half drawn before it closes the form', async () => {
      const { page } = await demo.enter(demo, '/geofences');
      await choose(page, 'New polygon');
      const panel = page.locator('.panel');
      await panel.waitFor();
      const box = await page.locator('.maplibregl-canvas').boundingBox();
      // The tool is there once its cursor is.
      const cursor = () => page.locator('.maplibregl-canvas').evaluate((canvas) => getComputedStyle(canvas).cursor);
      await expect.poll(cursor, PATIENCE).toBe('crosshair');
      await page.mouse.click((box?.x ?? 0) + 200, (box?.y ?? 0) + 200);
      await page.mouse.click((box?.x ?? 0) + 300, (box?.y ?? 0) + 200);
      await page.keyboard.press('Escape');
      await panel.getByLabel('Name', { exact: true }).waitFor();
      await page.keyboard.press('Escape');
      await panel.waitFor({ state: 'detached' });
    });

    /** Rows that are whole in sight, and those that overlap another one. */
    const rowsInSight = (page: Page) =>
      page.evaluate(() => {
        const boxes = [...document.querySelectorAll('[data-row]')].map((row) => row.getBoundingClientRect());
        const isSeen = (box: DOMRect) =>
          [box.top + 3, box.bottom - 3].every((y) =>
            document.elementFromPoint(box.left + 24, y)?.closest('[data-row]'),
          );
        const overlapping = boxes.filter((box, at) => box.top < (boxes[at - 1]?.bottom ?? -Infinity) - 1);
        const cut = [...document.querySelectorAll('[data-row]')].filter(
          (row) => row.scrollHeight > row.clientHeight + 2,
        );
        return { seen: boxes.filter(isSeen).length, overlapping: overlapping.length, cut: cut.length };
      });

    test.each([
      ['the text at 200 %', { width: 1280, height: 800 }, '200%'],
      ['the page at 200 %', { width: 640, height: 400 }, ''],
      ['320 px', { width: 320, height: 640 }, ''],
    ])(
      'with %s lists have rows in sight, none overlaps another, and no screen is wider than the page',
      async (_, viewport, fontSize) => {
        const { page } = await demo.enter(demo.operator, '/vehicles', { viewport, reducedMotion: 'reduce' });
        const found: Record<string, unknown> = {};
        for (const path of [
          '/vehicles',
          '/',
          '/geofences',
          '/drivers',
          '/users',
          '/groups',
          '/maintenance',
          '/track',
          '/me',
        ]) {
          await page.goto(demo.url + path);
          await page.evaluate((size) => {
            document.documentElement.style.fontSize = size;
          }, fontSize);
          await expect.poll(() => page.locator('main').getByText('Loading…').count(), PATIENCE).toBe(0);
          const beyond = () =>
            page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
          if ((await beyond()) > 0) found[`${path} is wider`] = await beyond();
          if (path === '/track' || path === '/me') continue;
          await page.locator('[data-row]').first().waitFor();
          const isRight = async () => {
            const { seen, overlapping, cut } = await rowsInSight(page);
            return seen >= 2 && overlapping === 0 && cut === 0;
          };
          await expect
            .poll(isRight, { timeout: 10_000, interval: 100 })
            .toBe(true)
            .catch(async () => {
              found[path] = await rowsInSight(page);
            });
        }
        expect(found).toEqual({});
      },
    );

    describe('in Hebrew', () => {
      const enter = async (path: string, login: Login = demo) => {
        const { page } = await demo.enter(login, '/', { reducedMotion: 'reduce' });
        await page.evaluate(() =>
          fetch('/api/v1/me/preferences', {
            method: 'PATCH',
            headers: { 'Content-Type': 'application/merge-patch+json' },
            body: '{"language":"he"}',
          }).then(({ ok }) => ok),
        );
        await page.goto(demo.url + path);
        await page.locator('html[dir="rtl"]').waitFor({ state: 'attached' });
        return page;
      };
      const vehicleId = async (name: string) => {
        const { page } = await demo.enter(demo);
        const { items } = await page.evaluate(() => fetch('/api/v1/vehicles').then((answer) => answer.json()));
        await page.context().close();
        return items.find((vehicle: { name: string }) => vehicle.name === name).id as string;
      };
      /** Where letters of an element stand: from the first of the text to its last. */
      const widthInOrder = (page: Page, selector: string) =>
        page
          .locator(selector)
          .first()
          .evaluate((element) => {
            const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode() as Text;
            const leftOf = (at: number) => {
              const range = document.createRange();
              range.setStart(text, at);
              range.setEnd(text, at + 1);
              return range.getBoundingClientRect().left;
            };
            return leftOf(text.length - 1) - leftOf(0);
          });

      test('the slider of a track runs as its chart, from left to right, by pointer and by keys', async () => {
        const id = await vehicleId('Truck 02');
        const page = await enter('/');
        const positions = () =>
          page.evaluate(async (vehicle) => {
            const [from, to] = [-86_400_000, 86_400_000].map((ms) => new Date(Date.now() + ms).toISOString());
            const answer = await fetch(`/api/v1/reports/track?vehicleId=${vehicle}&from=${from}&to=${to}`);
            return answer.ok ? (await answer.json()).items.length : 0;
          }, id);
        // The fleet has driven for a moment, and the archive may be opened first.
        await expect.poll(positions, PATIENCE).toBeGreaterThan(2);
        await page.goto(`${demo.url}/track?vehicle=${id}`);
        const slider = page.locator('.player input[type="range"]');
        await slider.waitFor();
        const share = () =>
          slider.evaluate((input: HTMLInputElement) => (+input.value - +input.min) / (+input.max - +input.min));
        const { x = 0, y = 0, width = 0, height = 0 } = (await slider.boundingBox()) ?? {};
        await page.mouse.click(x + width * 0.1, y + height / 2);
        await expect.poll(share, PATIENCE).toBeLessThan(0.3);
        const before = await share();
        await slider.press('ArrowRight');
        await expect.poll(share, PATIENCE).toBeGreaterThan(before);
        // The same place of the strip below is the same moment.
        const strip = (await page.locator('.strip').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
        await page.mouse.click(strip.x + strip.width * 0.9, strip.y + strip.height / 2);
        await expect.poll(share, PATIENCE).toBeGreaterThan(0.7);
      });

      test('names keep their own direction in lists, tables, panels and texts', async () => {
        const id = await vehicleId('Truck 03');
        const rename = (name: string) => async (page: Page) =>
          page.evaluate(
            ([to, of]) =>
              fetch(`/api/v1/vehicles/${of}`, {
                method: 'PATCH',
                headers: { 'Content-Type': 'application/merge-patch+json' },
                body: JSON.stringify({ name: to }),
              }).then(({ status }) => status),
            [name, id],
          );
        const { page: operator } = await demo.enter(demo.operator);
        expect(await rename('Truck 03 (spare)')(operator)).toBe(200);
        const page = await enter(`/?vehicle=${id}`, demo.operator);
        for (const selector of ['.panel h2 bdi', `.vehicle[aria-current] strong bdi`])
          await expect.poll(() => widthInOrder(page, selector), PATIENCE).toBeGreaterThan(30);
        await page.goto(`${demo.url}/vehicles?q=spare`);
        await expect.poll(() => widthInOrder(page, '[data-row] button bdi'), PATIENCE).toBeGreaterThan(30);
      });
    });
  },
);
