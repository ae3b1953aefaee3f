import { benchEngine } from '../../../packages/engine/src/engine.bench.ts';
import type { Section } from '../section.ts';

/** What the rules make of positions, beside flatbush with turf that only looks for the geofences around them. */
export const section: Section = {
  about: 'positions through the rule engine a second on one core, beside flatbush with turf',
  async run(say, quick) {
    const cases: [geofences: number, positionsPerPacket: number, intervalS: number][] = [
      [100, 10, 10],
      [10_000, 10, 10],
      [100_000, 10, 10],
      [10_000, 10, 1],
      [10_000, 1, 10],
    ];
    const result = cases.flatMap(([geofences, positionsPerPacket, intervalS]) => {
      say(`${geofences.toLocaleString('en-US')} geofences, ${positionsPerPacket} a packet, ${intervalS} s apart`);
      return benchEngine([geofences], { positionsPerPacket, intervalS, seconds: quick ? 0.2 : 2 });
    });
    return {
      result,
      tables: [
        {
          title: 'Rule engine on one core: visits and speeding of 2,000 vehicles',
          columns: [
            'geofences',
            's apart',
            'a packet',
            'positions/s',
            'flatbush + turf',
            'times',
            'events per 1,000',
            'state bytes',
            'state µs',
          ],
          rows: result.map((row) => [
            row.geofences,
            row.intervalS,
            row.positionsPerPacket,
            row.positionsPerSecond,
            row.baselinePositionsPerSecond,
            row.ratio,
            row.eventsPerThousand,
            row.bytesPerVehicle,
            row.encodeUsPerVehicle,
          ]),
        },
      ],
    };
  },
};
