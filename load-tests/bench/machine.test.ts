import { expect, test } from 'vitest';
import { isBusy, machineSeconds, othersCores, ownSeconds } from './machine.ts';

test('processor time is read as Linux writes it: waiting is none, what other machines took is', () => {
  expect(machineSeconds('cpu  100 20 30 9999 777 5 6 7 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n')).toBe(1.68);
  // Its own time and that of its ended children; the name may hold anything.
  expect(ownSeconds('42 (node (a) b) S 1 1 1 0 -1 4194304 9 9 9 9 100 20 300 4 20 0 11 0')).toBe(4.24);
});

test('what others use is the machine without this process', () => {
  const before = { machine: 10, own: 4, atMs: 1000 };
  expect(othersCores(before, { machine: 14, own: 7, atMs: 3000 })).toBe(0.5);
  // Hundredths of seconds are counted at different moments.
  expect(othersCores(before, { machine: 12, own: 6.01, atMs: 3000 })).toBe(0);
  expect(othersCores(null, before)).toBeNull();
  expect(othersCores(before, before)).toBeNull();
});

test('a machine is busy where others use more than a tenth of its cores', () => {
  expect(isBusy(0.2, 2)).toBe(false);
  expect(isBusy(0.21, 2)).toBe(true);
  expect(isBusy(null, 2)).toBe(false);
});
