import { describe, expect, test } from 'vitest';
import { axeViolations, CHROMIUM, logIn, type PageOptions, pixelsOf, useDemo } from './demo.fixture.ts';

const MOVING_GREEN = [13, 122, 62];
const PATIENCE = { timeout: 60_000, interval: 250 };

if (CHROMIUM === undefined)
  process.stderr.write('No Chromium here (CHROMIUM, /usr/bin/chromium): the console is not tried.\n');

describe.skipIf(CHROMIUM === undefined)('the console in a browser', { timeout: 120_000 }, () => {
  const demo = useDemo();

  /** A page with somebody logged in. */
  async function console(options: PageOptions = {}, path = '/') {
    const opened = await demo.open(path, options);
    await logIn(opened.page, demo);
    return opened;
  }

  test('a wrong password is said to be wrong; the right one leads to vehicles that move on the map', async () => {
    const { page, faults } = await demo.open();
    await page.getByLabel('Login').fill(demo.login);
    await page.getByLabel('Password', { exact: true }).fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Login or password is wrong.').waitFor();
    await logIn(page, demo);
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await page.locator('.vehicle').count()).toBeGreaterThan(8);
    await expect.poll(() => pixelsOf(page, '.mapbox', MOVING_GREEN), PATIENCE).toBeGreaterThan(200);
    // The same session lets a second page in, without a login.
    const second = await page.context().newPage();
    await second.goto(demo.url);
    await second.locator('.vehicle').first().waitFor();
    expect(await second.evaluate(() => document.cookie)).toBe('');
    expect(faults).toEqual([]);
  });

  test('search, states and order narrow the list and the map, and stand in the address', async () => {
    const { page, faults } = await console();
    // Of the list: rows out of sight are not in the document.
    const size = async () => Number(await page.locator('.vehicle').first().getAttribute('aria-setsize'));
    const all = await size();
    await page.getByRole('searchbox').fill('truck');
    await expect.poll(size, PATIENCE).toBeLessThan(all);
    expect(new URL(page.url()).searchParams.get('q')).toBe('truck');
    for (const name of await page.locator('.vehicle strong').allTextContents()) expect(name).toMatch(/truck/i);
    await page.getByRole('searchbox').fill('no such vehicle');
    await page.getByText('No vehicle matches').waitFor();
    await expect.poll(() => pixelsOf(page, '.mapbox', MOVING_GREEN), PATIENCE).toBe(0);
    await page.getByRole('button', { name: 'Show all vehicles', exact: true }).click();
    await expect.poll(size, PATIENCE).toBe(all);
    expect(faults).toEqual([]);
  });

  test('the rows of the list follow what their vehicles do', async () => {
    const { page, faults } = await console();
    const seen = new Set<string>();
    const rows = () => page.locator('.vehicle button .end').allTextContents();
    // Some of its rows are drawn anew now and then for other reasons.
    await expect.poll(async () => seen.add((await rows()).join()).size, PATIENCE).toBeGreaterThan(5);
    expect(faults).toEqual([]);
  });

  test('letters have the font that comes with the page, which brings its licence', async () => {
    const { page, faults } = await demo.enter(demo);
    const loaded = await page.evaluate(async () => {
      await document.fonts.ready;
      const shown = [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family);
      const asked = [
        ['Inter Variable', 'Żółw'],
        ['Inter Variable', 'Ёж'],
        ['Noto Sans Hebrew Variable', 'רכב'],
      ] as const;
      const found = asked.map(async ([family, text]) => (await document.fonts.load(`1rem "${family}"`, text)).length);
      return { shown, found: await Promise.all(found) };
    });
    expect(loaded.shown.join()).toContain('Inter Variable');
    for (const files of loaded.found) expect(files).toBeGreaterThan(0);
    for (const font of ['inter', 'noto-sans-hebrew']) {
      const licence = await page.context().request.get(`${demo.url}/licenses/${font}.txt`);
      expect(await licence.text()).toContain('SIL Open Font License');
    }
    expect(faults).toEqual([]);
  });

  test('by keyboard: a vehicle is chosen, its panel opens, is followed and closed', async () => {
    const { page, faults } = await console();
    await page.getByRole('searchbox').fill('truck 01');
    await page.locator('.vehicle').nth(1).waitFor({ state: 'detached' });
    await page.locator('.vehicle button').first().focus();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('complementary', { name: 'Truck 01' });
    await panel.waitFor();
    expect(new URL(page.url()).searchParams.get('vehicle')).toMatch(/^[0-9a-f-]{36}$/);
    await panel.getByText(/^(Moving|Parked|Idling)$/).waitFor();
    await panel.getByRole('button', { name: 'Follow' }).press('Enter');
    await expect.poll(() => new URL(page.url()).searchParams.get('follow'), PATIENCE).toBe('1');
    await panel.getByRole('button', { name: 'Close' }).press('Enter');
    await panel.waitFor({ state: 'detached' });
    await page.goBack();
    await panel.waitFor();
    expect(faults).toEqual([]);
  });

  test('after the logout nothing is shown, and the address leads back after the next login', async () => {
    const { page, faults } = await console({}, '/?q=van');
    await page.getByRole('button', { name: /Logged in as/ }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Password', { exact: true }).waitFor();
    expect(await page.locator('.vehicle').count()).toBe(0);
    await logIn(page, demo);
    await expect.poll(() => page.getByRole('searchbox').inputValue(), PATIENCE).toBe('van');
    expect(faults).toEqual([]);
  });

  test('a circle is drawn, refused at its field, saved; a change by somebody else is shown; it is deleted', async () => {
    const { page, faults } = await console();
    await page.getByRole('link', { name: 'Geofences' }).click();
    await page.getByRole('button', { name: 'New circle' }).click();
    await page.getByText('Click the centre on the map').waitFor();
    const form = page.getByRole('complementary', { name: 'Geofence' });
    const drawn = form.getByLabel('Radius, m');
    // The drawing tool is loaded with the first shape.
    await expect
      .poll(async () => {
        if ((await drawn.inputValue()) !== '') return 'drawn';
        await page.mouse.click(600, 600);
        await page.mouse.move(650, 600, { steps: 4 });
        await page.mouse.click(650, 600);
        return drawn.inputValue();
      }, PATIENCE)
      .not.toBe('');
    await form.getByLabel('Name', { exact: true }).fill('Yard');
    await form.getByLabel('Speed limit, km/h').fill('900');
    await form.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => form.getByLabel('Speed limit, km/h').getAttribute('aria-invalid'), PATIENCE).toBe('true');
    await form.getByLabel('Speed limit, km/h').fill('30');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^Yard/ }).click();
    await form.waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.evaluate(async () => {
      const id = new URL(location.href).searchParams.get('geofence');
      const headers = { 'content-type': 'application/merge-patch+json' };
      const body = JSON.stringify({ properties: { name: 'Theirs' } });
      await fetch(`/api/v1/geozones/${id}`, { method: 'PATCH', headers, body });
    });
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByRole('button', { name: 'Show their version' }).click();
    await expect.poll(() => form.getByLabel('Name', { exact: true }).inputValue(), PATIENCE).toBe('Theirs');
    await form.getByRole('button', { name: 'Delete' }).click();
    await form.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await form.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^Theirs/ }).waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 390, height: 780 },
    ]) {
      test(`axe finds nothing in ${colorScheme} at ${viewport.width} pixels`, async () => {
        const options = { colorScheme, viewport };
        const { page, faults } = await demo.open('/', options);
        await page.getByLabel('Password', { exact: true }).waitFor();
        expect(await axeViolations(page)).toEqual([]);
        await logIn(page, demo);
        await page.locator('.maplibregl-canvas').waitFor();
        expect(await axeViolations(page)).toEqual([]);
        await page.locator('.vehicle button').first().click();
        await page.locator('.panel .facts').first().waitFor();
        expect(await axeViolations(page)).toEqual([]);
        await page.getByRole('button', { name: /Logged in as/ }).click();
        await page.getByRole('link', { name: 'My account' }).click();
        await page.getByLabel('Time zone').waitFor();
        expect(await axeViolations(page)).toEqual([]);
        expect(faults).toEqual([]);
      });
    }
  }
});
