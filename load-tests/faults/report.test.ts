import { expect, test } from 'vitest';
import type { Fault } from './plan.ts';
import { faultTable } from './report.ts';

test('a line for each fault, with the longest that anything took after it', () => {
  const fault = (kind: 'kill' | 'disk', place: string): Fault => {
    return { kind, place, beginsAfterMs: 0, lastsMs: 0, how: { kind } };
  };
  const rounds = [
    { recoveries: [{ fault: fault('kill', 'api'), seconds: 3 }], caughtUpSeconds: 12.34 },
    {
      recoveries: [
        { fault: fault('kill', 'rules'), seconds: 4.56 },
        { fault: fault('disk', 'disk'), seconds: null },
      ],
      caughtUpSeconds: 2,
    },
  ];
  expect(faultTable(['kill', 'stop', 'disk'], rounds).split('\n')).toEqual([
    'fault   rounds   places   longest until ready again   longest until all caught up',
    'kill         2        2                       4.6 s                        12.3 s',
    'stop         0        0                           -                             -',
    'disk         1        1                       never                         2.0 s',
  ]);
});
