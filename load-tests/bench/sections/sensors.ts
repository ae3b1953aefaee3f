import { benchSensors } from '../../../packages/engine/src/sensors/sensors.bench.ts';
import { defineSection, figure } from '../section.ts';

/** What sensors of vehicles cost the rules. */
export const section = defineSection({
  about: 'positions through the rule engine with five sensors a vehicle, beside vehicles without',
  bare: 'the same vehicles without sensors',
  async run(say, quick) {
    say('2,000 vehicles, one position a packet, no geofences: without sensors and with five, in turn');
    const rows = benchSensors(quick ? 0.2 : 4);
    return {
      result: rows,
      tables: [
        {
          title: 'Sensors: positions of 2,000 vehicles on one core, one a packet, no geofences',
          columns: ['sensors', 'positions/s', 'per CPU s', 'CPU s per million', 'ratio', 'ratio with states'],
          rows: rows.map((row) => [
            row.sensors,
            row.positionsPerSecond,
            row.positionsPerCpuSecond,
            row.cpuSecondsPerMillion,
            row.ratio,
            row.ratioWithStates,
          ]),
        },
      ],
    };
  },
  figures: (rows) =>
    rows
      .filter(({ sensors }) => sensors !== 'none')
      .map((row) =>
        figure(`sensors of a vehicle: ${row.sensors}`, 'positions/CPU s', row.positionsPerCpuSecond, {
          bare: rows.find(({ sensors }) => sensors === 'none')?.positionsPerCpuSecond,
        }),
      ),
});
