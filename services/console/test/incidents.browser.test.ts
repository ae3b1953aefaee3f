import { describe, expect, test } from 'vitest';
import { axeViolations, CHROMIUM, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };
const PHONE = { width: 390, height: 780 };

describe.skipIf(CHROMIUM === undefined)('incidents in a browser', { timeout: 240_000 }, () => {
  const demo = useDemo();

  test('a rule opens them, and what one page does with them another shows at once', async () => {
    const { page, faults } = await demo.enter(demo, '/rules?rule=new');
    const form = page.getByRole('complementary');
    await form.getByLabel('Name', { exact: true }).fill('Comes and goes');
    await form.getByLabel('Severity').selectOption('critical');
    await form.getByLabel('For the whole organisation').check();
    await form.getByLabel('Escalate after, minutes').fill('30');
    await form.getByRole('textbox', { name: 'E-mail addresses of the escalation' }).fill('boss@example.org');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The rule was saved.').waitFor();
    // What is saved is there when it is opened again.
    await page.goto(`${demo.url}/rules`);
    await page.getByRole('button', { name: 'Comes and goes' }).click();
    expect(await form.getByLabel('Escalate after, minutes').inputValue()).toBe('30');
    await form.getByText('boss@example.org').waitFor();

    // Vehicles of the demo enter and leave geofences all the time.
    await page.goto(`${demo.url}/incidents`);
    const cards = page.locator('.incident', { hasText: 'Comes and goes' });
    await cards.first().waitFor();
    await page.getByRole('link', { name: /^Incidents \d+/ }).waitFor();
    const title = (await cards.last().locator('strong').textContent()) ?? '';
    await cards.last().click();
    const panel = page.getByRole('complementary', { name: title });
    const { page: other } = await demo.enter(demo, new URL(page.url()).pathname + new URL(page.url()).search);
    const otherPanel = other.getByRole('complementary', { name: title });

    await panel.getByRole('button', { name: 'Acknowledge' }).click();
    await otherPanel.getByText(/acknowledged it/).waitFor();
    await otherPanel.getByRole('button', { name: 'Acknowledge' }).waitFor({ state: 'detached' });
    await otherPanel.getByLabel('Assigned to').selectOption({ index: 1 });
    await panel.getByText(/assigned it to/).waitFor();
    await panel.getByLabel('Comment').fill('The driver waits.\nHe calls back.');
    await panel.getByRole('button', { name: 'Add comment' }).click();
    await otherPanel.getByText('He calls back.').waitFor();
    expect(await panel.getByLabel('Comment').inputValue()).toBe('');

    await panel.getByRole('button', { name: 'Escalate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Escalate' }).click();
    await otherPanel.getByText(/escalated it/).waitFor();
    await page.locator('dialog').waitFor({ state: 'detached' });
    await panel.getByRole('button', { name: 'Close incident' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Close incident' }).click();
    await otherPanel.getByText(/closed it/).waitFor();
    await otherPanel.getByRole('button', { name: 'Escalate' }).waitFor({ state: 'detached' });
    // It is not to be dealt with any more, and is among those that are closed.
    const card = (of: typeof page) => of.locator('.incident.closed', { hasText: title });
    await expect.poll(() => card(other).count(), PATIENCE).toBe(0);
    await page.goto(`${demo.url}/incidents?state=closed`);
    await card(page).first().waitFor();
    expect(faults).toEqual([]);
  });

  test('are read by a screen reader, on a phone and in the dark', async () => {
    for (const options of [{ viewport: PHONE }, { colorScheme: 'dark' as const }]) {
      const { page, faults } = await demo.enter(demo, '/incidents?state=all', options);
      await page.locator('.incident').first().waitFor();
      expect(await axeViolations(page)).toEqual([]);
      await page.locator('.incident a').first().click();
      await page.getByText('History').waitFor();
      expect(await axeViolations(page)).toEqual([]);
      const width = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(width).toBeLessThanOrEqual(0);
      expect(faults).toEqual([]);
    }
  });
});
