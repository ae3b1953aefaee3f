import { recalculationBench } from '../../../services/rules/src/recalculation/recalculation.bench.ts';
import { defineSection, figure } from '../section.ts';

const VEHICLES = 10_000;
const OUTAGE_MINUTES = 30;

/** How fast late data of a whole fleet is recalculated, beside the engine alone over the same positions. */
export const section = defineSection({
  about: `${VEHICLES.toLocaleString('en-US')} vehicles that come back after ${OUTAGE_MINUTES} minutes out of reach`,
  bare: 'the engine alone over the same positions',
  async run(say, quick) {
    const vehicles = quick ? VEHICLES / 10 : VEHICLES;
    const result = await recalculationBench({ vehicles, outageMinutes: OUTAGE_MINUTES, say });
    return {
      result,
      tables: [
        {
          title: `Recalculation of ${vehicles.toLocaleString('en-US')} vehicles after an outage of ${OUTAGE_MINUTES} minutes`,
          columns: ['what', 'value'],
          rows: [
            ['vehicles a second', result.vehiclesPerSecond],
            ['seconds until all are recalculated', result.seconds],
            ['seconds of CPU that took', result.cpuSeconds],
            ['positions gone through', result.positions],
            ['events corrected', result.correctedEvents],
            ['vehicles a second of the engine alone over the same positions', result.bareVehiclesPerSecond],
            ['share of the engine alone', result.share],
            ['largest resident set, MB', result.maxRssMb],
            ['longest pause of the thread, ms', result.longestPauseMs],
          ],
        },
      ],
    };
  },
  figures: (result) => [
    figure('late data of a fleet', 'vehicles/s', result.vehiclesPerSecond, { bare: result.bareVehiclesPerSecond }),
    figure('longest pause of the thread', 'ms', result.longestPauseMs),
  ],
});
