import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { axeViolations, CHROMIUM, useDemo } from './demo.fixture.ts';

const TOKEN = '123456789:AAE0123456789012345678901234567890';
const PATIENCE = { timeout: 60_000, interval: 50 };

/** Telegram's bots, and an SMS gateway. */
let server: Server;
let url: string;
const settings: Record<string, string> = {};
let received: { method?: string; url?: string; headers: IncomingHttpHeaders; body: string }[] = [];
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    received.push({ ...(method && { method }), ...(url && { url }), headers, body: await text(request) });
    response.setHeader('content-type', 'application/json').end('{"ok":true}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  settings.TELEGRAM_API_URL = url;
});
afterAll(() => {
  server.close();
});
beforeEach(() => {
  received = [];
});

describe.skipIf(CHROMIUM === undefined)('message channels in a browser', { timeout: 120_000 }, () => {
  const demo = useDemo({ settings });

  const region = (page: Page) => page.getByRole('region', { name: 'Message channels', exact: true });
  const field = (page: Page, label: string) => region(page).getByLabel(label, { exact: true });
  const press = (page: Page, name: string) => region(page).getByRole('button', { name, exact: true }).click();
  const next = async () => {
    await vi.waitFor(() => expect(received).not.toEqual([]), PATIENCE);
    return received.shift() ?? expect.fail('nothing came');
  };

  test('a chat of Telegram is set up by a form, and confirmed by the code that is sent to it', async () => {
    const { page, faults } = await demo.enter(demo.operator);
    await page.goto(`${demo.url}/me`);
    await press(page, 'Telegram chat');
    expect(await axeViolations(page)).toEqual([]);
    await field(page, 'Name').fill('Night shift');
    await field(page, 'Chat').fill('night shift');
    await field(page, 'Token of the bot').fill(TOKEN);
    await press(page, 'Save');
    await region(page)
      .getByText('It must be the number of a chat, or the @name of a public channel.')
      .first()
      .waitFor();
    await field(page, 'Chat').fill(' -1001234 ');
    await press(page, 'Save');
    const row = region(page).getByRole('listitem').filter({ hasText: 'Night shift' });
    await row.getByText('Telegram -1001234', { exact: true }).waitFor();
    await row.getByText('not confirmed yet: nothing is sent').waitFor();
    await press(page, 'Send the code');
    const sent = await next();
    expect(sent.url).toBe(`/bot${TOKEN}/sendMessage`);
    const [code = ''] = /\d{6}/.exec(JSON.parse(sent.body).text) ?? [];
    await field(page, 'Code').fill(code);
    await press(page, 'Confirm');
    await page.getByText('The chat is confirmed.').waitFor();
    // The token stays where it is, and is shown nowhere.
    await press(page, 'Edit Night shift');
    expect(await field(page, 'Token of the bot').inputValue()).toBe('');
    await field(page, 'Name').fill('Day shift');
    await press(page, 'Save');
    await region(page).getByRole('listitem').filter({ hasText: 'Day shift' }).waitFor();
    expect(await page.content()).not.toContain(TOKEN);
    expect(faults.filter((fault) => !/\b400\b/.test(fault))).toEqual([]);
  });

  test('a call of an SMS gateway is set up by a form, with what its method needs', async () => {
    const { page, faults } = await demo.enter(demo.operator);
    await page.goto(`${demo.url}/me`);
    await press(page, 'SMS or other service');
    expect(await axeViolations(page)).toEqual([]);
    expect(await field(page, 'Body').inputValue()).toBe('{"to":"{to}","text":"{title}"}');
    await field(page, 'Method').selectOption('GET');
    expect(await field(page, 'Body').count()).toBe(0);
    expect(await field(page, 'Format of the body').count()).toBe(0);
    await field(page, 'Method').selectOption('PUT');
    await field(page, 'To').fill('+491511234');
    await field(page, 'URL').fill(`${url}/send/{nobody}`);
    await field(page, 'Headers, one in a line (Name: value)').fill('X-Key: {secret}\nX-Fleet: North');
    await field(page, 'Secret').fill('a key of the gateway');
    await press(page, 'Save');
    await region(page)
      .getByText(/\{nobody\}/)
      .first()
      .waitFor();
    await field(page, 'URL').fill(`${url}/send/{to}`);
    await press(page, 'Save');
    const row = region(page).getByRole('listitem').filter({ hasText: 'HTTP call' });
    await row.getByText('HTTP call +491511234').waitFor();
    await row.getByRole('button', { name: 'Send a test', exact: true }).click();
    await row.getByText('Delivered (200)').waitFor();
    const { headers, body, ...sent } = await next();
    expect(sent).toEqual({ method: 'PUT', url: '/send/%2B491511234' });
    expect(headers).toMatchObject({ 'x-key': 'a key of the gateway', 'x-fleet': 'North' });
    expect(JSON.parse(body)).toMatchObject({ to: '+491511234' });
    expect(faults.filter((fault) => !/\b400\b/.test(fault))).toEqual([]);
  });
});
