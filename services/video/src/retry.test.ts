import { VIDEO_FAILURES } from '@outrider/domain';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { afterFailure, MAX_ATTEMPTS } from './retry.ts';

const NOW = Date.UTC(2026, 0, 15);
const OFTEN = ['refused', 'busy', 'no-answer', 'stalled', 'connection-lost', 'unreachable', 'source-failed'] as const;

test('what may pass is tried again, later each time, and not for ever', () => {
  fc.assert(
    fc.property(fc.constantFrom(...OFTEN), fc.double({ min: 0, max: 0.999, noNaN: true }), (reason, random) => {
      let before = 0;
      for (let attempts = 1; attempts < MAX_ATTEMPTS; attempts++) {
        const step = afterFailure({ attempts, expiresAtMs: NOW + 1 }, { reason, detail: 'so' }, NOW, random);
        if (step.state !== 'waiting' || step.nextAttemptAtMs === null) throw new Error(`it is ${step.state}`);
        const delay = step.nextAttemptAtMs - NOW;
        expect(delay).toBeGreaterThan(before);
        expect(delay).toBeLessThanOrEqual(750_000);
        before = delay;
      }
      const last = afterFailure(
        { attempts: MAX_ATTEMPTS, expiresAtMs: NOW + 1 },
        { reason, detail: 'so' },
        NOW,
        random,
      );
      expect(last).toEqual({ state: 'failed', reason, detail: 'so (8 attempts)' });
    }),
  );
});

test('what no time mends fails at once, with its own reason', () => {
  for (const reason of ['no-recording', 'unsupported-codec', 'address-not-allowed', 'too-large'] as const)
    expect(afterFailure({ attempts: 1, expiresAtMs: 0 }, { reason, detail: 'so' }, NOW, 0)).toEqual({
      state: 'failed',
      reason,
      detail: 'so',
    });
});

test('a terminal that is away is waited for, however often, until the time is up', () => {
  const away = { reason: 'terminal-offline', detail: 'away' } as const;
  expect(afterFailure({ attempts: 99, expiresAtMs: NOW + 1 }, away, NOW, 0)).toMatchObject({
    state: 'waiting',
    nextAttemptAtMs: null,
  });
  expect(afterFailure({ attempts: 0, expiresAtMs: NOW }, away, NOW, 0)).toMatchObject({
    state: 'failed',
    reason: 'expired',
  });
  expect(VIDEO_FAILURES).toContain('expired');
});
