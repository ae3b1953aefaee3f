import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PORT_VARIABLES } from '@outrider/protocols';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { HISTORY_PATIENCE_MS } from '../../outrider/src/demo/patience.ts';

const OUTRIDER = join(import.meta.dirname, '../../outrider/src');
const PORTS = ['PORT', 'VIDEO_MEDIA_PORT', ...PORT_VARIABLES.filter((name) => !name.includes('_TLS_'))];
/** Longer than the demo waits for its history, so that it says what it waits for. */
const START_MS = HISTORY_PATIENCE_MS + 30_000;
/** Machines that run tests draw maps without a graphics processor, and do other things meanwhile. */
const PAGE_PATIENCE_MS = 60_000;
const JSON_TYPE = 'application/json';
const LOGIN_LINE = /demo login +(\S+) \/ (\S+)/;

/** Debian's Chromium, or the one that CHROMIUM names; null without either. */
export const CHROMIUM = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].find(
  (file) => file !== undefined && existsSync(file),
);

export interface Login {
  login: string;
  password: string;
}

/** A running demo, with the console as it was built last. The login is of a user who sees its vehicles. */
export interface Demo extends Login {
  url: string;
  operator: Login;
  /** E-mails that it sent, as they are written. */
  mails(): string[];
  /** Kills it, so that it can save nothing, and starts it again on the same folder and port. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

export interface DemoOptions {
  /** Of the fleet's past. Default 0: it begins now. */
  historyDays?: number;
  /** Further environment variables. */
  settings?: Record<string, string>;
}

export async function startDemo({ historyDays = 0, settings = {} }: DemoOptions = {}): Promise<Demo> {
  const operator = { login: 'admin', password: randomBytes(12).toString('base64url') };
  const folder = mkdtempSync(join(tmpdir(), 'console-demo-'));
  const start = (port: string) =>
    spawn(process.execPath, [join(OUTRIDER, 'main.ts'), 'demo'], {
      env: {
        PATH: process.env.PATH,
        DATA_DIR: folder,
        ADMIN_PASSWORD: operator.password,
        HOST: '127.0.0.1',
        LOG_FORMAT: 'text',
        DEMO_HISTORY_DAYS: String(historyDays),
        // Tests open pages faster than people do.
        LIMIT_AUTHORIZED_PER_MINUTE: '2000',
        ...Object.fromEntries(PORTS.map((name) => [name, '0'])),
        PORT: port,
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  let child = start('0');
  const stop = async () => {
    await ended(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const text = await textUntil(child, LOGIN_LINE);
    const [, port = ''] = /http:\/\/[^/\s]+:(\d+)\//.exec(text) ?? [];
    const [, login = '', password = ''] = LOGIN_LINE.exec(text) ?? [];
    const crash = async () => {
      await ended(child, 'SIGKILL');
      child = start(port);
      await textUntil(child, LOGIN_LINE);
    };
    const mails = () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.eml'))
        .map((name) => readFileSync(join(folder, name), 'utf8'));
    return { url: `http://127.0.0.1:${port}`, login, password, operator, mails, crash, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function textUntil(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const give = (why: string) => reject(new Error(`the demo ${why}:\n${text.slice(-2000)}`));
    const timer = setTimeout(() => give('did not start'), START_MS);
    child.once('exit', () => give('ended'));
    child.stderr?.on('data', (chunk: Buffer) => {
      text += chunk;
      if (text.includes('still being taken in')) give('waited for its history in vain');
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk;
      if (!pattern.test(text)) return;
      clearTimeout(timer);
      child.stdout?.removeAllListeners('data').resume();
      resolve(text);
    });
  });
}

async function ended(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await exit;
}

export function launch(): Promise<Browser> {
  // Machines that run tests have no graphics processor. To put pages together in software takes a twentieth of the time
  // that a graphics processor in software takes for it; only what maps draw themselves needs one.
  const args = [
    '--no-sandbox',
    '--use-gl=angle',
    '--use-angle=swiftshader',
    '--enable-unsafe-swiftshader',
    '--disable-gpu-compositing',
  ];
  return chromium.launch({ executablePath: CHROMIUM as string, args });
}

/** Calls the API: JSON, or text as CSV. Fails unless the answer says that it worked. */
export type ApiCall = <T>(method: string, path: string, sent?: string | object) => Promise<T>;

/** The demo that all tests of a file share, and pages of it. */
export interface SharedDemo extends Omit<Demo, 'stop'> {
  /** Opens a page of the demo, or an address, with nobody logged in. */
  open(path?: string, options?: PageOptions): Promise<WatchedPage>;
  /** Logs in at the map, and goes on to the page. */
  enter(login: Login, path?: string, options?: PageOptions): Promise<WatchedPage>;
  /** Calls the API as an account, beside the browser. */
  as(login: Login): Promise<ApiCall>;
}

/**
 * A demo and a browser for the tests of a `describe`: they run from before its first test until after its last.
 *
 * A map that nobody looks at is drawn all the same, and takes the time of the next test: pages close with their test.
 */
export function useDemo(options: DemoOptions = {}): SharedDemo {
  let demo: Demo | undefined;
  let browser: Browser | undefined;
  const running = () => {
    if (demo === undefined || browser === undefined) throw new Error('the demo runs while tests do');
    return { demo, browser };
  };
  beforeAll(async () => {
    demo = await startDemo(options);
    browser = await launch();
  }, 240_000);
  afterEach(async () => {
    await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
  });
  afterAll(async () => {
    await browser?.close();
    await demo?.stop();
  }, 60_000);
  const open: SharedDemo['open'] = (path = '/', pageOptions = {}) =>
    openPage(running().browser, new URL(path, running().demo.url).href, pageOptions);
  return {
    get url() {
      return running().demo.url;
    },
    get login() {
      return running().demo.login;
    },
    get password() {
      return running().demo.password;
    },
    get operator() {
      return running().demo.operator;
    },
    mails: () => running().demo.mails(),
    crash: () => running().demo.crash(),
    open,
    as: ({ login, password }) => callAs(running().demo.url, { login, password }),
    async enter(login, path = '/', pageOptions = {}) {
      const opened = await open('/', pageOptions);
      await logIn(opened.page, login);
      if (path !== '/') await opened.page.goto(running().demo.url + path);
      return opened;
    },
  };
}

async function callAs(url: string, login: Login): Promise<ApiCall> {
  const call = async (method: string, path: string, sent?: string | object, jwt?: string) => {
    const type =
      typeof sent === 'string' ? 'text/csv' : method === 'PATCH' ? 'application/merge-patch+json' : JSON_TYPE;
    const answer = await fetch(url + path, {
      method,
      headers: {
        ...(sent === undefined ? {} : { 'content-type': type }),
        ...(jwt === undefined ? {} : { authorization: `JWT ${jwt}` }),
      },
      ...(sent === undefined ? {} : { body: typeof sent === 'string' ? sent : JSON.stringify(sent) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
  const { jwt } = await call('POST', '/auth/login?jwt=1', login);
  return (method, path, sent) => call(method, path, sent, jwt);
}

export type PageOptions = BrowserContextOptions;

/** A page that keeps what it did wrong. */
export interface WatchedPage {
  page: Page;
  /** Violations of the content security policy, errors of scripts, requests to other origins. */
  faults: string[];
}

/**
 * Without the console's service worker, where the options don't allow it: once that has taken the page over, what the
 * page asks for no longer goes by `page.route`.
 */
export async function openPage(browser: Browser, url: string, options: PageOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    ...options,
  });
  // Browsers that refuse a service worker do this; Playwright's own 'block' makes `register` resolve to nothing.
  if (options.serviceWorkers !== 'allow')
    await context.addInitScript(
      `ServiceWorkerContainer.prototype.register = () => Promise.reject(new Error('refused'));`,
    );
  context.setDefaultTimeout(PAGE_PATIENCE_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) faults.push(message.text());
  });
  page.on('request', (request) => {
    const at = new URL(request.url());
    if (/^(https?|wss?):$/.test(at.protocol) && at.host !== new URL(url).host)
      faults.push(`request to ${request.url()}`);
  });
  await page.goto(url);
  return { page, faults };
}

export async function logIn(page: Page, { login, password }: Login): Promise<void> {
  await page.getByLabel('Login').fill(login);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.locator('.vehicle').first().waitFor();
}

/** What axe finds in the page against WCAG 2.2 AA. */
export async function axeViolations(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const found = (await page.evaluate(`axe.run(document, { runOnly: ${JSON.stringify(tags)} })`)) as {
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

/** How many pixels of a part of the page have about this colour. */
export async function pixelsOf(page: Page, selector: string, [red, green, blue]: readonly number[]): Promise<number> {
  const picture = (await page.locator(selector).screenshot()).toString('base64');
  // In a page of its own: the console's policy allows no pictures from text.
  const reader = await page.context().newPage();
  try {
    return await reader.evaluate(
      async ({ data, color }) => {
        const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext('2d');
        context?.drawImage(image, 0, 0);
        const pixels = context?.getImageData(0, 0, image.width, image.height).data ?? [];
        let count = 0;
        for (let at = 0; at < pixels.length; at += 4)
          if (color.every((part, index) => Math.abs((pixels[at + index] ?? 0) - part) <= 6)) count += 1;
        return count;
      },
      { data: picture, color: [red ?? 0, green ?? 0, blue ?? 0] },
    );
  } finally {
    await reader.close();
  }
}
