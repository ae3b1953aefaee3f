import { beforeEach, expect, test } from 'vitest';
import { upcomingWork } from './upcoming.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;

let nowMs: number;
/** When each is due next. */
let due: { jobs: number | null; schedules: number | null; deliveries: number | null };
/** When files were stored. */
let files: number[];
let next: () => Promise<number | null>;

beforeEach(() => {
  nowMs = Date.UTC(2026, 0, 15);
  due = { jobs: null, schedules: null, deliveries: null };
  files = [];
  next = upcomingWork({
    registry: {
      jobs: { nextDueMs: async (kinds) => (`${kinds}` === 'report,person-export' ? due.jobs : null) },
      reportSchedules: { nextDueMs: async () => due.schedules },
      reportDeliveries: { nextDueMs: async () => due.deliveries },
      reportFiles: { outdated: async (beforeMs) => files.filter((atMs) => atMs < beforeMs) as never },
    },
    retentionDays: 30,
    now: () => nowMs,
  });
});

test('of jobs, schedules and deliveries what is due first says when the reporter is needed', async () => {
  expect(await next()).toBeNull();
  due.schedules = nowMs + 3 * MINUTE_MS;
  expect(await next()).toBe(due.schedules);
  due.deliveries = nowMs + 2 * MINUTE_MS;
  expect(await next()).toBe(due.deliveries);
  due.jobs = nowMs - 1;
  expect(await next()).toBe(due.jobs);
});

test('files that are too old are looked for once a minute', async () => {
  files = [nowMs - 29 * DAY_MS];
  expect(await next()).toBeNull();
  nowMs += DAY_MS + 1;
  expect(await next()).toBe(nowMs);
  nowMs += MINUTE_MS - 1;
  expect(await next()).toBeNull();
  nowMs += 1;
  expect(await next()).toBe(nowMs);
});
