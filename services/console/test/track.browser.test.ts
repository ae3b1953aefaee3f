import { describe, expect, test } from 'vitest';
import { CHROMIUM, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };

describe.skipIf(CHROMIUM === undefined)('replay and geofences in a browser', { timeout: 120_000 }, () => {
  const demo = useDemo();

  test('two vehicles share one clock; a row of the list sets it, and the address has the second', async () => {
    const { page, faults } = await demo.enter(demo);
    const [one, two] = await page.evaluate(async () => {
      const { items } = await (await fetch('/api/v1/vehicles?limit=2')).json();
      return items.map(({ id }: { id: string }) => id);
    });
    await page.goto(`${demo.url}/track?vehicle=${one}&vehicle=${two}`);
    await page.locator('.player').waitFor({ timeout: 60_000 });
    await expect.poll(() => page.locator('.strip g').count(), PATIENCE).toBe(2);
    await page.locator('.timeline button').last().click();
    await page.locator('.panel.card').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('t') ?? '', PATIENCE).toMatch(/^\d{4}-.*Z$/);
    const at = await page.locator('.player output').textContent();
    await page.reload();
    await expect.poll(() => page.locator('.player output').textContent(), PATIENCE).toBe(at);
    expect(faults).toEqual([]);
  });

  test('a file is imported after its problems are mended, and a deletion is taken back', async () => {
    const { page, faults } = await demo.enter(demo);
    await page.goto(`${demo.url}/geofences?geofence=import`);
    const point = (name: string) =>
      `<Placemark><name>${name}</name><Point><coordinates>20.65,47.02,5</coordinates></Point></Placemark>`;
    const kml = `<kml xmlns="http://www.opengis.net/kml/2.2"><Document>${point('Kiosk')}${point('Depot')}</Document></kml>`;
    await page
      .getByLabel('File')
      .setInputFiles({ name: 'a.kml', mimeType: 'application/xml', buffer: Buffer.from(kml) });
    await page.getByText('Another object has this value.').waitFor();
    await page.getByLabel('Import Depot').uncheck();
    await page.getByRole('button', { name: 'Import 1 geofence', exact: true }).click();
    await page.getByRole('button', { name: /^Kiosk/ }).click();
    const form = page.getByRole('complementary', { name: 'Geofence' });
    await expect.poll(() => form.getByLabel('Radius, m').inputValue(), PATIENCE).toBe('100');
    await form.getByRole('button', { name: 'Delete' }).click();
    await form.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: /^Kiosk/ }).waitFor();
    expect(faults).toEqual([]);
  });
});
