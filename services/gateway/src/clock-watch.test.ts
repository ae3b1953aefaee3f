import { blankPosition, type TerminalId } from '@outrider/domain';
import { createLogger, Metrics } from '@outrider/runtime';
import { beforeEach, expect, test } from 'vitest';
import { ClockWatch } from './clock-watch.ts';

const NOON = Date.UTC(2026, 0, 15, 12);
const MINUTE_MS = 60_000;

let lines: string[];
let metrics: Metrics;
let watch: ClockWatch;

beforeEach(() => {
  lines = [];
  metrics = new Metrics();
  const note = (_: unknown, message?: string) => void lines.push(message ?? '');
  watch = new ClockWatch({ ...createLogger('silent', 'json'), warn: note, info: note }, metrics);
});

/** A minute in which each terminal sends a fix that is ahead of the server by so many minutes. */
function minute(nth: number, ...aheadMinutes: number[]): void {
  const receivedAtMs = NOON + nth * MINUTE_MS;
  for (const [terminal, ahead] of aheadMinutes.entries())
    watch.note(
      String(terminal) as TerminalId,
      [
        blankPosition(receivedAtMs - 3_600_000, 0, 0),
        blankPosition(receivedAtMs + ahead * MINUTE_MS, 0, 0),
        { ...blankPosition(receivedAtMs + 10 ** 9, 0, 0), valid: false },
      ],
      receivedAtMs,
    );
}
const gauge = async () => (await metrics.getSingleMetric('outrider_server_clock_suspect')?.get())?.values[0]?.value;

test('a server that is 20 minutes slow is suspected while most terminals are ahead of it, and said so once', async () => {
  minute(0, 0, 0, 0, 0);
  expect(await gauge()).toBe(0);
  for (let nth = 1; nth < 5; nth++) minute(nth, 20, 20, 20, -100);
  expect([watch.isSuspect, await gauge()]).toEqual([true, 1]);
  expect(lines).toEqual(['most terminals are ahead of the server clock: check it']);
  // The clock is put right: twenty minutes later, all at once.
  for (let nth = 25; nth < 28; nth++) minute(nth, 0, 0, 0, -100);
  expect([watch.isSuspect, await gauge()]).toEqual([false, 0]);
  expect(lines).toEqual([
    'most terminals are ahead of the server clock: check it',
    'server clock agrees with the terminals',
  ]);
});

test('a terminal whose own clock is ahead, or two of them, say nothing of the server', async () => {
  for (let nth = 0; nth < 5; nth++) minute(nth, 20, 20, 0, 0);
  for (let nth = 5; nth < 9; nth++) minute(nth, 20, 20);
  for (let nth = 9; nth < 13; nth++) minute(nth, 0.9, 0.9, 0.9);
  expect([watch.isSuspect, lines]).toEqual([false, []]);
});

test('a clock that is set back begins a window', () => {
  for (let nth = 30; nth < 33; nth++) minute(nth, 0, 0, 0);
  for (let nth = 10; nth < 13; nth++) minute(nth, 20, 20, 20);
  expect(watch.isSuspect).toBe(true);
});
