import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const OUTRIDER = join(import.meta.dirname, '../../outrider/src');
const PORTS = [
  'PORT',
  'OMNICOMM_PORT',
  'TELTONIKA_PORT',
  'WIALON_PORT',
  'OSMAND_PORT',
  'JT808_PORT',
  'VIDEO_MEDIA_PORT',
];
const START_MS = 120_000;

/** Debian's Chromium, or the one that CHROMIUM names; null without either. */
export const CHROMIUM = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].find(
  (file) => file !== undefined && existsSync(file),
);

/** A running demo, with the console built from the present sources. */
export interface Demo {
  url: string;
  login: string;
  password: string;
  stop(): Promise<void>;
}

export async function startDemo(): Promise<Demo> {
  const built = spawnSync(process.execPath, [join(OUTRIDER, 'build-console.ts')], { encoding: 'utf8' });
  if (built.stdout.includes('failed')) throw new Error(built.stdout);
  const folder = mkdtempSync(join(tmpdir(), 'console-demo-'));
  const child = spawn(process.execPath, [join(OUTRIDER, 'main.ts'), 'demo'], {
    env: {
      PATH: process.env.PATH,
      DATA_DIR: folder,
      HOST: '127.0.0.1',
      LOG_FORMAT: 'text',
      ...Object.fromEntries(PORTS.map((name) => [name, '0'])),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = async () => {
    await ended(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const text = await textUntil(child, /demo login +(\S+) \/ (\S+)/);
    const [, port = ''] = /http:\/\/[^/\s]+:(\d+)\//.exec(text) ?? [];
    const [, login = '', password = ''] = /demo login +(\S+) \/ (\S+)/.exec(text) ?? [];
    return { url: `http://127.0.0.1:${port}`, login, password, stop };
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

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exit;
}

export function launch(): Promise<Browser> {
  // Software rendering: machines that run tests have no graphics processor.
  const args = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];
  return chromium.launch({ executablePath: CHROMIUM as string, args });
}

/** A page that keeps what it did wrong. */
export interface WatchedPage {
  page: Page;
  /** Violations of the content security policy, errors of scripts, requests to other origins. */
  faults: string[];
}

export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', ...options });
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

export async function logIn(page: Page, { login, password }: { login: string; password: string }): Promise<void> {
  await page.getByLabel('Login').fill(login);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.locator('.vehicle').first().waitFor();
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
