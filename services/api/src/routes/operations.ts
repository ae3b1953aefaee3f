import type { Log as Diary } from '@outrider/runtime';
import { Hono } from 'hono';
import type { ApiEnv } from '../context.ts';

/** Resolves when the part works; rejects with why it does not. */
export type ReadyCheck = () => Promise<void>;

const CHECK_WITHIN_MS = 2000;

export interface OperationsParts {
  checks: Readonly<Record<string, ReadyCheck>>;
  metricsText: () => Promise<string>;
  diary: Diary;
}

/** Health and metrics: outside the limits, and for machines. Why a part fails is told to the diary, not to strangers. */
export function operations({ checks, metricsText, diary }: OperationsParts): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();

  app.get('/health/live', (c) => c.json({ status: 'ok' }));

  app.get('/health/ready', async (c) => {
    const names = Object.keys(checks);
    const works = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        try {
          await within(CHECK_WITHIN_MS, check());
          return true;
        } catch (error) {
          diary.warn({ part: name, err: error }, 'not ready');
          return false;
        }
      }),
    );
    const status = (works: boolean) => (works ? 'ok' : 'failed');
    const ready = works.every(Boolean);
    const parts = Object.fromEntries(names.map((name, nth) => [name, { status: status(works[nth] === true) }]));
    return c.json({ status: status(ready), parts }, ready ? 200 : 503);
  });

  app.get('/metrics', async (c) =>
    c.body(await metricsText(), 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
  );
  return app;
}

async function within(limitMs: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  });
  try {
    await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
