import { setTimeout as wait } from 'node:timers/promises';
import { buildConsole } from '../../../services/outrider/src/console-build.ts';
import { startConsoleService } from '../console/service.ts';
import { percentile } from '../measure.ts';
import { startChild } from '../road/child.ts';
import { createVehicles, openRest } from '../road/definitions.ts';
import type { PacerMessage, PacerTask } from '../road/pacer.ts';
import { ADMIN_LOGIN, ADMIN_PASSWORD, startService } from '../road/service.ts';
import { defineSection, figure, type SectionReport } from '../section.ts';

/** Code of a browser, which has types of its own. */
const BROWSER = new URL('../../../services/console/test/bench/', import.meta.url).href;
/** Each terminal reports once in this time: 1,000 positions a second of 10,000 vehicles. */
const FIX_SECONDS = 10;
/** Until then each has reported, and the archive has it. */
const ARCHIVED_SECONDS = 45;
const ROUNDS = 100;

/** Part of what is measured in the browser. */
interface MovingResult {
  vehicles?: number;
  /** From a message to its picture. */
  consoleMs?: number;
  /** The same of a map with a GeoJSON source. */
  geojsonMs?: number;
  /** An empty map, drawn once more. */
  emptyMs?: number;
  /** An empty map, from the request for its script. */
  emptyStartMs?: number;
}

/** Milliseconds, as `measureFleet` has them. */
interface FleetResult {
  signIn: number[];
  search: number[];
  past: number[];
  packetToPicture: number | null;
  stages: Record<'service' | 'network' | 'page', number | null>;
}

type ConsoleResult = MovingResult & { fleet?: FleetResult };

/** The console in a browser with many vehicles, beside MapLibre alone in the same browser. */
export const section = defineSection<ConsoleResult>({
  about: 'the console in Chromium with 10,000 vehicles: sign-in, message and packet to picture, list, search, the past',
  bare: 'MapLibre in the same browser: an empty map that starts or is drawn, and one with a GeoJSON source',
  async run(say, quick) {
    const { hasBrowser } = await import(`${BROWSER}measure.ts`);
    if (!hasBrowser) {
      say('no Chromium here (CHROMIUM, /usr/bin/chromium): skipped');
      return { tables: [], result: {} };
    }
    const vehicles = quick ? 1000 : 10_000;
    await buildConsole(say);
    const moving = await runMoving(vehicles, quick, say);
    const fleet = await runFleet(vehicles, quick, say);
    return {
      result: { ...moving.result, fleet },
      tables: [
        ...moving.tables,
        {
          title: 'From the packet of a terminal to the picture, at most, of 99 of 100 (ms)',
          columns: ['part', 'ms'],
          rows: [...Object.entries(fleet.stages), ['altogether', fleet.packetToPicture]],
        },
      ],
    };
  },
  figures: ({ vehicles = 0, consoleMs, geojsonMs, emptyMs, emptyStartMs, fleet }) => {
    const median = (values: readonly number[] | undefined) => values && percentile(values, 0.5);
    const of = `${vehicles.toLocaleString('en-US')} vehicles`;
    const perSecond = `${(vehicles / FIX_SECONDS).toLocaleString('en-US')} positions/s`;
    return [
      figure(`message to picture, ${vehicles} vehicles, p50`, 'ms', consoleMs, {
        bare: geojsonMs,
        goal: { atMost: 25 },
      }),
      figure(`password to ${of} on the map, p50`, 'ms', median(fleet?.signIn), {
        bare: emptyStartMs,
        goal: { atMost: 1000 },
      }),
      figure(`packet to picture, ${of}, ${perSecond}, p99`, 'ms', fleet?.packetToPicture, {
        bare: emptyMs,
        goal: { atMost: 100 },
      }),
      figure(`letter to result of the search, ${of}, p50`, 'ms', median(fleet?.search), { goal: { atMost: 50 } }),
      figure(`a moment of the past, ${of}, p50`, 'ms', median(fleet?.past), { bare: emptyMs, goal: { atMost: 300 } }),
    ];
  },
});

type Say = (progress: string) => void;

/** Vehicles that all move at once, as fast as the page draws. */
async function runMoving(vehicles: number, quick: boolean, say: Say): Promise<SectionReport<MovingResult>> {
  const { measureConsole } = await import(`${BROWSER}measure.ts`);
  say(`starting the service with ${vehicles.toLocaleString('en-US')} vehicles`);
  const service = await startConsoleService(vehicles);
  try {
    return await measureConsole(service, quick ? 5 : 8, say);
  } finally {
    await service.stop();
  }
}

/** A whole service in processes of its own, to which terminals report. */
async function runFleet(vehicles: number, quick: boolean, say: Say): Promise<FleetResult> {
  const { measureFleet } = await import(`${BROWSER}fleet.ts`);
  const service = await startService();
  try {
    say(`making ${vehicles.toLocaleString('en-US')} vehicles`);
    const rest = await openRest(service);
    await createVehicles(rest, vehicles);
    rest.close();
    const pacer = await startChild<PacerTask, PacerMessage>('./pacer.ts', {
      host: service.host,
      port: service.ports.teltonika,
      terminals: vehicles,
      perPacket: 1,
      fixSeconds: FIX_SECONDS,
      rounds: ROUNDS,
      connectAtATime: 100,
      live: null,
    });
    try {
      await pacer.next('connected');
      pacer.say('begin');
      await pacer.next('begun');
      say('terminals report');
      await wait(FIX_SECONDS * 1500);
      const pastMs = Date.now();
      await wait((ARCHIVED_SECONDS - FIX_SECONDS * 1.5) * 1000);
      const url = `http://${service.host}:${service.ports.http}`;
      return await measureFleet({ url, login: ADMIN_LOGIN, password: ADMIN_PASSWORD, vehicles, pastMs }, quick, say);
    } finally {
      await pacer.stop();
    }
  } finally {
    await service.stop();
  }
}
