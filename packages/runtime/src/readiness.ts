import type { Logger } from './logger.ts';

/** Resolves when the part works; rejects with why it does not. */
export type ReadyCheck = () => Promise<void>;

type Status = 'ok' | 'failed';

/** What `/health/ready` answers. */
export interface Readiness {
  status: Status;
  parts: Record<string, { status: Status }>;
}

const CHECK_WITHIN_MS = 2000;

/** Asks all parts at once. Why one fails is told to the logger, not to strangers. */
export async function readiness(checks: Readonly<Record<string, ReadyCheck>>, logger: Logger): Promise<Readiness> {
  const parts = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        await within(CHECK_WITHIN_MS, check());
        return [name, { status: 'ok' }] as const;
      } catch (error) {
        logger.warn({ part: name, err: error }, 'not ready');
        return [name, { status: 'failed' }] as const;
      }
    }),
  );
  const ready = parts.every(([, { status }]) => status === 'ok');
  return { status: ready ? 'ok' : 'failed', parts: Object.fromEntries(parts) };
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
