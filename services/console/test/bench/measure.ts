import { setTimeout as wait } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { percentile } from '../../../../load-tests/bench/measure.ts';
import type { SectionReport } from '../../../../load-tests/bench/section.ts';
import { CHROMIUM, launch } from '../demo.fixture.ts';
import { measureEmptyPage, measurePlainMap, type Place, type PlainMap } from './plain-map.ts';
import { installProbe, type Picture, type Probe, scrollList } from './probe.ts';

const VIEWPORT = { width: 1280, height: 800 };
/** Number of frames for which a list is scrolled in each round. */
const SCROLLED_FRAMES = 15;
const FRAME_MS = 1000 / 60;
/** Interval at which the service sends positions of all vehicles. */
const MOVE_EVERY_MS = 1000;
/** Map position at which all vehicles are visible. Clusters are switched off. */
const ADDRESS = '/?at=9/47/20';

interface Goal {
  what: string;
  unit: string;
  measured: number;
  most: number;
}

/** A service whose vehicles move when `move` is called. */
export interface MovingService {
  url: string;
  login: string;
  password: string;
  /** Positions of the vehicles before they move. */
  places: readonly Place[];
  /** Gives every vehicle a new position. */
  move(): Promise<void>;
}

/** Whether a browser for the measurement is available. */
export const hasBrowser = CHROMIUM !== undefined;

/**
 * Measures the console in a browser with many vehicles, and MapLibre alone in the same browser.
 *
 * @param rounds how often all vehicles get new positions
 */
export async function measureConsole(
  service: MovingService,
  rounds: number,
  say: (progress: string) => void,
): Promise<SectionReport> {
  const browser = await launch();
  try {
    return await measure({ browser, service, rounds, say });
  } finally {
    await browser.close();
  }
}

interface Bench {
  browser: Browser;
  service: MovingService;
  rounds: number;
  say: (progress: string) => void;
}

async function measure({ browser, service, rounds, say }: Bench): Promise<SectionReport> {
  const frames = rounds * SCROLLED_FRAMES;
  say('MapLibre alone: an empty map, and a GeoJSON source');
  const beside = await browser.newContext({ viewport: VIEWPORT });
  const plain = await measurePlainMap(await beside.newPage(), service.places, rounds, frames);
  say('an empty page that scrolls');
  const emptyPage = await measureEmptyPage(await beside.newPage(), frames);
  await beside.close();

  say('first vehicle on the map');
  const firstVehicle: number[] = [];
  for (let nth = 0; nth < 3; nth += 1) {
    const { page } = await openConsole(browser, service);
    firstVehicle.push((await probeOf(page)).firstVehicleMs ?? Number.POSITIVE_INFINITY);
    await page.context().close();
  }

  say('message to picture, while all vehicles move');
  const { page } = await openConsole(browser, service);
  const drawn = await whileMoving(page, service, rounds, true);
  say('long tasks, while all vehicles move');
  const moving = await whileMoving(page, service, rounds, false);
  say('scrolling the list');
  await wait(2 * MOVE_EVERY_MS);
  const scrolling = await page.evaluate(
    `(${scrollList.toString()})('.rows', ${frames})` as unknown as () => Promise<number[]>,
  );
  await page.context().close();
  return report(service.places.length, { plain, emptyPage, firstVehicle, drawn, moving, scrolling });
}

/** What was measured; times in milliseconds. */
interface Measured {
  plain: PlainMap;
  /** Between frames of an empty page. */
  emptyPage: number[];
  firstVehicle: number[];
  /** Waiting for the end of each frame. */
  drawn: Probe;
  /** Without waiting, as in normal use. */
  moving: Probe;
  /** Between frames of the console. */
  scrolling: number[];
}

function report(vehicles: number, { plain, emptyPage, firstVehicle, drawn, moving, scrolling }: Measured) {
  const median = (values: readonly number[]) => percentile(values, 0.5);
  const part = (name: keyof Picture) => median(drawn.pictures.map((picture) => picture[name]));
  const pictures = drawn.pictures.map(({ takeMs, waitMs, callsMs, drawMs }) => takeMs + waitMs + callsMs + drawMs);
  const consoleMs = median(pictures);
  const emptyMs = median(plain.empty);
  const emptyFrameMs = median(plain.emptyFrame);
  const geojsonMs = median(plain.geojson);
  const frameMs = median(drawn.pictures.map(({ callsMs, drawMs }) => callsMs + drawMs));
  const ownMs = part('takeMs') + Math.max(0, frameMs - emptyFrameMs);
  const dropped = { console: droppedFrames(scrolling), emptyPage: droppedFrames(emptyPage) };
  const { snapshotBytes } = drawn;
  const goals: Goal[] = [
    { what: 'message to picture, median', unit: 'ms', measured: consoleMs, most: 25 },
    { what: 'long tasks while vehicles move', unit: '', measured: moving.longTasks.length, most: 0 },
    {
      what: 'frames dropped while the list scrolls, beyond an empty page',
      unit: `of ${scrolling.length}`,
      measured: Math.max(0, dropped.console - dropped.emptyPage),
      most: 0,
    },
    { what: 'first vehicle after navigation, median', unit: 'ms', measured: median(firstVehicle), most: 1500 },
    { what: 'snapshot of /live', unit: 'B', measured: snapshotBytes, most: 500_000 },
    { what: 'a position after it', unit: 'B', measured: drawn.positionBytes / drawn.positions, most: 40 },
  ];
  const row = (page: string, gaps: readonly number[]) => [
    page,
    median(gaps),
    percentile(gaps, 0.95),
    droppedFrames(gaps),
  ];
  return {
    result: {
      vehicles,
      emptyMs,
      emptyStartMs: plain.startMs,
      emptyFrameMs,
      geojsonMs,
      consoleMs,
      ownMs,
      consoleP95Ms: percentile(pictures, 0.95),
      longTasksMs: moving.longTasks,
      droppedFrames: dropped,
      firstVehicleMs: firstVehicle,
      snapshotBytes,
      goals,
    },
    tables: [
      {
        title: `New positions of ${vehicles.toLocaleString('en-US')} vehicles, until they are drawn (median, ms)`,
        columns: ['map', 'ms', 'ratio to the console'],
        rows: [
          ['empty map, drawn once more', emptyMs, emptyMs / consoleMs],
          ['GeoJSON source with circles', geojsonMs, geojsonMs / consoleMs],
          ['console, from the message of /live', consoleMs, 1],
        ],
      },
      {
        title: 'Where the time from message to picture goes (median, ms)',
        columns: ['part', 'ms'],
        rows: [
          ['messages read into the arrays', part('takeMs')],
          ['wait for the frame of the browser', part('waitMs')],
          ['buffers and calls of WebGL', part('callsMs')],
          ['drawing, until it is done', part('drawMs')],
          ['the frame of an empty map, beside these two', emptyFrameMs],
          ['own part: without the wait and an empty frame', ownMs],
        ],
      },
      {
        title: 'A list that scrolls: time between frames (ms)',
        columns: ['page', 'median', 'p95', 'dropped'],
        rows: [
          row('empty page', emptyPage),
          row('plain text, beside MapLibre alone', plain.scrolling),
          row('console', scrolling),
        ],
      },
      {
        title: 'Goals',
        columns: ['what', 'unit', 'measured', 'at most', 'share'],
        rows: goals.map(({ what, unit, measured, most }) => [
          what,
          unit,
          measured,
          most,
          most === 0 ? null : measured / most,
        ]),
      },
    ],
  } satisfies SectionReport;
}

/** Number of screen refreshes that passed without a new frame. */
function droppedFrames(gaps: readonly number[]): number {
  return gaps.reduce((dropped, ms) => dropped + Math.max(0, Math.round(ms / FRAME_MS) - 1), 0);
}

/** Opens the console in its own browser context, logged in, once vehicles are on the map. */
async function openConsole(browser: Browser, { url, login, password }: MovingService): Promise<{ page: Page }> {
  const context = await browser.newContext({ viewport: VIEWPORT, locale: 'en-GB' });
  const answer = await context.request.post(`${url}/auth/login`, {
    data: { login, password },
    headers: { Origin: url },
  });
  if (!answer.ok()) throw new Error(`the login was refused: ${answer.status()}`);
  await context.addInitScript(installProbe);
  // Clusters would hide the vehicles.
  await context.request.patch(`${url}/api/v1/me/preferences`, {
    data: { clusters: false },
    headers: { Origin: url, 'Content-Type': 'application/merge-patch+json' },
  });
  const page = await context.newPage();
  await page.goto(url + ADDRESS);
  await page.waitForFunction(() => (globalThis as unknown as { probe: Probe }).probe.firstVehicleMs !== null);
  // Measurement starts here, so that the start of the page is not counted.
  await wait(1000);
  return { page };
}

function probeOf(page: Page): Promise<Probe> {
  return page.evaluate(() => (globalThis as unknown as { probe: Probe }).probe);
}

async function whileMoving(
  page: Page,
  service: MovingService,
  rounds: number,
  waitsForPicture: boolean,
): Promise<Probe> {
  await page.evaluate(async (waits) => {
    const { probe } = globalThis as unknown as { probe: Probe };
    probe.waitsForPicture = waits;
    // A frame that the page still waits for is a long task of the probe, not of the console.
    await new Promise((resolve) => setTimeout(resolve, 500));
    probe.pictures.length = 0;
    probe.longTasks.length = 0;
  }, waitsForPicture);
  for (let round = 0; round < rounds; round += 1) {
    await service.move();
    await wait(MOVE_EVERY_MS);
  }
  return probeOf(page);
}
