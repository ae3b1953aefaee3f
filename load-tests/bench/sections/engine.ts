import { benchEngine, engineCases } from '../../../packages/engine/src/engine.bench.ts';
import type { Section } from '../section.ts';

/** What the rules make of positions, beside flatbush with turf that only looks for the geofences around them. */
export const section: Section = {
  about: 'positions through the rule engine a second on one core, beside flatbush with turf',
  async run(say, quick) {
    const result = engineCases.map((one) => {
      const { scene, geofences, intervalS, positionsPerPacket } = one;
      say(
        `${scene}: ${geofences.toLocaleString('en-US')} geofences, ${positionsPerPacket} a packet, ${intervalS} s apart`,
      );
      return benchEngine(one, quick ? 0.2 : 2);
    });
    return {
      result,
      tables: [
        {
          title: 'Rule engine on one core: visits and speeding of 2,000 vehicles',
          columns: [
            'scene',
            'geofences',
            's apart',
            'a packet',
            'events per 1,000',
            'positions/s',
            'per CPU s',
            'flatbush + turf',
            'times',
            'state bytes',
            'state µs',
          ],
          rows: result.map((row) => [
            row.scene,
            row.geofences,
            row.intervalS,
            row.positionsPerPacket,
            row.eventsPerThousand,
            row.positionsPerSecond,
            row.positionsPerCpuSecond,
            row.baselinePositionsPerCpuSecond,
            row.ratio,
            row.bytesPerVehicle,
            row.encodeUsPerVehicle,
          ]),
        },
      ],
    };
  },
};
