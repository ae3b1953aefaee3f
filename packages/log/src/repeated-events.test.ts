import type { FleetEvent } from '@outrider/domain';
import { expect, test } from 'vitest';
import { RepeatedEvents } from './repeated-events.ts';

const event = (id: string, phase: FleetEvent['phase'] = 'begin') => ({ id: id as FleetEvent['id'], phase });

test('the first place of an event counts, however often and in whatever order it is read', () => {
  const repeated = new RepeatedEvents();
  expect(repeated.isRepetition(0, 5, event('a'))).toBe(false);
  expect(repeated.isRepetition(0, 6, event('b'))).toBe(false);
  expect(repeated.isRepetition(0, 9, event('a'))).toBe(true);
  // A client that comes back reads the same places again.
  expect(repeated.isRepetition(0, 5, event('a'))).toBe(false);
  expect(repeated.isRepetition(0, 9, event('a'))).toBe(true);
  expect(repeated.isRepetition(0, 10, event('a', 'end'))).toBe(false);
  // An earlier place that is only read now becomes the first.
  expect(repeated.isRepetition(0, 2, event('b'))).toBe(false);
  expect(repeated.isRepetition(0, 6, event('b'))).toBe(true);
});

test('of many at least the newest are remembered, and no more than twice as many', () => {
  const repeated = new RepeatedEvents(3);
  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  for (const [offset, id] of ids.entries()) repeated.isRepetition(0, offset, event(id));
  for (const id of ['e', 'f', 'g']) expect(repeated.isRepetition(0, 8, event(id))).toBe(true);
  expect(repeated.isRepetition(0, 9, event('a'))).toBe(false);
});

test('where an event stands is not forgotten while it is met at earlier places', () => {
  const repeated = new RepeatedEvents(2);
  for (const [place, id] of ['a', 'b', 'c'].entries()) repeated.isRepetition(0, 10 + place, event(id));
  expect(repeated.isRepetition(0, 4, event('a'))).toBe(false);
  repeated.isRepetition(0, 20, event('d'));
  expect(repeated.isRepetition(0, 10, event('a'))).toBe(true);
});
