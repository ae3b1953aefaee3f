import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { axeViolations, CHROMIUM, type PageOptions, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };

describe.skipIf(CHROMIUM === undefined)('reports in a browser', { timeout: 120_000 }, () => {
  const demo = useDemo({ historyDays: 2 });

  const open = (path: string, options?: PageOptions) => demo.enter(demo, path, options);
  const rowsOf = (page: Page) => page.locator('.result .table tbody tr:not(.gap)');

  test('a report is asked for, sorted, and its row leads to the replay at that second', async () => {
    const { page, faults } = await open('/reports');
    await page.getByRole('link', { name: /^Trips Each/ }).click();
    await rowsOf(page).first().waitFor();
    await page.getByText(/^Total of (all|the first)/).waitFor();
    await page.getByRole('button', { name: 'Duration' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('sort'), PATIENCE).toBe('-durationSeconds');
    const reported = (await page.evaluate(async () => {
      const { searchParams } = new URL(location.href);
      const from = new Date(Date.now() - 7 * 86_400_000).toISOString();
      const query = new URLSearchParams({ from, to: new Date().toISOString(), limit: '1000' });
      if (searchParams.get('kind') !== 'trips') throw new Error(location.href);
      return (await (await fetch(`/api/v1/reports/trips?${query}`)).json()).items;
    })) as { vehicleId: string; vehicleName: string; startedAt: string; durationSeconds: number }[];
    const ended = reported.filter((trip) => 'endedAt' in trip && trip.endedAt !== null);
    const [longest] = ended.toSorted((a, b) => b.durationSeconds - a.durationSeconds);
    await expect.poll(() => rowsOf(page).first().textContent(), PATIENCE).toContain(longest?.vehicleName ?? '?');
    await rowsOf(page)
      .first()
      .getByRole('link', { name: /^Replay/ })
      .click();
    await expect.poll(() => new URL(page.url()).pathname, PATIENCE).toBe('/track');
    const { searchParams } = new URL(page.url());
    expect(searchParams.get('vehicle')).toBe(longest?.vehicleId);
    const second = (text: string | null | undefined) => Math.floor(Date.parse(text ?? '') / 1000);
    expect(second(searchParams.get('t'))).toBe(second(longest?.startedAt));
    await page.goBack();
    await rowsOf(page).first().waitFor();
    expect(faults).toEqual([]);
  });

  test('a file is downloaded: a short report at once, a long one as a job that is found again', async () => {
    const { page, faults } = await open('/reports?kind=summary');
    await rowsOf(page).first().waitFor();
    const take = async () => {
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download' }).click();
      await page.getByRole('button', { name: 'CSV', exact: true }).click();
      return downloading;
    };
    const short = await take();
    expect(short.suggestedFilename()).toMatch(/^summary-.*\.csv$/);
    expect(readFileSync(await short.path(), 'utf8')).toMatch(/^vehicleId,vehicleName,period,distanceM/);
    await page.getByRole('button', { name: 'Totals by group' }).click();
    await page.locator('.pane.groups tbody tr').first().waitFor();
    const reading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    await page.getByRole('button', { name: 'PDF', exact: true }).click();
    expect(readFileSync(await (await reading).path(), 'latin1')).toMatch(/^%PDF-/);
    await page.goto(`${demo.url}/reports?kind=track&range=last7days`);
    await page.getByRole('button', { name: 'Show more' }).waitFor();
    const long = await take();
    expect(long.suggestedFilename()).toMatch(/^track-.*\.csv$/);
    await page.getByRole('link', { name: 'Files', exact: true }).click();
    const card = page.locator('.cards li').filter({ hasText: 'Positions · CSV' });
    await card.getByRole('link', { name: 'Download' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('thousands of rows are shown, of which those in sight are in the document', async () => {
    const { page, faults } = await open('/reports?kind=track&range=yesterday&show=none');
    await page.getByRole('button', { name: 'Show all' }).click();
    const table = page.locator('.result .table table');
    const count = async () => Number(await table.getAttribute('aria-rowcount'));
    await expect.poll(count, PATIENCE).toBeGreaterThan(10_000);
    await page.getByText(/^Total of all/).waitFor(PATIENCE);
    await page.locator('.result .table').evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await table.locator(`tr[aria-rowindex="${await count()}"]`).waitFor();
    expect(await rowsOf(page).count()).toBeLessThan(100);
    await page.getByRole('button', { name: 'Map' }).click();
    await rowsOf(page).last().getByRole('button').click();
    await table.locator('tr[aria-current="true"]').waitFor();
    expect(faults).toEqual([]);
  });

  test('what a report lacks is said beside it: what was erased, and what the archive has lost', async () => {
    const { page, faults } = await open('/');
    const incomplete = [{ from: '2026-01-15T12:00:00.000Z', to: '2026-01-15T13:30:00.000Z' }];
    for (const kind of ['mileage', 'track'])
      await page.route(`**/api/v1/reports/${kind}?**`, async (call) => {
        const answer = await call.fetch();
        const lacking = { historyFrom: '2026-01-02T00:00:00.000Z', incomplete };
        await call.fulfill({ response: answer, json: { ...(await answer.json()), ...lacking } });
      });
    const notes = page.getByRole('note');
    const expected = [/^The history before .*2026.* was erased/, /^Data from .+ to .+ was lost/];
    const showsBoth = () =>
      expect
        .poll(async () => {
          const texts = await notes.allTextContents();
          return expected.map((each) => texts.some((text) => each.test(text)));
        }, PATIENCE)
        .toEqual([true, true]);
    await page.goto(`${demo.url}/reports?kind=mileage&range=last7days`);
    await showsBoth();
    expect(await axeViolations(page)).toEqual([]);
    const vehicle = (await (await page.request.get(`${demo.url}/api/v1/vehicles?limit=1`)).json()).items[0].id;
    await page.goto(`${demo.url}/track?vehicle=${vehicle}&range=today`);
    await showsBoth();
    expect(faults).toEqual([]);
  });

  test('a schedule: a wrong address is named at its field; then it is saved, paused and deleted', async () => {
    const { page, faults } = await open('/reports?kind=mileage');
    // The list behind the form comes late, and what was typed until then stays.
    const typed = Promise.withResolvers<void>();
    await page.route('**/api/v1/report-schedules?**', async (call) => {
      await typed.promise;
      await call.continue();
    });
    await page.getByRole('link', { name: 'Schedule', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Kilometres of the week');
    await dialog.getByLabel('E-mail addresses').fill('nobody');
    typed.resolve();
    await page.locator('.cards li').first().waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    const address = dialog.getByLabel('E-mail addresses');
    await expect.poll(() => address.getAttribute('aria-invalid'), PATIENCE).toBe('true');
    await dialog.getByText('It must be an e-mail address.').waitFor();
    await address.fill('dispatch@example.com');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const card = page.locator('.cards li').filter({ hasText: 'Kilometres of the week' });
    await card.getByText(/1 address is not confirmed/).waitFor();
    await card.getByRole('button', { name: 'Pause' }).click();
    await card.getByText('Paused').waitFor();
    await card.getByRole('link').click();
    await dialog.getByText('None yet.').waitFor();
    await dialog.getByText('not confirmed yet').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await card.getByRole('button', { name: /^Delete/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await card.waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  test('a report is saved as a template with its columns, and opened from it', async () => {
    const { page, faults } = await open('/reports?kind=stops&range=lastWeek&columns=vehicleName,durationSeconds');
    await page.getByRole('button', { name: 'Save as template' }).click();
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Stops of the week');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('The template was saved.').waitFor();
    await page.goto(`${demo.url}/reports`);
    await page.getByRole('link', { name: /^Stops of the week/ }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('range'), PATIENCE).toBe('lastWeek');
    expect(new URL(page.url()).searchParams.get('columns')).toBe('vehicleName,durationSeconds');
    expect(faults).toEqual([]);
  });

  test('an area is drawn, which is no geofence, and the past is asked about it', async () => {
    const { page, faults } = await open('/reports?kind=geozone-visits&range=last7days');
    await page.getByRole('button', { name: 'Draw an area' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('.maplibregl-canvas').waitFor();
    await dialog.getByRole('button', { name: 'Circle' }).click();
    const map = (await dialog.locator('.shape-map').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    const [x, y] = [map.x + map.width / 2, map.y + map.height / 2];
    const take = dialog.getByRole('button', { name: 'Use this area' });
    // The drawing tool is loaded with the first shape.
    await expect
      .poll(async () => {
        if (await take.isEnabled()) return true;
        await page.mouse.click(x, y);
        await page.mouse.move(x + 120, y, { steps: 4 });
        await page.mouse.click(x + 120, y);
        return take.isEnabled();
      }, PATIENCE)
      .toBe(true);
    await take.click();
    await page.getByRole('button', { name: 'Show report' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('shape'), PATIENCE).toMatch(/^circle:/);
    await rowsOf(page).first().waitFor();
    await page.getByRole('columnheader', { name: 'Duration' }).waitFor();
    expect(faults).toEqual([]);
  });

  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe finds nothing in ${colorScheme}`, async () => {
      const { page, faults } = await open('/reports', { colorScheme });
      await page.getByRole('link', { name: /^Trips Each/ }).waitFor();
      expect(await axeViolations(page)).toEqual([]);
      for (const show of ['chart', 'heat', 'map']) {
        await page.goto(`${demo.url}/reports?kind=events&show=${show}`);
        await rowsOf(page).first().waitFor();
        expect(await axeViolations(page), show).toEqual([]);
      }
      await page.goto(`${demo.url}/reports?list=schedules&schedule=new`);
      await page.getByLabel('E-mail addresses').waitFor();
      expect(await axeViolations(page)).toEqual([]);
      expect(faults).toEqual([]);
    });
});
