import { describe, expect, test } from 'vitest';
import { type VideoFaults, withFaults } from './faults.ts';

const packets = Array.from({ length: 10 }, (_, i) => Buffer.from([i + 1, i + 1]));

function sent(faults: VideoFaults): string {
  return [...withFaults(packets, faults)]
    .map((sending) =>
      typeof sending === 'string' ? sending : `${sending.send[0]}${sending.send.length === 1 ? '-' : ''}`,
    )
    .join(' ');
}

describe('packets go out', () => {
  test.each([
    [{}, '1 2 3 4 5 6 7 8 9 10'],
    [{ loseEvery: 4 }, '1 2 3 5 6 7 9 10'],
    [{ swapEvery: 4 }, '1 2 3 5 4 6 7 9 8 10'],
    [{ swapEvery: 10 }, '1 2 3 4 5 6 7 8 9 10'],
    [{ truncateEvery: 5 }, '1 2 3 4 5- 6 7 8 9 10-'],
    [{ repeatEvery: 6 }, '1 2 3 4 5 6 6 7 8 9 10'],
    [{ loseEvery: 5, swapEvery: 4 }, '1 2 3 4 6 7 9 8'],
    [{ cutAfterPackets: 3 }, '1 2 3 cut'],
    [{ stallAfterPackets: 2 }, '1 2 stall'],
  ] satisfies [VideoFaults, string][])('with %o', (faults, expected) => {
    expect(sent(faults)).toBe(expected);
  });
});
