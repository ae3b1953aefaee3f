import { expect, test } from 'vitest';
import { secondText, timeOf, trackLink } from './links.ts';

const AT = Date.parse('2026-01-31T12:00:00.700Z');

test('a link to a second shows the time around it, or the given interval', () => {
  expect(trackLink({ vehicleId: 'a', atMs: AT })).toBe(
    '/track?vehicle=a&from=2026-01-31T11:30:00Z&to=2026-01-31T12:30:01Z&t=2026-01-31T12:00:00Z',
  );
  const trip = { fromMs: AT - 60_000, toMs: AT + 60_000 };
  expect(trackLink({ vehicleId: 'a', ...trip })).toBe(
    '/track?vehicle=a&from=2026-01-31T11:59:00Z&to=2026-01-31T12:01:01Z',
  );
  expect(trackLink({ vehicleId: 'a', ...trip, atMs: AT })).toContain('&to=2026-01-31T12:01:01Z&t=2026-01-31T12:00:00Z');
});

test('several vehicles share one replay; without a time it is the present day', () => {
  expect(trackLink({ vehicleId: ['a', 'b'] })).toBe('/track?vehicle=a&vehicle=b');
});

test('times of an address are read back; any other text is null', () => {
  expect(timeOf(secondText(AT))).toBe(AT - 700);
  expect(timeOf('2026-01-31T12:00Z')).toBe(AT - 700);
  expect(['', null, 'yesterday', '2026-01-31', '2026-13-31T12:00:00Z', '1769860800000'].map(timeOf)).toEqual(
    Array(6).fill(null),
  );
});
