import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeViolations, CHROMIUM, logIn, type PageOptions, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };
const PHONE = { width: 390, height: 780 };

/** A receiver of webhooks, which refuses the first event, however often it is sent, until it is made to accept it. */
class Receiver {
  readonly bodies: { type: string }[] = [];
  acceptsAll = false;
  #refusedId: string | undefined;
  /** Push messages that came: encrypted for a browser. */
  pushed = 0;
  readonly #server: Server = createServer((request, response) => {
    if (request.url?.startsWith('/push/')) {
      this.pushed += 1;
      request.resume().on('end', () => response.writeHead(201).end());
      return;
    }
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const body = JSON.parse(text) as { type: string };
      this.bodies.push(body);
      const id = String(request.headers['webhook-id']);
      if (body.type !== 'test') this.#refusedId ??= id;
      response.writeHead(id === this.#refusedId && !this.acceptsAll ? 503 : 204).end();
    });
  });

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** Messages that are no tests. */
  events(): { type: string }[] {
    return this.bodies.filter(({ type }) => type !== 'test');
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** In a page: subscriptions are made of this address, with keys of their own. */
function subscribeAt(endpoint: string): void {
  let subscription: unknown = null;
  const p256dh = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4';
  const toJSON = () => ({ endpoint, keys: { p256dh, auth: 'BTBZMqHH6r4Tts7J_aSIgg' } });
  Object.assign(PushManager.prototype, {
    getSubscription: async () => subscription,
    async subscribe(options: object) {
      const unsubscribe = async () => {
        subscription = null;
        return true;
      };
      subscription = { endpoint, options, toJSON, unsubscribe };
      return subscription;
    },
  });
  Notification.requestPermission = async () => 'granted';
}

describe.skipIf(CHROMIUM === undefined)('notification rules in a browser', { timeout: 240_000 }, () => {
  const demo = useDemo({ historyDays: 1, settings: { WEBHOOK_ALLOW_PRIVATE: 'yes', WEB_PUSH_HOSTS: '127.0.0.1' } });
  const receiver = new Receiver();
  let hook: string;
  beforeAll(async () => {
    hook = await receiver.listen();
  });
  afterAll(() => receiver.close());

  const opened = (path: string, options?: PageOptions) => demo.enter(demo, path, options);

  test('a rule is tried, refused at its fields, saved and tested; its event arrives, and its webhook is logged', async () => {
    const { page, faults } = await opened('/rules');
    await page.getByRole('button', { name: 'New rule' }).click();
    const panel = page.locator('.side-panel');
    await panel.getByLabel('Name', { exact: true }).fill('Around the city');
    await panel.getByRole('button', { name: 'Try on last week' }).click();
    const figure = panel.locator('.trial .figure');
    await expect.poll(() => figure.textContent(), PATIENCE).toMatch(/would have sent [1-9][\d,]* notifications?\./);
    expect(await panel.locator('.trial .bar-chart rect').count()).toBe(8);
    await panel.getByLabel('Geofence Begins').uncheck();
    await panel.getByRole('button', { name: 'Try on last week' }).click();
    await expect.poll(() => panel.locator('fieldset.options > .error').textContent(), PATIENCE).not.toBe('');
    await panel.getByLabel('Geofence Begins').check();

    await panel.getByLabel('Add an address').fill('nobody');
    await panel.getByRole('button', { name: 'Add', exact: true }).click();
    await panel.getByLabel('Webhook URL').fill('ftp://127.0.0.1/hook');
    await panel.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => panel.locator('.facts-list .error').textContent(), PATIENCE).toContain('e-mail address');
    await panel.getByRole('button', { name: 'Remove nobody' }).click();
    await panel.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => panel.getByLabel('Webhook URL').getAttribute('aria-invalid'), PATIENCE).toBe('true');
    await panel.getByLabel('Webhook URL').fill(hook);
    await panel.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog', { name: 'Secret of the webhook' });
    expect(await dialog.locator('output').textContent()).toMatch(/^whsec_/);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    // Of the address only the server is shown once it is kept.
    await panel.getByRole('button', { name: `Send a test to ${new URL(hook).origin}/***` }).click();
    await panel.getByText('Test delivered (204)').waitFor();
    expect(receiver.bodies.filter(({ type }) => type === 'test')).toMatchObject([
      { data: { ruleName: 'Around the city' } },
    ]);

    await page
      .locator('.toast', { hasText: / entered / })
      .first()
      .waitFor({ timeout: 60_000 });
    const row = page.locator('.table tbody tr', { hasText: 'Around the city' });
    await expect.poll(() => row.textContent(), PATIENCE).not.toContain('Never');

    await page.getByRole('link', { name: 'Delivery log' }).first().click();
    await page.getByLabel('Rule', { exact: true }).selectOption({ label: 'Around the city' });
    const log = page.locator('.table tbody tr.opens');
    // The second event, since the receiver refuses the first: it may take the demo's vehicles a minute.
    const delivered = () => log.filter({ hasText: 'Delivered' }).count();
    await expect.poll(delivered, { ...PATIENCE, timeout: 90_000 }).toBeGreaterThan(0);
    // The one that was refused, once it is sent again.
    await expect.poll(() => log.filter({ hasText: '503' }).count(), PATIENCE).toBe(1);
    await log.filter({ hasText: '503' }).getByRole('button').click();
    await panel.getByText('The endpoint answered 503.').first().waitFor();
    const before = receiver.events().length;
    receiver.acceptsAll = true;
    await panel.getByRole('button', { name: 'Send again' }).click();
    await expect.poll(() => panel.locator('.chip').first().textContent(), PATIENCE).toBe('Delivered');
    expect(receiver.events().length).toBeGreaterThan(before);
    expect(new URL(page.url()).searchParams.get('delivery')).toMatch(/^[0-9a-f-]{36}$/);
    expect(faults).toEqual([]);
  });

  test('a change by somebody else is shown beside the own one; a rule is switched off in the list, and deleted', async () => {
    const { page, faults } = await opened('/rules');
    await page.getByRole('button', { name: 'Terminal offline' }).click();
    const panel = page.locator('.side-panel');
    await panel.getByLabel('Name', { exact: true }).fill('Mine');
    await page.evaluate(async () => {
      const id = new URL(location.href).searchParams.get('rule');
      const headers = { 'content-type': 'application/merge-patch+json' };
      const body = JSON.stringify({ minIntervalMinutes: 5 });
      await fetch(`/api/v1/notification-rules/${id}`, { method: 'PATCH', headers, body });
    });
    await panel.getByRole('button', { name: 'Save' }).click();
    await panel.getByRole('button', { name: 'Keep mine' }).click();
    await expect.poll(() => panel.getByLabel('At most one per vehicle').inputValue(), PATIENCE).toBe('5');
    await panel.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Mine', exact: true }).waitFor();
    const box = page.getByRole('checkbox', { name: 'Mine: active' });
    const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await box.uncheck();
    await saved;
    await page.reload();
    await expect.poll(() => box.isChecked(), PATIENCE).toBe(false);
    await panel.getByText('Switched off.', { exact: true }).waitFor();
    await panel.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Mine', exact: true }).waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  test('the inbox is narrowed by kind and vehicle, and leads to the second on the track', async () => {
    const { page, faults } = await opened('/notifications');
    const cards = page.locator('.cards li');
    await cards.first().waitFor();
    await page.getByLabel('Kinds of event').selectOption('speeding');
    await expect
      .poll(async () => (await cards.allTextContents()).every((text) => text.includes('Speeding')), PATIENCE)
      .toBe(true);
    expect(new URL(page.url()).searchParams.get('kind')).toBe('speeding');
    await page.goto(`${demo.url}/notifications`);
    await page.getByText('Alerts of this browser').click();
    await page.getByLabel('Sound').check();
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.locator('.toast', { hasText: 'This is how a notification arrives.' }).waitFor();
    expect(await page.evaluate(() => localStorage.getItem('outrider.alerts'))).toContain('"sound":true');
    await cards.first().getByRole('link', { name: 'Show on the track' }).click();
    await expect.poll(() => new URL(page.url()).pathname, PATIENCE).toBe('/track');
    expect(new URL(page.url()).searchParams.get('t')).toMatch(/^\d{4}-.*Z$/);
    expect(faults).toEqual([]);
  });

  test('a browser takes push messages once they are turned on, is tested, and is removed', async () => {
    const { page, faults } = await demo.open('/', { serviceWorkers: 'allow' });
    // No test can reach the push service of the browser's maker: this one takes its place.
    await page.addInitScript(subscribeAt, new URL('/push/browser', hook).href);
    await page.goto(demo.url);
    await logIn(page, demo);
    await page.goto(`${demo.url}/me`);
    const turnOn = page.getByRole('button', { name: 'Turn on push in this browser' });
    await turnOn.click();
    const own = page.locator('.facts-list li', { hasText: 'This browser' });
    await own.getByRole('button', { name: 'Send a test' }).click();
    await own.getByText('Test delivered (201)').waitFor();
    expect(receiver.pushed).toBe(1);
    expect(await axeViolations(page)).toEqual([]);
    await own.getByRole('button', { name: /^Delete/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await turnOn.click();
    await own.waitFor();
    expect(await page.evaluate(() => localStorage.getItem('outrider.push'))).not.toBeNull();
    await own.getByRole('button', { name: /^Delete/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await own.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => localStorage.getItem('outrider.push'))).toBeNull();
    expect(faults).toEqual([]);
  });

  for (const colorScheme of ['light', 'dark'] as const)
    for (const viewport of [{ width: 1280, height: 800 }, PHONE])
      test(`axe finds nothing in ${colorScheme} at ${viewport.width} pixels`, async () => {
        const { page, faults } = await opened('/rules', { colorScheme, viewport });
        await page.locator('.table tbody tr').first().waitFor();
        expect(await axeViolations(page)).toEqual([]);
        await page.locator('.table .opens button').first().click();
        await page.locator('.side-panel form').waitFor();
        // The tests before may have used up the calls of a minute.
        await expect
          .poll(
            async () => {
              await page.getByRole('button', { name: 'Try on last week' }).click();
              await page.waitForTimeout(3000);
              return page.locator('.trial .figure').count();
            },
            { timeout: 90_000, interval: 10_000 },
          )
          .toBeGreaterThan(0);
        expect(await axeViolations(page)).toEqual([]);
        for (const path of ['/notifications', '/deliveries']) {
          await page.goto(demo.url + path);
          await page.locator('.cards li, .table tbody tr, .message .button').first().waitFor();
          expect(await axeViolations(page)).toEqual([]);
        }
        expect(faults).toEqual([]);
      });

  test.for([{ viewport: { width: 1280, height: 900 } }, { viewport: PHONE, colorScheme: 'dark' as const }])(
    'a licence that expired is in the inbox, with the driver, and its rule asks for days and drivers alone (%o)',
    async (options) => {
      const { page, faults } = await demo.enter(demo, '/', options);
      await page.goto(`${demo.url}/notifications?kind=licence-expiry`);
      // Of the demo's rule: the one that is made below notifies as well.
      const ofRule = page.getByRole('listitem').filter({ hasText: 'Driving licences' });
      const card = ofRule.filter({ hasText: 'The driving licence of Elena Popova has expired: last day' });
      await card.waitFor(PATIENCE);
      expect(await card.getByRole('link', { name: 'Show on map' }).count()).toBe(0);
      expect(await axeViolations(page)).toEqual([]);
      await card.getByRole('link', { name: 'Show the driver' }).click();
      await page.getByRole('complementary', { name: 'Elena Popova' }).waitFor();
      await page.goto(`${demo.url}/rules?rule=new`);
      const panel = page.getByRole('complementary', { name: 'New rule' });
      await panel.getByLabel('Name', { exact: true }).fill(`Licences ${options.viewport.width}`);
      await panel.getByRole('checkbox', { name: /^Driving licence expires/ }).check();
      expect(await panel.getByRole('checkbox', { name: /^Geofence/ }).isChecked()).toBe(false);
      expect(await panel.getByRole('group', { name: 'Which vehicles, where, and who drives' }).count()).toBe(0);
      await panel.getByLabel('Days before the last day of the licence').fill('14');
      expect(await axeViolations(page)).toEqual([]);
      await panel.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('The rule was saved.').waitFor();
      // On a phone the panel covers the list.
      await page.goto(`${demo.url}/rules`);
      await page.getByText(`Licences ${options.viewport.width}`, { exact: true }).waitFor();
      expect(faults).toEqual([]);
    },
  );
});
