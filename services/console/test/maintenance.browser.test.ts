import { describe, expect, test } from 'vitest';
import { axeViolations, CHROMIUM, logIn, useDemo } from './demo.fixture.ts';

/** Folder for pictures of the screens; unset: none are taken. */
const PICTURES = process.env.MAINTENANCE_PICTURES;
const PATIENCE = { timeout: 60_000 };

describe.skipIf(CHROMIUM === undefined)('maintenance in a browser', { timeout: 170_000 }, () => {
  const demo = useDemo();

  test('what is due is found, a service with a file is recorded, and a counter is corrected', async () => {
    const { page, faults } = await demo.open();
    const picture = async (name: string) => {
      if (PICTURES !== undefined) await page.screenshot({ path: `${PICTURES}/${name}.png` });
    };
    await logIn(page, demo);
    await page.goto(`${demo.url}/maintenance`);
    const due = page.getByRole('region', { name: 'What is due' });
    const oil = due.locator('tr', { hasText: 'Oil and filter' });
    await oil.waitFor(PATIENCE);
    expect(await oil.textContent()).toMatch(/Due/);
    expect(await axeViolations(page)).toEqual([]);
    await picture('due');

    await oil.click();
    const panel = page.getByRole('complementary');
    const records = panel.locator('.records > li');
    await records.first().waitFor();
    expect(await records.count()).toBe(1);
    await panel.getByRole('button', { name: 'Record a service' }).click();
    await panel.getByLabel('Cost').fill('184.50');
    await panel.getByLabel('Note').fill('By the dealer');
    await picture('record');
    expect(await axeViolations(page)).toEqual([]);
    await panel.getByRole('button', { name: 'Save' }).click();
    await panel.getByText('By the dealer').waitFor();
    expect(await records.count()).toBe(2);
    const newest = records.filter({ hasText: 'By the dealer' });
    const input = newest.locator('input[type=file]');
    await input.setInputFiles({ name: 'invoice.html', mimeType: 'text/html', buffer: Buffer.from('<p>') });
    await page.getByText('The file must be a PDF').waitFor();
    await input.setInputFiles({ name: 'invoice.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7') });
    const link = newest.getByRole('link', { name: 'invoice.pdf' });
    await link.waitFor();
    await picture('file');
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    expect(download.suggestedFilename()).toBe('invoice.pdf');
    expect(await axeViolations(page)).toEqual([]);
    // The service restarts the plan.
    await expect.poll(() => oil.textContent(), PATIENCE).toContain('In order');

    const vehicle = new URL(page.url()).searchParams.get('vehicle');
    await page.goto(`${demo.url}/?vehicle=${vehicle}`);
    await panel.getByRole('button', { name: 'Correct counters' }).click();
    const dialog = page.getByRole('dialog', { name: 'Correct counters' });
    await dialog.getByLabel('Value, km').fill('123456');
    await picture('correct');
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await panel
      .getByText(/123,4\d\d km/)
      .first()
      .waitFor();
    await panel.getByText('1 correction').click();
    await picture('corrected');
    expect(await axeViolations(page)).toEqual([]);

    // A counter of its own, which people read.
    await panel.getByRole('button', { name: 'New counter' }).click();
    const making = page.getByRole('dialog', { name: 'New counter' });
    await making.getByLabel('Name').fill('Tail lift');
    await making.getByLabel('Unit').fill('lifts');
    await picture('counter');
    expect(await axeViolations(page)).toEqual([]);
    await making.getByRole('button', { name: 'Save' }).click();
    await making.waitFor({ state: 'detached' });
    await panel.getByRole('button', { name: 'Correct counters' }).click();
    await dialog.getByRole('combobox', { name: 'Counter' }).selectOption('Tail lift');
    await dialog.getByLabel('Value, lifts').fill('1250');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await panel.getByText('1,250 lifts').first().waitFor();
    await picture('counters');
    await panel.getByRole('button', { name: 'Counter: Tail lift' }).click();
    const changing = page.getByRole('dialog', { name: 'Change counter' });
    await changing.getByRole('button', { name: 'Delete' }).click();
    await page
      .getByRole('dialog')
      .filter({ hasText: 'Delete “Tail lift”?' })
      .getByRole('button', { name: 'Delete' })
      .click();
    await expect.poll(() => panel.getByText('lifts').count(), PATIENCE).toBe(0);

    // The hours of a refrigeration unit, and the plan that goes by them.
    await page.goto(`${demo.url}/maintenance`);
    const cooling = due.locator('tr', { hasText: 'Refrigeration unit service' });
    await cooling.waitFor(PATIENCE);
    await cooling.click();
    await panel.getByRole('heading').first().waitFor();
    const cooled = new URL(page.url()).searchParams.get('vehicle');
    await page.goto(`${demo.url}/?vehicle=${cooled}`);
    await panel.getByRole('button', { name: 'Counter: Refrigeration unit', exact: true }).waitFor();
    await picture('refrigeration');
    expect(faults).toEqual([]);

    if (PICTURES === undefined) return;
    await page.goto(`${demo.url}/maintenance?plan=new`);
    await panel.getByRole('heading', { name: 'New plan' }).waitFor();
    await picture('plan');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto(`${demo.url}/maintenance?vehicle=${vehicle}`);
    await records.first().waitFor();
    await picture('dark');
    await page.setViewportSize({ width: 390, height: 800 });
    await picture('narrow-record');
    await page.goto(`${demo.url}/maintenance`);
    await oil.waitFor(PATIENCE);
    await picture('narrow');
  });

  test('plans and readings come by CSV: a wrong row is named, a dry run makes nothing', async () => {
    const { page, faults } = await demo.enter(demo, '/maintenance?view=plans');
    const csv = (text: string) => ({ name: 'plans.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    const plans = page.getByRole('region', { name: 'Plans', exact: true });
    await page.getByRole('link', { name: 'Import CSV', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Import CSV', exact: true });
    const file = dialog.locator('input[type=file]');
    await file.setInputFiles(csv('vehicleName,name,everyKm\nVan 02,Brakes,30000\nVan 77,Brakes,30000\n'));
    await dialog.getByText('1 error was found. Nothing was imported.').waitFor();
    const wrong = await dialog.locator('tbody tr').first().locator('td').allTextContents();
    expect(wrong[0]).toBe('3');
    await file.setInputFiles(csv('vehicleName,group,name,everyKm\nVan 02,,Brakes,30000\n,Delivery,Wipers,20000\n'));
    await dialog.getByText('New: 2.', { exact: true }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    expect(await plans.locator('tr', { hasText: 'Wipers' }).count()).toBe(0);
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await dialog.getByText('The file was imported. New: 2.', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    await plans.locator('tr', { hasText: 'Wipers' }).waitFor(PATIENCE);

    await page.getByRole('link', { name: 'Import CSV', exact: true }).click();
    await dialog.getByLabel('What is imported', { exact: true }).selectOption('Counter readings');
    await file.setInputFiles(csv('vehicleName,value,note\nVan 02,654321,Dashboard\n'));
    await dialog.getByText('New: 1.', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Import', exact: true }).click();
    await dialog.getByText('The file was imported. New: 1.', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    await page.goto(`${demo.url}/`);
    await page.getByRole('button', { name: /^Van 02/ }).click();
    const panel = page.getByRole('complementary', { name: 'Van 02', exact: true });
    const odometer = (km: RegExp) => panel.getByRole('definition').filter({ hasText: km });
    await odometer(/^654,3\d\d km$/).waitFor(PATIENCE);

    // What somebody else sets is in the panel that is open: the live API says so.
    await page.evaluate(async () => {
      const { items } = await (await fetch('/api/v1/vehicles?q=Van%2002')).json();
      const response = await fetch(`/api/v1/vehicles/${items[0].id}/counter-corrections`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ counter: 'odometer', value: 765_432_000 }),
      });
      if (response.status !== 201) throw new Error(await response.text());
    });
    await odometer(/^765,4\d\d km$/).waitFor(PATIENCE);
    await panel.getByText('2 corrections', { exact: true }).waitFor(PATIENCE);
    expect(faults).toEqual([]);
  });
});
