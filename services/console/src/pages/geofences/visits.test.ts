import type { ShapeVisitsRow } from '@outrider/client';
import { expect, test } from 'vitest';
import { byVehicle } from './visits.ts';

test('visits are counted by vehicle, the time between them is not', () => {
  const row = (vehicleId: string, part: string, minute: number, seconds: number) =>
    ({
      vehicleId,
      vehicleName: vehicleId,
      part,
      startedAt: new Date(minute * 60_000).toISOString(),
      endedAt: seconds === 0 ? null : new Date(minute * 60_000 + seconds * 1000).toISOString(),
      durationSeconds: seconds,
    }) as ShapeVisitsRow;
  const rows = [
    row('a', 'inside', 0, 60),
    row('a', 'between', 1, 600),
    row('a', 'inside', 11, 30),
    row('b', 'inside', 2, 500),
  ];
  expect(byVehicle(rows)).toEqual([
    { vehicleId: 'b', vehicleName: 'b', seconds: 500, visits: [{ fromMs: 120_000, toMs: 620_000, seconds: 500 }] },
    {
      vehicleId: 'a',
      vehicleName: 'a',
      seconds: 90,
      visits: [
        { fromMs: 0, toMs: 60_000, seconds: 60 },
        { fromMs: 660_000, toMs: 690_000, seconds: 30 },
      ],
    },
  ]);
});
