import { afterAll, expect, test, vi } from 'vitest';

vi.stubGlobal('navigator', { languages: ['en'] });
vi.stubGlobal('location', { origin: 'http://localhost', protocol: 'http:', host: 'localhost' });
const { fleet, hasStates } = await import('./store.ts');
const { isPast, leavePast, nowOfMap, pastError, showPast, shownPastMs, stateAt } = await import('./past.ts');
const { linesResponse, vehicle } = await import('./test-fleet.fixture.ts');

// Files share a thread.
afterAll(() => {
  vi.unstubAllGlobals();
  fleet.clear();
});

const AT_MS = Date.UTC(2026, 0, 15, 12);
const LIMITS = { offlineAfterMinutes: 10, movingSpeedKmh: 2 };

test('what a vehicle did is told by its last fix', () => {
  const fix = { fixTime: '2026-01-15T11:55:00Z', speedKmh: 40, ignition: true };
  expect(stateAt(LIMITS, fix, AT_MS)).toBe('moving');
  expect(stateAt(LIMITS, { ...fix, speedKmh: 2 }, AT_MS)).toBe('idling');
  expect(stateAt(LIMITS, { fixTime: fix.fixTime }, AT_MS)).toBe('parking');
  expect(stateAt(LIMITS, { ...fix, fixTime: '2026-01-15T11:49:59Z' }, AT_MS)).toBe('offline');
});

test('a moment is shown once all positions are there, and left again with all that was known of it', async () => {
  fleet.define([vehicle('a', LIMITS), vehicle('b', LIMITS), vehicle('silent', LIMITS)]);
  // Newer than the moment: it is shown all the same.
  fleet.move('a', { latitude: 1, longitude: 1, fixMs: AT_MS + 1000, speedKmh: 5, courseDeg: 5 }, 0);
  fleet.move('silent', { latitude: 1, longitude: 1, fixMs: AT_MS + 1000, speedKmh: 5, courseDeg: 5 }, 0);
  hasStates.value = true;
  const fixOf = (vehicleId: string, longitude: number) => ({
    ...{ vehicleId, fixTime: '2026-01-15T11:59:00.000Z', latitude: 59.9, longitude },
    ...{ speedKmh: 40, courseDeg: 90 },
  });
  const asked: URL[] = [];
  vi.stubGlobal('fetch', async (url: string | URL) => {
    asked.push(new URL(url, 'http://localhost'));
    return linesResponse([fixOf('a', 30.1), fixOf('gone', 0), fixOf('b', 30.2)]);
  });
  await showPast(AT_MS, new AbortController().signal);
  expect(asked.map(({ pathname, search }) => pathname + search)).toEqual([
    '/api/v1/reports/positions-at?at=2026-01-15T12%3A00%3A00.000Z',
  ]);
  const [a, b, silent] = ['a', 'b', 'silent'].map((id) => fleet.indexOf(id)) as [number, number, number];
  expect([fleet.longitude[a], fleet.stateOf(a), fleet.longitude[b], fleet.courseDeg[b]]).toEqual([
    30.1,
    'moving',
    30.2,
    90,
  ]);
  expect(fleet.drawnX(a, 0)).toBe(fleet.x[a]);
  expect(fleet.hasPosition(silent)).toBe(false);
  expect([isPast.value, shownPastMs.value, nowOfMap()]).toEqual([true, AT_MS, AT_MS]);

  leavePast();
  expect([isPast.value, hasStates.value, fleet.hasPosition(a)]).toEqual([false, false, false]);
  fleet.move('a', { latitude: 1, longitude: 1, fixMs: AT_MS, speedKmh: 5, courseDeg: 5 }, 0);
  expect(fleet.longitude[a]).toBe(1);
});

test('a moment that can’t be read leaves what is shown, and says why', async () => {
  vi.stubGlobal('fetch', async () =>
    Response.json({ title: 'Busy', status: 503, detail: 'The archive is busy.' }, { status: 503 }),
  );
  await showPast(AT_MS, new AbortController().signal);
  expect(pastError.value).toMatchObject({ status: 503 });
  expect(shownPastMs.value).toBe(null);
  leavePast();
  expect(pastError.value).toBe(null);
});
