import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TerminalId } from '@outrider/domain';
import { createTeltonikaSimulator } from '@outrider/protocols';
import { createTcpTerminal } from '@outrider/simulator';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { CHROMIUM, type Demo, launch, logIn, openPage, startDemo } from './demo.fixture.ts';

const FOLDER = join(import.meta.dirname, '../../../docs/images');
const MOST_BYTES = 300_000;
/** Driving time before the screenshots, so that vehicles have tracks. */
const DRIVING_MS = 60_000;
/** Time until the map is drawn and vehicles have stopped gliding to their positions. */
const SETTLE_MS = 5000;
/** Time until the map is drawn where a toast was. */
const REPAINT_MS = 1000;
/** Maximum duration of a step on a busy machine, such as two videos. */
const STEP_MS = 180_000;
const PHONE = { width: 390, height: 780 };

/** `npm run screenshots`: pictures of the console for the documentation, of a demo that it starts. */
async function main(): Promise<void> {
  if (CHROMIUM === undefined) throw new Error('no Chromium here (CHROMIUM, /usr/bin/chromium)');
  mkdirSync(FOLDER, { recursive: true });
  const demo = await startDemo({ historyDays: 7 });
  const browser = await launch();
  try {
    await new Promise((resolve) => setTimeout(resolve, DRIVING_MS));
    const open = async (options: BrowserContextOptions) => {
      const { page } = await openPage(browser, demo.url, { reducedMotion: 'reduce', ...options });
      page.setDefaultTimeout(STEP_MS);
      await logIn(page, demo);
      return page;
    };
    const light = await open({ colorScheme: 'light' });
    await choose(light, 'Truck 01');
    await picture(light, 'console-map.png');
    await light.getByRole('link', { name: 'Show track' }).click();
    await light.locator('.player').waitFor();
    await picture(light, 'console-track.png');
    await light.goto(`${demo.url}/geofences`);
    await light.getByRole('button', { name: /^Old town/ }).click();
    await light.locator('.panel form').waitFor();
    await picture(light, 'console-geofences.png');
    await watchVideo(light, demo.url);
    await picture(light, 'console-video.png');
    await light.goto(`${demo.url}/reports?kind=mileage`);
    await light.locator('.bar-chart').waitFor();
    await picture(light, 'console-reports.png');
    await administration(browser, demo);
    await light.goto(`${demo.url}/rules`);
    await light.getByRole('button', { name: 'Deliveries at the hospital' }).click();
    await light.getByRole('button', { name: 'Try on last week' }).click();
    await light.locator('.trial .figure').waitFor();
    await light.locator('.trial').evaluate((trial) => trial.scrollIntoView());
    await picture(light, 'console-rules.png');
    const { page: operator } = await openPage(browser, demo.url, { reducedMotion: 'reduce', colorScheme: 'light' });
    await logIn(operator, demo.operator);
    await operator.goto(`${demo.url}/operator`);
    await operator.locator('.trend').first().waitFor();
    await picture(operator, 'console-operator.png');
    await sendCommands(operator, demo.url);
    await picture(operator, 'console-commands.png');
    await account(operator, demo);
    await picture(await open({ colorScheme: 'dark', viewport: PHONE }), 'console-phone.png');
  } finally {
    await browser.close();
    await demo.stop();
  }
}

async function choose(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: new RegExp(`^${name}`) }).click();
  await page.locator('.panel .timeline').first().waitFor();
}

/** The operator's vehicles, and a terminal that waits for one. */
async function administration(browser: Browser, demo: Demo): Promise<void> {
  const { page } = await openPage(browser, demo.url, { reducedMotion: 'reduce', colorScheme: 'light' });
  await logIn(page, demo.operator);
  await page.goto(`${demo.url}/vehicles`);
  await page.getByRole('button', { name: 'Shuttle 02' }).click();
  await page.locator('.detail form').waitFor();
  await picture(page, 'console-vehicles.png');
  const { items } = await page.evaluate(() => fetch('/api/v1/terminal-protocols').then((answer) => answer.json()));
  const { port } = items.find(({ name }: { name: string }) => name === 'teltonika');
  const terminal = createTcpTerminal({
    host: '127.0.0.1',
    port,
    terminalId: '356307042449999' as TerminalId,
    createSimulator: createTeltonikaSimulator,
  });
  try {
    await page.goto(`${demo.url}/terminals?protocol=teltonika`);
    await page.getByRole('button', { name: 'Add vehicle' }).click();
    await picture(page, 'console-terminals.png');
  } finally {
    await terminal.close();
    await page.context().close();
  }
}

/** Orders a video of the last minute from the vehicle with cameras, and plays it. */
async function watchVideo(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await choose(page, 'Bus with cameras');
  await page.getByRole('link', { name: 'Order video', exact: true }).click();
  await page.locator('.order-form [type=submit]').click();
  await page.locator('.chip.video-done').nth(1).waitFor();
  await page.getByRole('button', { name: 'Watch' }).click();
  await page.getByRole('button', { name: 'Play all channels' }).click();
}

/** Requests a position, and opens the form that blocks the engine. */
async function sendCommands(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await choose(page, 'Van 01');
  const panel = page.getByRole('complementary', { name: 'Van 01' });
  const send = panel.getByRole('button', { name: 'Send command' });
  const dialog = page.getByRole('dialog', { name: 'Command to “Van 01”' });
  const type = dialog.getByLabel('Command', { exact: true });
  await send.click();
  await type.selectOption({ label: 'Request the position' });
  await dialog.getByRole('button', { name: 'Send command' }).click();
  await panel.getByText('Done').waitFor();
  await send.click();
  await type.selectOption({ label: 'Block the engine' });
}

/** Shows a new forwarding destination, and the second factor of an account. */
async function account(page: Page, { url, operator }: Demo): Promise<void> {
  await page.goto(`${url}/forwarding`);
  await page.getByRole('button', { name: 'New destination' }).click();
  const destination = page.getByRole('dialog', { name: 'New destination' });
  await destination.getByLabel('Name', { exact: true }).fill('ERP');
  await destination.getByLabel('URL', { exact: true }).fill('https://erp.example.com/positions');
  await picture(page, 'console-forwarding.png');
  await page.goto(`${url}/me`);
  const section = page.getByRole('region', { name: 'Second factor', exact: true });
  await section.getByRole('button', { name: 'Turn on', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Second factor', exact: true });
  await dialog.getByLabel('Current password').fill(operator.password);
  await dialog.getByRole('button', { name: 'Next', exact: true }).click();
  await dialog.getByRole('img', { name: 'QR code of the secret', exact: true }).waitFor();
  await picture(page, 'console-second-factor.png');
}

async function picture(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(SETTLE_MS);
  // Toasts would cover the content.
  await page.evaluate(() => {
    for (const button of document.querySelectorAll<HTMLElement>('.toast button')) button.click();
  });
  await page.locator('.toast').first().waitFor({ state: 'detached' });
  await page.waitForTimeout(REPAINT_MS);
  const file = join(FOLDER, name);
  writeFileSync(file, await page.screenshot());
  const { size } = statSync(file);
  if (size > MOST_BYTES) throw new Error(`${name} has ${size} bytes, more than ${MOST_BYTES}`);
  process.stdout.write(`${file}: ${Math.round(size / 1000)} kB\n`);
}

await main();
