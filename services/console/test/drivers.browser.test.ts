import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { axeViolations, CHROMIUM, type PageOptions, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };
/** Nobody's in the demo. */
const UNKNOWN_KEY = '015ECA9A470000D2';

describe.skipIf(CHROMIUM === undefined)('drivers in a browser', { timeout: 120_000 }, () => {
  const demo = useDemo();

  const opened = (login: string, path: string, options?: PageOptions) =>
    demo.enter({ login, password: demo.password }, path, options);
  const row = (page: Page, name: string) =>
    page.getByRole('region', { name: 'Drivers', exact: true }).locator('tbody tr').filter({ hasText: name });

  test('who drives now is in the list, in the panel of the vehicle, and in the search of the map', async () => {
    const { page, faults } = await opened('demo-dealer', '/drivers');
    await expect.poll(() => row(page, 'Carmen Ruiz').textContent(), PATIENCE).toContain('Van 02');
    await page.getByRole('link', { name: '1 licence has expired' }).click();
    await expect.poll(() => row(page, '').count(), PATIENCE).toBe(1);
    await row(page, 'Elena Popova').getByRole('button').click();
    const panel = page.getByRole('complementary', { name: 'Elena Popova' });
    await panel.getByRole('link', { name: 'Van 04' }).waitFor();
    await expect.poll(() => panel.locator('.shift-lines i').count(), PATIENCE).toBe(1);
    expect(await axeViolations(page)).toEqual([]);
    await panel.getByRole('link', { name: 'Van 04' }).first().click();
    await page.getByRole('complementary', { name: 'Van 04' }).getByRole('link', { name: 'Elena Popova' }).waitFor();
    await page.getByRole('searchbox').fill('hugo');
    await expect.poll(() => page.locator('.vehicle strong').allTextContents(), PATIENCE).toEqual(['Van 06']);
    expect(faults).toEqual([]);
  });

  test('the score of a driver, of the last days and of each trip, with what cost points', async () => {
    const { page, faults } = await opened('demo-dealer', '/drivers', { viewport: { width: 1280, height: 900 } });
    await row(page, 'Elena Popova').getByRole('button').click();
    const panel = page.getByRole('complementary', { name: 'Elena Popova' });
    await panel.getByRole('link', { name: 'Score', exact: true }).click();
    // Her first trip may not have begun yet.
    await panel.getByRole('img', { name: /^Score \d+$/ }).waitFor({ timeout: 90_000 });
    await panel.getByRole('heading', { name: 'Points' }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await panel.getByRole('link', { name: 'Last 30 days' }).click();
    await expect.poll(() => page.url(), PATIENCE).toContain('days=30');
    await panel.getByRole('img', { name: /^Score \d+$/ }).waitFor();
    await panel.getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('button', { name: /Drivers/ }).waitFor();
    await expect.poll(() => page.url(), PATIENCE).toContain('driver=');
    expect(faults).toEqual([]);
  });

  test('an unknown code is given to a driver, and the vehicle is that driver’s at once', async () => {
    const { page, faults } = await opened('demo-dealer', '/drivers?view=codes', {
      viewport: { width: 390, height: 780 },
    });
    const code = page.getByRole('listitem').filter({ hasText: UNKNOWN_KEY });
    await expect
      .poll(async () => {
        if ((await code.count()) === 0) await page.reload();
        await page.waitForTimeout(500);
        return code.count();
      }, PATIENCE)
      .toBe(1);
    expect(await axeViolations(page)).toEqual([]);
    await code.getByRole('button', { name: 'Existing driver' }).click();
    await code.getByRole('button', { name: /Whose code it is/ }).click();
    await page.getByRole('radio', { name: /Marta Silva/ }).check();
    await page.getByText(`Code ${UNKNOWN_KEY} now belongs to Marta Silva.`).waitFor();
    await page.getByText('No unknown codes').waitFor();
    await page.getByRole('link', { name: 'Drivers', exact: true }).first().click();
    // The bus is hers by hand as well: it is one of both.
    await expect.poll(() => row(page, 'Marta Silva').textContent(), PATIENCE).toContain(UNKNOWN_KEY);
    expect(faults).toEqual([]);
  });

  test('a driver is added, assigned by hand over another assignment, and the assignment ends', async () => {
    const { page, faults } = await opened('demo-dealer', '/drivers?driver=new');
    const form = page.getByRole('complementary', { name: 'New driver' });
    await form.getByLabel('Name').fill('Nina Krause');
    await form.getByLabel('Codes').fill('01a3f2190b0000c1');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.locator('.error').first().waitFor();
    await form.getByLabel('Codes').fill('A1\nB2');
    await form.getByLabel('Licence valid until').fill('2031-05-31');
    await form.getByRole('button', { name: 'Save' }).click();
    const panel = page.getByRole('complementary', { name: 'Nina Krause' });
    await panel.getByRole('link', { name: 'Assignments' }).click();
    await panel.getByRole('button', { name: 'Assign' }).click();
    const dialog = page.getByRole('dialog', { name: 'Assign a driver' });
    await dialog.getByRole('button', { name: /^Vehicle/ }).click();
    await page.getByRole('radio', { name: /Bus with cameras/ }).check();
    await page.keyboard.press('Escape');
    await dialog.getByText('The vehicle is already assigned at that time:').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'End it before' }).click();
    await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
    await page.getByText('Nina Krause drives Bus with cameras.').waitFor();
    await expect.poll(() => row(page, 'Nina Krause').textContent(), PATIENCE).toContain('Bus with cameras');
    await panel.getByRole('button', { name: 'End now' }).click();
    await page.getByText('Nina Krause no longer drives Bus with cameras.').waitFor();
    await expect.poll(() => row(page, 'Nina Krause').textContent(), PATIENCE).not.toContain('Bus with cameras');
    expect(faults).toEqual([]);
  });

  test('who may not keep drivers reads them', async () => {
    const { page } = await opened('demo', '/drivers');
    await row(page, 'Anna Berg').getByRole('button').click();
    await page.getByRole('link', { name: 'Details' }).click();
    const panel = page.getByRole('complementary', { name: 'Anna Berg' });
    await panel.getByText('01A3F2190B0000C1').waitFor();
    expect(await panel.getByRole('button', { name: 'Save' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'New driver' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Unknown codes' }).count()).toBe(0);
  });
});
