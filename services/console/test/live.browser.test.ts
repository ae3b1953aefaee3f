import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Locator } from 'playwright-core';
import { afterEach, describe, expect, test } from 'vitest';
import { CHROMIUM, useDemo } from './demo.fixture.ts';

/** What a person may wait for until a silent line is said to be lost. */
const LOST_WITHIN_SECONDS = 10;

/** Of a figure such as `1,042 ms`. */
async function milliseconds(figure: Locator): Promise<number> {
  return Number((await figure.textContent())?.replace(/\D/g, '') || Number.NaN);
}

/** A TCP proxy that can stop to forward, without a connection being closed. */
class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isFrozen = false;

  constructor(port: number) {
    this.#server = createServer((client) => {
      const server = connect(port, '127.0.0.1');
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          this.#sockets.delete(socket);
          client.destroy();
          server.destroy();
        });
      }
      client.on('data', (bytes) => this.#isFrozen || server.write(bytes));
      server.on('data', (bytes) => this.#isFrozen || client.write(bytes));
    });
  }

  async open(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  /** New connections are forwarded; those that were frozen have lost bytes, and end. */
  thaw(): void {
    this.#isFrozen = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.thaw();
  }
}

describe.skipIf(CHROMIUM === undefined)('the live connection, in a browser', { timeout: 180_000 }, () => {
  const demo = useDemo();
  const proxies: TcpProxy[] = [];
  afterEach(() => {
    for (const proxy of proxies.splice(0)) proxy.close();
  });

  test('one that is frozen is shown as lost within 10 s, and is live again when the network is', async () => {
    const proxy = new TcpProxy(Number(new URL(demo.url).port));
    proxies.push(proxy);
    const { page } = await demo.open(await proxy.open());
    let heartbeatSeconds = 0;
    page.on('websocket', (socket) =>
      socket.on('framereceived', ({ payload }) => {
        if (`${payload}`.startsWith('{"type":"resumed"')) ({ heartbeatSeconds } = JSON.parse(`${payload}`));
      }),
    );
    await page.getByLabel('Login').fill(demo.login);
    await page.getByLabel('Password', { exact: true }).fill(demo.password);
    await page.getByRole('button', { name: 'Log in' }).click();
    const live = page.getByRole('status').filter({ hasText: /^Live$/ });
    const banner = page.getByText('No connection to the service.');
    await live.waitFor();
    await page.locator('.vehicle').first().waitFor();
    proxy.freeze();
    await banner.waitFor();
    // After two heartbeats that did not come, and a second: by a clock that is set, in the client's own tests.
    expect(heartbeatSeconds).toBeGreaterThan(0);
    expect(2 * heartbeatSeconds + 1).toBeLessThanOrEqual(LOST_WITHIN_SECONDS);
    expect(await live.count()).toBe(0);
    proxy.thaw();
    await live.waitFor();
    expect(await banner.count()).toBe(0);
  });

  test('says how old positions are when the map shows them, and where the time goes', async () => {
    const { page } = await demo.enter(demo);
    await page.locator('.vehicle').first().waitFor();
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    const figures = page.locator('.delay');
    await figures.getByText('From packet to map').waitFor();
    await figures.getByText(/positions? in the last minute, 99 of 100 within/).waitFor();
    const total = await milliseconds(figures.locator('> strong'));
    const stages = await Promise.all(
      ['Service', 'Network', 'This page'].map((stage) =>
        milliseconds(figures.locator('dl > div').filter({ hasText: stage }).locator('dd')),
      ),
    );
    expect(total).toBeGreaterThan(0);
    expect(total).toBeGreaterThanOrEqual(Math.max(...stages));
    await page.keyboard.press('Escape');
    await figures.waitFor({ state: 'detached' });
  });

  test('a browser that is offline shows it at once, and one that is online again is live again', async () => {
    const { page } = await demo.enter(demo);
    const live = page.getByRole('status').filter({ hasText: /^Live$/ });
    await live.waitFor();
    // By the frame after the next: a connection that falls silent is given up seconds later.
    const shownAtOnce = await page.evaluateHandle((text) => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const look = () => resolve(document.body.textContent.includes(text));
      addEventListener('offline', () => requestAnimationFrame(() => requestAnimationFrame(look)), { once: true });
      return { promise };
    }, 'No connection to the service.');
    await page.context().setOffline(true);
    expect(await shownAtOnce.evaluate(({ promise }) => promise)).toBe(true);
    await page.context().setOffline(false);
    await live.waitFor();
  });

  test('a fleet that loads says so, not that there is no data; and then nothing was caught up', async () => {
    const { page } = await demo.enter(demo);
    const held: (() => void)[] = [];
    let isHeld = true;
    await page.routeWebSocket(/\/live$/, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => {
        if (isHeld) held.push(() => socket.send(message));
        else socket.send(message);
      });
    });
    await page.addInitScript(() => {
      const texts: string[] = [];
      Object.assign(globalThis, { toasts: texts });
      new MutationObserver(() => {
        for (const toast of document.querySelectorAll('.toasts *')) texts.push(toast.textContent ?? '');
      }).observe(document, { subtree: true, childList: true });
    });
    await page.reload();
    const first = page.locator('.vehicle').first();
    await first.getByText('Loading…').waitFor();
    await first.locator('button').first().click();
    const panel = page.locator('aside.panel');
    await panel.getByText('Loading…').first().waitFor();
    for (const text of ['No data', 'Never']) expect(await page.getByText(text, { exact: true }).count()).toBe(0);
    isHeld = false;
    for (const send of held.splice(0)) send();
    await page.getByText('Loading…').first().waitFor({ state: 'detached' });
    const toasts = await page.evaluate(() => (globalThis as unknown as { toasts: string[] }).toasts);
    expect(toasts.filter((text) => /missed|meantime|while/i.test(text))).toEqual([]);
  });
});
