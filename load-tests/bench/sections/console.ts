import { buildConsole } from '../../../services/outrider/src/console-build.ts';
import { startConsoleService } from '../console/service.ts';
import { defineSection, figure, type SectionReport } from '../section.ts';

/** Code of a browser, which has types of its own. */
const MEASURE = new URL('../../../services/console/test/bench/measure.ts', import.meta.url).href;

/** Part of what is measured in the browser. */
interface ConsoleResult {
  vehicles?: number;
  /** From a message to its picture. */
  consoleMs?: number;
  /** The same of a map with a GeoJSON source. */
  geojsonMs?: number;
}

/** The console in a browser with many vehicles, beside MapLibre alone in the same browser. */
export const section = defineSection<ConsoleResult>({
  about: 'the console in Chromium with 10,000 vehicles: message to picture, list, first vehicle, bytes of /live',
  bare: 'MapLibre with a GeoJSON source, in the same browser',
  async run(say, quick) {
    const { hasBrowser, measureConsole } = await import(MEASURE);
    if (!hasBrowser) {
      say('no Chromium here (CHROMIUM, /usr/bin/chromium): skipped');
      return { tables: [], result: {} };
    }
    const vehicles = quick ? 1000 : 10_000;
    await buildConsole(say);
    say(`starting the service with ${vehicles.toLocaleString('en-US')} vehicles`);
    const service = await startConsoleService(vehicles);
    try {
      return (await measureConsole(service, quick ? 5 : 8, say)) as SectionReport<ConsoleResult>;
    } finally {
      await service.stop();
    }
  },
  figures: ({ vehicles = 0, consoleMs, geojsonMs }) => [
    figure(`message to picture, ${vehicles} vehicles, p50`, 'ms', consoleMs, {
      bare: geojsonMs,
      goal: { atMost: 25 },
    }),
  ],
});
