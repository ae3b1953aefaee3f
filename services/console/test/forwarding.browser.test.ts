import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeViolations, CHROMIUM, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };

describe.skipIf(CHROMIUM === undefined)('forwarding in a browser', { timeout: 180_000 }, () => {
  const demo = useDemo();
  const received: { type: string; items: unknown[]; key: unknown }[] = [];
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const { type, data } = JSON.parse(await text(request));
      received.push({ type, items: data.items, key: request.headers['x-key'] });
      response.writeHead(204).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`;
  });
  afterAll(() => void server.close());

  test('a destination is added, tested, gets positions, is paused, sent again, and deleted', async () => {
    const { page, faults } = await demo.enter(demo.operator, '/forwarding');
    const ofDemo = page.getByRole('listitem').filter({ hasText: 'Receiver of the demo' });
    await ofDemo.getByText('running').waitFor();
    await ofDemo.getByText(/[1-9][\d,]* positions · /).waitFor({ timeout: PATIENCE.timeout });
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'New destination' }).click();
    const dialog = page.getByRole('dialog', { name: 'New destination' });
    await dialog.getByLabel('Name', { exact: true }).fill('ERP');
    await dialog.getByLabel('URL', { exact: true }).fill('ftp://erp.example.com');
    expect(await dialog.getByLabel('Secret for signatures').inputValue()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('The URL must begin with https://.').first().waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByLabel('Certificate authority (PEM)').waitFor({ state: 'detached' });
    await dialog.getByLabel('URL', { exact: true }).fill(url);
    await dialog.getByLabel('Headers', { exact: true }).fill('Host: example.com');
    await dialog.getByLabel('Secret headers').fill('X-Key: word');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Host is written by the service itself.').first().waitFor();
    await dialog.getByLabel('Headers', { exact: true }).fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const card = page.getByRole('listitem').filter({ hasText: 'ERP' });
    await card.getByText('running').waitFor();
    await expect
      .poll(() => received.filter(({ type }) => type === 'forwarding.batch').length, PATIENCE)
      .toBeGreaterThan(0);
    await card.getByRole('button', { name: 'Test' }).click();
    await page.getByText(/^Accepted after/).waitFor();
    expect(received.map(({ type }) => type)).toContain('forwarding.test');
    expect(new Set(received.map(({ key }) => key))).toEqual(new Set(['word']));
    await card.getByText(/[1-9]\d* positions · 0 events/).waitFor();
    expect(await axeViolations(page)).toEqual([]);

    await card.getByRole('button', { name: 'Send again…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send again…' }).click();
    await page.getByText('The data is being sent again.').waitFor();
    await card.getByRole('button', { name: 'Pause' }).click();
    await card.getByText('paused').waitFor();
    await card.getByRole('button', { name: 'Delete: ERP' }).click();
    await page.getByRole('dialog', { name: 'Delete' }).getByRole('button', { name: 'Delete', exact: true }).click();
    await card.waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  test('each kind has a form of its own, and a destination that is down says why', async () => {
    const { page, faults } = await demo.enter(demo.operator, '/forwarding');
    await page.getByRole('button', { name: 'New destination' }).click();
    const dialog = page.getByRole('dialog', { name: 'New destination' });
    await dialog.getByLabel('Name', { exact: true }).fill('Home');
    for (const kind of ['kafka', 'wialon-ips', 'egts', 'mqtt']) {
      await dialog.getByLabel('Kind', { exact: true }).selectOption(kind);
      expect(await axeViolations(page), kind).toEqual([]);
    }
    await dialog.getByLabel('Host').fill('127.0.0.1');
    await dialog.getByLabel('Port').fill('1');
    await dialog.getByLabel('Show vehicles in Home Assistant').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    const card = page.getByRole('listitem').filter({ hasText: 'Home' });
    await card.getByText('unreachable: retrying').waitFor({ timeout: 60_000 });
    await card
      .getByText(/ECONNREFUSED/)
      .first()
      .waitFor();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await axeViolations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
