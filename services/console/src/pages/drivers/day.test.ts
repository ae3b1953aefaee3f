import type { DriverAssignment, EventsRow, TripsRow } from '@outrider/client';
import { expect, test } from 'vitest';
import { type DayData, shareOf, shiftsOf } from './day.ts';

const DAY = { fromMs: Date.parse('2026-01-15T00:00:00Z'), toMs: Date.parse('2026-01-16T00:00:00Z') };
const at = (clock: string) => Date.parse(`2026-01-15T${clock}:00Z`);
const iso = (clock: string) => new Date(at(clock)).toISOString();
const shift = (vehicleId: string, from: string, to: string | null) =>
  ({ vehicleId, vehicleName: vehicleId, startedAt: from, endedAt: to }) as EventsRow;
const trip = (vehicleId: string, clock: string, distanceM: number) =>
  ({ vehicleId, startedAt: iso(clock), distanceM }) as TripsRow;
const assigned = (vehicleId: string, from: string, to: string | null): DriverAssignment => ({
  ...{ id: 'a', driverId: 'd', vehicleId, from, to },
});
const data = (more: Partial<DayData>): DayData => ({
  ...{ assignments: [], shifts: [], trips: [], violations: [], scores: new Map(), nameOf: (id) => id },
  ...more,
});
const spans = (found: ReturnType<typeof shiftsOf>) =>
  found.map(({ vehicleId, fromMs, toMs, isOpen, isByHand }) => [
    vehicleId,
    new Date(fromMs).toISOString().slice(11, 16),
    new Date(toMs).toISOString().slice(11, 16),
    isOpen,
    isByHand,
  ]);

test('shifts are cut at the ends of the day and at the present', () => {
  const shifts = [shift('a', '2026-01-14T22:00:00Z', iso('06:00')), shift('b', iso('08:00'), null)];
  expect(spans(shiftsOf(data({ shifts }), DAY, at('12:00')))).toEqual([
    ['a', '00:00', '06:00', false, false],
    ['b', '08:00', '12:00', true, false],
  ]);
  expect(spans(shiftsOf(data({ shifts }), DAY, DAY.toMs + 1))[1]).toEqual(['b', '08:00', '00:00', false, false]);
});

test('where somebody was assigned by hand, the code of the same vehicle says nothing more', () => {
  const shifts = [shift('a', iso('06:00'), iso('12:00'))];
  const assignments = [assigned('a', iso('08:00'), iso('09:00')), assigned('b', iso('10:00'), null)];
  expect(spans(shiftsOf(data({ shifts, assignments }), DAY, at('15:00')))).toEqual([
    ['a', '06:00', '08:00', false, false],
    ['a', '08:00', '09:00', false, true],
    ['a', '09:00', '12:00', false, false],
    ['b', '10:00', '15:00', true, true],
  ]);
});

test('a trip counts for the shift that it began in, or for the nearest one of its vehicle', () => {
  const shifts = [shift('a', iso('06:00'), iso('08:00')), shift('a', iso('10:00'), iso('12:00'))];
  const trips = [trip('a', '05:59', 1000), trip('a', '07:00', 2000), trip('a', '11:00', 500), trip('b', '07:00', 9)];
  const found = shiftsOf(data({ shifts, trips }), DAY, DAY.toMs);
  expect(found.map(({ trips, distanceM }) => [trips, distanceM])).toEqual([
    [2, 3000],
    [1, 500],
  ]);
});

test('a time has its share of the day', () => {
  expect([at('00:00'), at('06:00'), at('18:00'), DAY.toMs + 5].map((ms) => shareOf(ms, DAY))).toEqual([0, 25, 75, 100]);
});
