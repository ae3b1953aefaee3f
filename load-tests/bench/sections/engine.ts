import { benchEngine, benchOwners, engineCases } from '../../../packages/engine/src/engine.bench.ts';
import { defineSection, figure } from '../section.ts';

/** What the rules make of positions, beside flatbush with turf that only looks for the geofences around them. */
export const section = defineSection({
  about: 'positions through the rule engine a second on one core, beside flatbush with turf',
  bare: 'flatbush and turf, which only find the geofences around a position',
  async run(say, quick) {
    const result = engineCases.map((one) => {
      const { scene, geofences, intervalS, positionsPerPacket } = one;
      say(
        `${scene}: ${geofences.toLocaleString('en-US')} geofences, ${positionsPerPacket} a packet, ${intervalS} s apart`,
      );
      return benchEngine(one, quick ? 0.2 : 2);
    });
    say('1,000 owners of 100 geofences each over the same city, against one owner with 100');
    const owners = benchOwners(1000, 100, quick ? 0.2 : 2);
    return {
      result: { cases: result, owners },
      tables: [
        {
          title: 'Rule engine on one core: visits, speeding, trips and stops of 2,000 vehicles',
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
            'rules by flatbush + turf',
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
            row.plainRulesPositionsPerCpuSecond,
            row.plainRulesRatio,
            row.bytesPerVehicle,
            row.encodeUsPerVehicle,
          ]),
        },
        {
          title: 'Geofences of others: owners over one city, a vehicle seen by one of them',
          columns: ['owners', 'geofences each', 'events per 1,000', 'per CPU s', 'cost of a position'],
          rows: owners.map((row) => [
            row.owners,
            row.geofencesEach,
            row.eventsPerThousand,
            row.positionsPerCpuSecond,
            row.cost,
          ]),
        },
      ],
    };
  },
  figures: ({ cases }) =>
    cases.map((row) => {
      const scene = `${row.scene}, ${row.geofences} geofences, ${row.positionsPerPacket} a packet, ${row.intervalS} s apart`;
      return figure(scene, 'positions/CPU s', row.positionsPerCpuSecond, { bare: row.baselinePositionsPerCpuSecond });
    }),
});
