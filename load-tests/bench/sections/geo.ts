import { benchGeofenceIndex } from '../../../packages/geo/src/geofence-index.bench.ts';
import { defineSection, figure } from '../section.ts';

/** Which geofences a position is in, beside flatbush with turf. */
export const section = defineSection({
  about: 'positions asked of the geofence index a second on one core, beside flatbush with turf',
  bare: 'flatbush and turf',
  async run(say, quick) {
    const result = [100, 10_000, 100_000].flatMap((geofences) => {
      say(`${geofences.toLocaleString('en-US')} geofences`);
      return benchGeofenceIndex([geofences], quick ? 0.2 : 2);
    });
    return {
      result,
      tables: [
        {
          title: 'Geofence index on one core',
          columns: [
            'geofences',
            'positions/s',
            'flatbush + turf',
            'times',
            'with ways/s',
            'hits',
            'bytes each',
            'build ms',
            'change ms',
          ],
          rows: result.map((row) => [
            row.geofences,
            row.positionsPerSecond,
            row.baselinePositionsPerSecond,
            row.ratio,
            row.waysPerSecond,
            row.hitsPerPosition,
            row.bytesPerGeofence,
            row.buildMs,
            row.putMs,
          ]),
        },
      ],
    };
  },
  figures: (rows) =>
    rows.map((row) =>
      figure(`${row.geofences} geofences`, 'positions/s', row.positionsPerSecond, {
        bare: row.baselinePositionsPerSecond,
      }),
    ),
});
