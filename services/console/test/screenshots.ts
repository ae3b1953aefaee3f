import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { CHROMIUM, launch, logIn, openPage, startDemo } from './demo.fixture.ts';

const FOLDER = join(import.meta.dirname, '../../../docs/images');
const MOST_BYTES = 300_000;
/** So that vehicles have a way behind them. */
const DRIVING_MS = 60_000;
/** Until the map is drawn and vehicles have come to their places. */
const SETTLE_MS = 5000;
const PHONE = { width: 390, height: 780 };

/** `npm run screenshots`: pictures of the console for the documentation, of a demo that it starts. */
async function main(): Promise<void> {
  if (CHROMIUM === undefined) throw new Error('no Chromium here (CHROMIUM, /usr/bin/chromium)');
  mkdirSync(FOLDER, { recursive: true });
  const demo = await startDemo();
  const browser = await launch();
  try {
    await new Promise((resolve) => setTimeout(resolve, DRIVING_MS));
    const open = async (options: BrowserContextOptions) => {
      const { page } = await openPage(browser, demo.url, { reducedMotion: 'reduce', ...options });
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
    await picture(await open({ colorScheme: 'dark' }), 'console-map-dark.png');
    await picture(await open({ colorScheme: 'light', viewport: PHONE }), 'console-phone.png');
  } finally {
    await browser.close();
    await demo.stop();
  }
}

async function choose(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: new RegExp(`^${name}`) }).click();
  await page.locator('.panel .timeline').first().waitFor();
}

async function picture(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(SETTLE_MS);
  const file = join(FOLDER, name);
  writeFileSync(file, await page.screenshot());
  const { size } = statSync(file);
  if (size > MOST_BYTES) throw new Error(`${name} has ${size} bytes, more than ${MOST_BYTES}`);
  process.stdout.write(`${file}: ${Math.round(size / 1000)} kB\n`);
}

await main();
