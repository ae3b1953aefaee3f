import type { Vehicle, VehicleGroup } from '@outrider/client';
import { describe, expect, test } from 'vitest';
import { axeViolations, CHROMIUM, pixelsOf, useDemo } from './demo.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };
const HOUR_MS = 3_600_000;
/** Of vehicles that move, in the light theme. */
const MOVING_GREEN = [13, 122, 62];
const ALERT_RED = [179, 32, 28];
const LAND = [244, 243, 239];
const SEA = [207, 223, 236];
/** The green of a vehicle whose fix is overdue. */
const fadedOver = (ground: readonly number[]) =>
  MOVING_GREEN.map((part, nth) => 0.65 * part + 0.35 * (ground[nth] ?? 0));

describe.skipIf(CHROMIUM === undefined)('what a dispatcher relies on, in a browser', { timeout: 120_000 }, () => {
  const demo = useDemo();

  /** Makes vehicles, whose terminals speak the protocol of the OsmAnd app. */
  async function addVehicles(...vehicles: readonly (Partial<Vehicle> & { name: string; terminalId: string })[]) {
    const operator = await demo.as(demo.operator);
    const ids: string[] = [];
    for (const vehicle of vehicles) ids.push((await operator<Vehicle>('POST', '/api/v1/vehicles', vehicle)).id);
    const { items } = await operator<{ items: { name: string; port: number }[] }>('GET', '/api/v1/terminal-protocols');
    const port = items.find(({ name }) => name === 'osmand')?.port;
    /** Until it is taken: the gateway may not know the vehicle yet. */
    const send = (fix: Record<string, string | number>) => {
      const query = new URLSearchParams(Object.entries(fix).map(([name, value]) => [name, `${value}`]));
      const status = async () => (await fetch(`http://127.0.0.1:${port}/?${query}`, { method: 'POST' })).status;
      return expect.poll(status, PATIENCE).toBe(200);
    };
    return { operator, ids, send };
  }

  test('a vehicle that speeds is red on the map and in the list, and the feed says so in words until it is over', async () => {
    const racer = { name: 'Racer', terminalId: 'racer', speedLimitKmh: 50, speedToleranceKmh: 0 };
    const { operator, ids, send } = await addVehicles(racer);
    // Of an account of its own: in the feed of a busy fleet the newest events would take the place of these.
    const group = await operator<VehicleGroup>('POST', '/api/v1/vehicle-groups', { name: 'Race' });
    await operator('PATCH', `/api/v1/vehicles/${ids[0]}`, { groupIds: [group.id] });
    const watcher = { login: 'race-control', password: demo.operator.password };
    await operator('POST', '/api/v1/users', { ...watcher, name: 'Race control', groupIds: [group.id] });
    const { page, faults } = await demo.enter(watcher, '/?at=15/-42.5/171.9', { reducedMotion: 'reduce' });
    // Northwards, a fix for each second, up to now.
    let atS = Math.floor(Date.now() / 1000) - 20;
    let latitude = -42.5;
    const drive = async (seconds: number, speedKmh: number) => {
      for (let nth = 0; nth < seconds; nth++) {
        atS += 1;
        latitude += speedKmh / 3.6 / 111_195;
        await send({ id: 'racer', lat: latitude, lon: 171.9, speed: speedKmh / 1.852, timestamp: atS });
      }
    };
    const row = page.locator('.vehicle', { hasText: 'Racer' });
    const feed = page.getByRole('region', { name: 'Events' });
    await row.waitFor();
    await drive(15, 80);
    await row.getByText('Speeding').waitFor();
    await feed.getByText('Racer is speeding: 80 km/h, limit 50 km/h').waitFor();
    await expect.poll(() => pixelsOf(page, '.canvas', ALERT_RED), PATIENCE).toBeGreaterThan(20);
    expect(await axeViolations(page)).toEqual([]);

    await drive(1, 20);
    await feed.getByText(/Racer was speeding for .* up to 80 km\/h/).waitFor();
    await row.getByText('Speeding').waitFor({ state: 'detached' });
    await feed.getByRole('button', { name: /Racer was speeding/ }).click();
    await page.getByRole('complementary', { name: 'Racer' }).waitFor();
    await page.getByRole('button', { name: 'Latest events' }).click();
    await feed.waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  test('the map of a region is drawn over the world where there is one', async () => {
    const { page, faults } = await demo.enter(demo, '/?at=13/47.02/20.64', { reducedMotion: 'reduce' });
    const tileOf = (name: string) => page.waitForResponse((response) => response.url().includes(`/maps/${name}/`));
    const [town, world] = [tileOf('town'), tileOf('world')];
    await page.reload();
    expect((await town).status()).toBe(200);
    expect((await world).ok()).toBe(true);
    expect(faults).toEqual([]);
  });

  test('of vehicles on one spot the map shows how many there are, and a click lets one be chosen', async () => {
    const names = ['Parked 1', 'Parked 2', 'Parked 3'];
    const { page, faults } = await demo.enter(demo.operator, '/?at=15/-41.2/174.7', { reducedMotion: 'reduce' });
    const { send } = await addVehicles(...names.map((name, nth) => ({ name, terminalId: `parked-${nth}` })));
    for (const nth of names.keys())
      await send({ id: `parked-${nth}`, lat: -41.2, lon: 174.7, speed: 0, timestamp: Math.floor(Date.now() / 1000) });
    const canvas = page.locator('.maplibregl-canvas');
    const box = await canvas.boundingBox();
    if (box === null) throw new Error('no map');
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const menu = page.getByRole('region', { name: '3 vehicles' });
    await expect
      .poll(async () => {
        await page.mouse.click(x, y);
        return menu.isVisible();
      }, PATIENCE)
      .toBe(true);
    expect(await menu.getByRole('button').locator('bdi').allTextContents()).toEqual(names);
    expect(await axeViolations(page)).toEqual([]);
    // Fanned out: each has a place of its own, and none covers the spot or what the map shows around it.
    const boxes = await menu
      .getByRole('button')
      .evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().toJSON() as DOMRect));
    for (const [nth, one] of boxes.entries()) {
      expect(one.left > x || one.right < x, `${nth} covers the spot`).toBe(true);
      for (const other of boxes.slice(nth + 1)) {
        const areApart =
          one.right < other.left || other.right < one.left || one.bottom < other.top || other.bottom < one.top;
        expect(areApart, `${nth} covers another`).toBe(true);
      }
    }
    expect(await menu.locator('line').count()).toBe(3);
    await menu.getByRole('button', { name: 'Parked 2' }).click();
    await page.getByRole('complementary', { name: 'Parked 2' }).waitFor();
    expect(await menu.count()).toBe(0);
    // The other ones can be reached from the same spot, and Escape leaves the choice.
    await page.mouse.click(x, y);
    await menu.waitFor();
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    await page.getByRole('complementary', { name: 'Parked 2' }).waitFor();
    // On another map it would be beside nothing. Two clicks at once would be a double click.
    await page.waitForTimeout(1000);
    await page.mouse.click(x, y);
    await menu.waitFor();
    await page.mouse.wheel(0, -400);
    await menu.waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  test('what the list shows of vehicles is chosen, and stands in columns where each has one line', async () => {
    const { page, faults } = await demo.enter(demo, '/', { reducedMotion: 'reduce' });
    const truck = page.locator('.vehicle').filter({ hasText: 'Truck 01' });
    await truck.getByText(/\d km\/h/).waitFor({ timeout: PATIENCE.timeout });
    const menu = page.locator('#list-columns');
    await page.getByRole('button', { name: 'Columns of the list' }).click();
    await menu.getByRole('group', { name: 'Columns of the list' }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await menu.getByLabel('Speed').uncheck();
    await truck.getByText(/\d km\/h/).waitFor({ state: 'detached' });
    await menu.getByLabel('Groups').check();
    await menu.getByLabel('One line for each vehicle').check();
    const heads = page.locator('.heads > span');
    await expect
      .poll(() => heads.allTextContents(), PATIENCE)
      .toEqual(['Vehicles', 'Plate', 'Driver', 'Groups', 'Fuel', 'Last contact']);
    // Each figure stands below its head, in every row.
    const edges = (cells: string) =>
      page.locator(cells).evaluateAll((all) => all.map((cell) => Math.round(cell.getBoundingClientRect().left)));
    const below = await edges('.vehicle:has-text("Truck 01") > button:first-child > :is(.text, .fuel, .contact)');
    expect(below).toEqual((await edges('.heads > span')).slice(1));
    await page.reload();
    await expect.poll(() => heads.count(), PATIENCE).toBe(6);
    await page.getByRole('button', { name: 'Columns of the list' }).click();
    await menu.getByRole('button', { name: 'Usual columns' }).click();
    await expect.poll(() => heads.allTextContents(), PATIENCE).toEqual(['Vehicles', 'Speed', 'Last contact']);
    await menu.getByLabel('One line for each vehicle').uncheck();
    await heads.first().waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  test('one map is kept over all screens until somebody logs out, and each finds it as if it were new', async () => {
    const { page, faults } = await demo.enter(demo, '/', { reducedMotion: 'reduce' });
    const canvas = page.locator('.maplibregl-canvas');
    const isMarked = () => canvas.evaluate((element) => 'isMarked' in element);
    await page.getByRole('button', { name: /^Truck 01/ }).click();
    await page.getByRole('complementary', { name: 'Truck 01' }).waitFor();
    await page.getByRole('button', { name: 'Measure a distance' }).click();
    await canvas.evaluate((element) => Object.assign(element, { isMarked: true }));
    for (const path of ['/geofences', '/track', '/']) {
      await page.evaluate((to) => document.querySelector<HTMLElement>(`a[href="${to}"]`)?.click(), path);
      await page.waitForURL(({ pathname }) => pathname === path);
      await expect.poll(() => canvas.count(), PATIENCE).toBe(1);
      expect([path, await isMarked()]).toEqual([path, true]);
      expect(await page.locator('.maplibregl-ctrl-zoom-in').count()).toBe(1);
      expect(await page.locator('.measure button').getAttribute('aria-pressed')).toBe('false');
      // The layer of the vehicles is of the live map alone.
      await expect.poll(() => page.locator('.maplibregl-canvas-container > canvas').count()).toBe(path === '/' ? 2 : 1);
    }
    await expect.poll(() => new URL(page.url()).searchParams.has('at'), PATIENCE).toBe(true);
    await page.getByRole('button', { name: /^Logged in as/ }).click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Login').fill(demo.login);
    await page.getByLabel('Password', { exact: true }).fill(demo.password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await canvas.waitFor();
    expect(await isMarked()).toBe(false);
    expect(faults).toEqual([]);
  });

  test('Ctrl-K finds vehicles, reports, places and actions by a few letters, by the keyboard alone', async () => {
    const { page, faults } = await demo.enter(demo, '/', { reducedMotion: 'reduce' });
    await page.getByRole('button', { name: /^Truck 01/ }).waitFor();
    const finder = page.getByRole('dialog', { name: 'Search everything' });
    const options = finder.getByRole('option');
    const asked = async (text: string) => {
      await page.locator('dialog').waitFor({ state: 'detached' });
      await page.keyboard.press('Control+KeyK');
      await finder.waitFor();
      await page.keyboard.type(text);
    };
    const chosen = () => finder.getByRole('option', { selected: true }).locator('bdi').textContent();

    await asked('');
    await options.filter({ hasText: 'Reports' }).first().waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    // One that is closed and still there is no dialog to a reader, and not gone yet.
    await page.locator('dialog').waitFor({ state: 'detached' });

    await asked('01 TRUCK');
    await expect.poll(chosen, PATIENCE).toBe('Truck 01');
    expect(await options.nth(1).textContent()).toContain('Track of Truck 01');
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Truck 01' }).waitFor();

    await asked('truck 01');
    await expect.poll(chosen, PATIENCE).toBe('Truck 01');
    await page.keyboard.press('ArrowDown');
    await expect.poll(chosen).toBe('Track of Truck 01');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/track\?vehicle=/);

    await asked('stops');
    await expect.poll(chosen, PATIENCE).toBe('Stops');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/reports\?kind=stops/);

    await asked('depot');
    await expect.poll(chosen, PATIENCE).toBe('Depot');
    await options.first().click();
    await page.waitForURL(/\/geofences\?geofence=/);

    await asked('dark theme');
    await expect.poll(chosen, PATIENCE).toBe('Dark theme');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark');
    await asked('no such thing');
    await finder.getByText('Nothing found').waitFor();
    expect(await options.count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('the ten vehicles nearest to a place, by the right button, or to the middle of the map, by keyboard', async () => {
    const { page, faults } = await demo.enter(demo.operator, '/', { reducedMotion: 'reduce' });
    await page.getByRole('button', { name: /^Truck 01/ }).waitFor();
    const menu = page.getByRole('region', { name: 'Nearest vehicles' });
    const metres = async () =>
      (await menu.getByRole('button').locator('span:not(.chip)').allTextContents()).map((text) => {
        const [, value = '', unit = ''] = /^([\d.,]+)\s(km|m)/.exec(text) ?? [];
        return Number(value.replace(',', '')) * (unit === 'km' ? 1000 : 1);
      });
    const canvas = page.locator('.maplibregl-canvas');
    const box = await canvas.boundingBox();
    if (box === null) throw new Error('no map');
    await expect
      .poll(async () => {
        await page.mouse.click(box.x + box.width / 3, box.y + box.height / 3, { button: 'right' });
        return menu.getByRole('button').count();
      }, PATIENCE)
      .toBe(10);
    const found = await metres();
    expect(found).toEqual(found.toSorted((a, b) => a - b));
    expect(found.every((distance) => distance >= 0)).toBe(true);
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Vehicles nearest to the middle of the map' }).focus();
    await page.keyboard.press('Enter');
    const nearest = await menu.getByRole('button').first().locator('bdi').textContent();
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: nearest ?? '' }).waitFor();
    expect(faults).toEqual([]);
  });

  test('a vehicle that is chosen at the edge of the map stays in view when its panel takes the space', async () => {
    const [latitude, longitude, zoom] = [-42.9, 172.9, 12];
    const pixelsPerDegree = (512 * 2 ** zoom) / 360;
    const { page, faults } = await demo.enter(demo.operator, `/?at=${zoom}/${latitude}/${longitude}`, {
      reducedMotion: 'reduce',
    });
    const { send } = await addVehicles({ name: 'Edge', terminalId: 'edge-1' });
    const canvas = page.locator('.maplibregl-canvas');
    const widthPx = async () => (await canvas.boundingBox())?.width ?? 0;
    const before = await widthPx();
    const lon = longitude + (before / 2 - 100) / pixelsPerDegree;
    await send({ id: 'edge-1', lat: latitude, lon, speed: 0, timestamp: Math.floor(Date.now() / 1000) });
    const row = page.getByRole('button', { name: /^Edge/ });
    await row.getByText('Parked').waitFor();
    await row.click();
    await page.getByRole('complementary', { name: 'Edge' }).waitFor();
    await expect.poll(widthPx, PATIENCE).toBeLessThan(before - 200);
    const fromMiddlePx = async () => {
      const centre = Number(new URL(page.url()).searchParams.get('at')?.split('/')[2]);
      return Math.abs(lon - centre) * pixelsPerDegree;
    };
    const half = (await widthPx()) / 2;
    await expect.poll(fromMiddlePx, PATIENCE).toBeLessThan(half);
    expect(faults).toEqual([]);
  });

  test('a vehicle that moves and sends nothing more becomes hollow', async () => {
    const { page, faults } = await demo.enter(demo.operator, '/?at=15/-42.2/173.7', { reducedMotion: 'reduce' });
    const { send } = await addVehicles({ name: 'Silent', terminalId: 'silent-1' });
    let seconds = 0;
    const drive = () => {
      seconds += 1;
      const place = { lat: -42.2, lon: 173.7 + seconds * 1e-5, speed: 20, bearing: 90 };
      return send({ id: 'silent-1', ...place, timestamp: Math.floor(Date.now() / 1000) });
    };
    const green = () => pixelsOf(page, '.mapbox', MOVING_GREEN);
    const faded = async () =>
      (await pixelsOf(page, '.mapbox', fadedOver(LAND))) + (await pixelsOf(page, '.mapbox', fadedOver(SEA)));
    // Its rhythm is known from the second fix on.
    const drives = async () => {
      for (let fixes = 0; fixes < 3; fixes += 1) {
        await drive();
        await page.waitForTimeout(1000);
      }
      return green();
    };
    await expect.poll(drives, PATIENCE).toBeGreaterThan(50);
    // A look at the map may take ten seconds, which must not become its rhythm.
    for (let fixes = 0; fixes < 10; fixes += 1) {
      await drive();
      await page.waitForTimeout(1000);
    }
    const solid = await green();
    await expect.poll(green, PATIENCE).toBeLessThan(0.8 * solid);
    // What is left of it is faded: the map shows through.
    expect(await faded()).toBeGreaterThan(10);
    await expect.poll(drives, PATIENCE).toBeGreaterThanOrEqual(0.9 * solid);
    expect(faults).toEqual([]);
  });

  test('map and list show the fleet at a moment of the past, and now again', async () => {
    const { page, faults } = await demo.enter(demo, '/', { timezoneId: 'UTC', reducedMotion: 'reduce' });
    await page.getByRole('button', { name: /^Truck 01/ }).waitFor();
    interface At {
      at: string;
      id: string;
      place: string;
      all: string;
    }
    /** Where Truck 01 was a while ago, which the archive has by now, and where all were. */
    const archived = () =>
      page.evaluate(async (): Promise<At | null> => {
        const json = async (path: string) => (await fetch(path)).json();
        const id = (await json('/api/v1/vehicles?q=Truck%2001')).items[0].id as string;
        const at = `${new Date(Date.now() - 15_000).toISOString().slice(0, 19)}Z`;
        const { items } = await json(`/api/v1/reports/positions-at?at=${at}`);
        const fix = items.find(({ vehicleId }: { vehicleId: string }) => vehicleId === id);
        const place = fix && `${fix.latitude.toFixed(5)}, ${fix.longitude.toFixed(5)}`;
        return fix ? { at, id, place, all: JSON.stringify(items) } : null;
      });
    await expect.poll(archived, PATIENCE).not.toBeNull();
    const { at, id, place, all } = (await archived()) as At;
    await page.goto(`${demo.url}/?time=${at}&vehicle=${id}`);
    const bar = page.getByRole('group', { name: 'Time of the map' });
    const panel = page.getByRole('complementary', { name: 'Truck 01' });
    await panel.getByText(place).waitFor();
    const day = bar.getByLabel('Day', { exact: true });
    expect(await day.inputValue()).toBe(at.slice(0, 10));
    expect(await panel.getByRole('link', { name: 'Show track' }).getAttribute('href')).toContain(`t=${at}`);
    expect(await axeViolations(page)).toEqual([]);
    // What happens meanwhile is not shown.
    await expect.poll(async () => (await archived())?.all, PATIENCE).not.toBe(all);
    expect(await panel.getByText(place).count()).toBe(1);

    // By the keyboard: a minute earlier, and a day at which there was nothing yet.
    await bar.getByLabel('Time of day').focus();
    await page.keyboard.press('ArrowLeft');
    await page.waitForURL((url) => Date.parse(url.searchParams.get('time') ?? '') <= Date.parse(at) - 59_000);
    const dayBefore = new Date(Date.parse(at) - 2 * 24 * HOUR_MS).toISOString().slice(0, 10);
    await day.fill(dayBefore);
    await panel.getByText('No data on this vehicle in the month before.').waitFor();
    await page.getByRole('button', { name: /^No data \d/ }).waitFor();

    await bar.getByRole('button', { name: 'Now' }).click();
    await bar.waitFor({ state: 'detached' });
    await panel.getByRole('button', { name: 'Follow' }).waitFor();
    await page.locator('.vehicle .chip.moving').first().waitFor();
    // To leave the map is to leave the past.
    await page.getByRole('button', { name: 'Show the fleet at another time' }).click();
    await bar.waitFor();
    await page.getByRole('link', { name: 'Track', exact: true }).first().click();
    await page.goBack();
    await bar.waitFor();
    expect(faults).toEqual([]);
  });

  test('the panel has the newest events of a busy day in order, and says what it could not read', async () => {
    const { page, faults } = await demo.enter(demo, '/', { timezoneId: 'UTC' });
    const nowMs = Date.now();
    const minutes = (nowMs % (24 * HOUR_MS)) / 60_000;
    // As the API orders them: by the fix that began them. Each began a little earlier than the one before it ended.
    const events = Array.from({ length: 260 }, (_, nth) => {
      const startedAt = new Date(nowMs - ((260 - (nth ^ 1)) / 261) * minutes * 60_000).toISOString();
      return { id: `e${nth}`, kind: 'ignition', vehicleId: 'v', startedAt, endedAt: startedAt, durationSeconds: 0 };
    });
    await page.route('**/api/v1/reports/events?*', (route) => {
      const isFirst = !new URL(route.request().url()).searchParams.has('cursor');
      const items = isFirst ? events.slice(0, 130) : events.slice(130);
      return route.fulfill({ json: { items, nextCursor: isFirst ? 'more' : null } });
    });
    const detail = 'The archive is not reached.';
    await page.route('**/api/v1/reports/trips?*', (route) =>
      route.fulfill({ status: 500, json: { type: 'about:blank', title: 'Error', status: 500, detail } }),
    );
    await page.getByRole('button', { name: /^Truck 01/ }).click();
    const panel = page.getByRole('complementary', { name: 'Truck 01' });
    const section = panel.locator('section', { hasText: 'Events today' });
    await section.locator('time').first().waitFor();
    const shown = await section
      .locator('time')
      .evaluateAll((times) => times.map((time) => time.getAttribute('datetime')));
    const newest = events.map(({ startedAt }) => startedAt).sort();
    expect(shown).toEqual(newest.toReversed().slice(0, 20));
    await section.getByRole('link', { name: 'All events of today (260)' }).waitFor();
    await panel.getByText(detail).waitFor();
    expect(await panel.getByText('No trips today').count()).toBe(0);
    await page.unroute('**/api/v1/reports/trips?*');
    await page.getByRole('button', { name: /^Truck 02/ }).click();
    await page
      .getByRole('complementary', { name: 'Truck 02' })
      .locator('section', { hasText: 'Trips today' })
      .waitFor();
    expect(await page.getByText(detail).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('a polygon that ends above another geofence is kept', async () => {
    const { page, faults } = await demo.enter(demo.operator, '/geofences', { reducedMotion: 'reduce' });
    await page.evaluate(async () => {
      const coordinates = [
        [
          [170, -45],
          [180, -45],
          [180, -35],
          [170, -35],
          [170, -45],
        ],
      ];
      const geometry = { type: 'Polygon', coordinates };
      const properties = { shape: 'polygon', name: 'Everywhere here' };
      const body = JSON.stringify({ type: 'Feature', geometry, properties });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch('/api/v1/geozones', { method: 'POST', headers, body });
      const { id } = await answer.json();
      history.pushState(null, '', `/geofences?geofence=${id}`);
      dispatchEvent(new PopStateEvent('popstate'));
    });
    const form = page.getByRole('complementary', { name: 'Geofence' });
    // The map shows the whole of it beside its form.
    await expect.poll(() => form.getByLabel('Name', { exact: true }).inputValue(), PATIENCE).toBe('Everywhere here');
    await page.getByRole('button', { name: 'New polygon' }).click();
    await form.getByRole('heading', { name: 'New geofence' }).waitFor();
    const coordinates = form.locator('.coordinates textarea');
    const corners = [
      [560, 350],
      [700, 350],
      [700, 480],
      [560, 480],
    ] as const;
    await expect
      .poll(async () => {
        for (const [x, y] of [...corners, corners[3]]) {
          await page.mouse.move(x, y, { steps: 3 });
          await page.mouse.click(x, y);
        }
        return coordinates.inputValue();
      }, PATIENCE)
      .not.toBe('');
    expect(new URL(page.url()).searchParams.get('geofence')).toBe('polygon');
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('');
    expect(faults).toEqual([]);
  });

  test('a screen that cannot be loaded says so, is asked for after pauses, and comes when it can be', async () => {
    const { page } = await demo.enter(demo);
    const asked: number[] = [];
    await page.route('**/assets/page-*.js', (route) => {
      asked.push(Date.now());
      return route.abort();
    });
    await page.getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('main').getByText('The service could not be reached').waitFor();
    // After one, two and four seconds. An attempt is of two requests: the browser loads the file, then runs it.
    await expect.poll(() => Date.now() - (asked[0] as number), PATIENCE).toBeGreaterThan(8000);
    expect(asked.length).toBeGreaterThan(2);
    expect(asked.length).toBeLessThan(12);
    await page.unroute('**/assets/page-*.js');
    await page
      .getByRole('button', { name: /^Make report|^Show/ })
      .first()
      .waitFor();
  });

  test('after an upgrade a screen that is gone loads the page anew, once', async () => {
    const { page } = await demo.enter(demo);
    let loads = 0;
    page.on('framenavigated', (frame) => {
      if (frame === page.mainFrame()) loads += 1;
    });
    await page.route('**/assets/page-*.js', (route) => route.fulfill({ status: 404, body: '' }));
    await page.route(`${demo.url}/`, async (route) => {
      if (route.request().isNavigationRequest()) return route.continue();
      await route.fulfill({ contentType: 'text/html', body: '<script type="module" src="/assets/index-new.js">' });
    });
    await page.evaluate(() => Object.assign(window, { isMarked: true }));
    await page.getByRole('link', { name: 'Reports' }).click();
    await expect.poll(() => page.evaluate(() => 'isMarked' in window).catch(() => true), PATIENCE).toBe(false);
    await page.getByRole('main').getByText('The service could not be reached').waitFor();
    expect(new URL(page.url()).pathname).toBe('/reports');
    const loadsBefore = loads;
    // Further attempts fail as well: the page is not loaded again and again.
    await page.waitForResponse('**/assets/page-*.js');
    await page.waitForResponse('**/assets/page-*.js');
    expect(loads).toBe(loadsBefore);
  });
});
