import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { launch } from '../demo.fixture.ts';
import { installProbe, type Probe } from './probe.ts';

const VIEWPORT = { width: 1280, height: 800 };
const PATIENCE_MS = 120_000;
const SIGN_INS = 3;
const SEARCHES = 10;
const MOMENTS = 5;
/** The console shows the age of positions in the last minute. */
const WATCHED_MS = 65_000;

/** A service whose terminals report continuously. Each vehicle already has a position. */
export interface ReportingService {
  url: string;
  login: string;
  password: string;
  vehicles: number;
  /** A moment at which each vehicle has a position in the archive, Unix milliseconds. */
  pastMs: number;
}

/** Results in milliseconds. */
export interface FleetMeasured {
  /** From the click on "Log in" to the frame that has all vehicles. */
  signIn: number[];
  /** From a letter in the search to its results on the page. */
  search: number[];
  /** From the request for all positions at a moment of the past until they are on the map. */
  past: number[];
  /** 99th percentile of the time from the packet of a position to its frame, as the console shows it. */
  packetToPicture: number | null;
  /** The same for each stage. */
  stages: Record<'service' | 'network' | 'page', number | null>;
}

/** Measures what a dispatcher waits for, with many vehicles whose terminals report to a real service. */
export async function measureFleet(
  service: ReportingService,
  isQuick: boolean,
  say: (progress: string) => void,
): Promise<FleetMeasured> {
  const browser = await launch();
  try {
    const place = await placeOfFleet(browser, service);
    say('from the password to all vehicles on the map');
    const signIn: number[] = [];
    for (let nth = 0; nth < (isQuick ? 1 : SIGN_INS); nth += 1) {
      const { page, ms } = await signedIn(browser, service, place);
      signIn.push(ms);
      await page.context().close();
    }
    const { page } = await signedIn(browser, service, place);
    say('from packet to picture');
    await wait(isQuick ? WATCHED_MS / 10 : WATCHED_MS);
    const { total: packetToPicture, ...stages } = await delaysOf(page);
    say('the search');
    const search = await searches(page, service.vehicles, isQuick ? 2 : SEARCHES);
    say('the past');
    const past = await moments(page, service.pastMs, isQuick ? 1 : MOMENTS);
    await page.context().close();
    return { signIn, search, past, packetToPicture, stages };
  } finally {
    await browser.close();
  }
}

/** Sets the account's preferences, and finds the address of a map that shows all vehicles. */
async function placeOfFleet(browser: Browser, { url, login, password }: ReportingService): Promise<string> {
  const context = await browser.newContext({ viewport: VIEWPORT, locale: 'en-GB' });
  const headers = { Origin: url };
  const answer = await context.request.post(`${url}/auth/login`, { data: { login, password }, headers });
  if (!answer.ok()) throw new Error(`the login was refused: ${answer.status()}`);
  // Clusters would hide the vehicles.
  await context.request.patch(`${url}/api/v1/me/preferences`, {
    data: { clusters: false },
    headers: { ...headers, 'Content-Type': 'application/merge-patch+json' },
  });
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForURL(/at=/, { timeout: PATIENCE_MS });
  const place = new URL(page.url()).searchParams.get('at') ?? '';
  await context.close();
  return place;
}

async function signedIn(
  browser: Browser,
  { url, login, password, vehicles }: ReportingService,
  place: string,
): Promise<{ page: Page; ms: number }> {
  const context = await browser.newContext({ viewport: VIEWPORT, locale: 'en-GB' });
  await context.addInitScript(installProbe);
  await context.addInitScript(`globalThis.probe.vehicles = ${vehicles}; globalThis.probe.waitsForPicture = false;`);
  const page = await context.newPage();
  await page.goto(`${url}/?at=${place}`);
  await page.getByLabel('Login').fill(login);
  await page.getByLabel('Password', { exact: true }).fill(password);
  const button = page.getByRole('button', { name: 'Log in' });
  await button.evaluate((element) =>
    element.addEventListener('click', () => Object.assign(globalThis, { clickedMs: performance.now() })),
  );
  await button.click();
  type Clicked = { probe: Probe; clickedMs: number };
  await page.waitForFunction(() => (globalThis as unknown as Clicked).probe.allVehiclesMs !== null, null, {
    timeout: PATIENCE_MS,
  });
  const ms = await page.evaluate(() => {
    const { probe, clickedMs } = globalThis as unknown as Clicked;
    return (probe.allVehiclesMs ?? 0) - clickedMs;
  });
  return { page, ms };
}

async function delaysOf(page: Page): Promise<Record<'total' | 'service' | 'network' | 'page', number | null>> {
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  const figures = page.locator('.delay');
  // Without positions, there are no figures.
  if (
    !(await figures.waitFor({ timeout: 10_000 }).then(
      () => true,
      () => false,
    ))
  )
    return { total: null, service: null, network: null, page: null };
  const texts = [
    figures.locator('> strong'),
    ...['Service', 'Network', 'This page'].map((stage) =>
      figures.locator('dl > div').filter({ hasText: stage }).locator('dd'),
    ),
  ];
  const [total = null, service = null, network = null, ownPage = null] = await Promise.all(
    texts.map(async (text) => Number((await text.textContent())?.replace(/\D/g, ''))),
  );
  await page.keyboard.press('Escape');
  return { total, service, network, page: ownPage };
}

async function searches(page: Page, vehicles: number, count: number): Promise<number[]> {
  await page.keyboard.press('Control+KeyK');
  await page.getByRole('combobox', { name: 'Search everything' }).waitFor();
  const measured: number[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const text = `load ${Math.floor(((nth + 0.5) / count) * vehicles)}`;
    const ms = await page.evaluate(async (asked) => {
      const input = document.querySelector<HTMLInputElement>('dialog input');
      const found = document.querySelector('dialog [role="listbox"]');
      if (input === null || found === null) throw new Error('no search');
      const isFound = () => found.querySelector('[role="option"]')?.textContent?.toLowerCase().includes(asked);
      const beganMs = performance.now();
      input.value = asked;
      input.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise<void>((resolve) => {
        const observer = new MutationObserver(() => {
          if (!isFound()) return;
          observer.disconnect();
          resolve();
        });
        observer.observe(found, { subtree: true, childList: true, characterData: true });
        if (isFound()) resolve();
      });
      return performance.now() - beganMs;
    }, text);
    measured.push(ms);
  }
  await page.keyboard.press('Escape');
  return measured;
}

async function moments(page: Page, pastMs: number, count: number): Promise<number[]> {
  await page.getByRole('button', { name: 'Show the fleet at another time' }).click();
  const bar = page.getByRole('group', { name: 'Time of the map' });
  const output = bar.locator('output:not(.loading)');
  await output.waitFor({ timeout: PATIENCE_MS });
  const measured: number[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const text = new Date(pastMs + nth * 1000).toISOString();
    const ms = await page.evaluate(async (at) => {
      performance.clearResourceTimings();
      const shown = document.querySelector('.past output');
      if (shown === null) throw new Error('no time of the map');
      history.pushState(
        null,
        '',
        `/?${new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(location.search)), time: at })}`,
      );
      dispatchEvent(new PopStateEvent('popstate'));
      let hasBegun = false;
      await new Promise<void>((resolve) => {
        const look = () => {
          const isLoading = shown.classList.contains('loading');
          if (hasBegun && !isLoading) return resolve();
          hasBegun ||= isLoading;
          requestAnimationFrame(look);
        };
        look();
      });
      const [first] = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/positions-at'));
      return performance.now() - (first?.startTime ?? Number.NaN);
    }, text);
    measured.push(ms);
  }
  await page.getByRole('button', { name: 'Now', exact: true }).click();
  return measured;
}
