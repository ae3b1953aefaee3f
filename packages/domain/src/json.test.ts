import { expect, test } from 'vitest';
import type { FleetEvent } from './events/index.ts';
import { eventJson } from './json.ts';

const times = { startedAtMs: 0, endedAtMs: null, fromFixTimeMs: 0, fixTimeMs: 0 };

test('an event has its lengths of time in seconds, under the names that reports have', () => {
  const trip = { ...times, kind: 'trip', movingMs: 61_500, idlingMs: 0 } as FleetEvent;
  expect(eventJson(trip)).toMatchObject({ kind: 'trip', movingSeconds: 61.5, idlingSeconds: 0 });
  for (const event of [trip, { ...times, kind: 'ignition' } as FleetEvent])
    expect(Object.keys(eventJson(event)).filter((name) => name.endsWith('Ms'))).toEqual([]);
});
