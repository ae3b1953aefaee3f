import type { Logger } from './logger.ts';

/**
 * Resolves when the part works, with any warnings for the operator; rejects with the reason when it does not. Warnings
 * are public: they hold names of parts, and no addresses or ids.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: checks without warnings are plain async functions
export type ReadyCheck = () => Promise<void | readonly string[]>;

/** A part that does not work; its warnings are public. */
export class NotReadyError extends Error {
  override name = 'NotReadyError';
  readonly warnings: readonly string[];

  constructor(message: string, warnings: readonly string[]) {
    super(message);
    this.warnings = warnings;
  }
}

type Status = 'ok' | 'failed';

export interface PartReadiness {
  status: Status;
  /** Absent when empty. */
  warnings?: readonly string[];
}

/** What `/health/ready` answers. */
export interface Readiness {
  status: Status;
  parts: Record<string, PartReadiness>;
}

const CHECK_WITHIN_MS = 2000;

/** Checks all parts in parallel. The reason of a failure is logged, and not part of the public result. */
export async function readiness(checks: Readonly<Record<string, ReadyCheck>>, logger: Logger): Promise<Readiness> {
  const parts = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        return [name, partReadiness('ok', (await within(CHECK_WITHIN_MS, check())) ?? [])] as const;
      } catch (error) {
        logger.warn({ part: name, err: error }, 'not ready');
        return [name, partReadiness('failed', error instanceof NotReadyError ? error.warnings : [])] as const;
      }
    }),
  );
  const ready = parts.every(([, { status }]) => status === 'ok');
  return { status: ready ? 'ok' : 'failed', parts: Object.fromEntries(parts) };
}

function partReadiness(status: Status, warnings: readonly string[]): PartReadiness {
  return warnings.length === 0 ? { status } : { status, warnings };
}

async function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
