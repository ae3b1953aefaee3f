import { SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import type { Logger } from '../logger.ts';

/** Report of a part that works. All of it is public: names of parts, and no addresses or ids. */
export interface PartReport {
  /** Warnings for the operator. */
  warnings?: readonly string[];
  /** Records that the part has not processed yet, by topic. */
  behind?: Readonly<Record<string, number>>;
}

/** Resolves with the report if the part works; rejects with the reason if it does not. */
// biome-ignore lint/suspicious/noConfusingVoidType: checks that have nothing to say are plain async functions
export type ReadyCheck = () => Promise<void | PartReport>;

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
  /** Absent for a part that reads nothing from the log. */
  behind?: Readonly<Record<string, number>>;
}

/** Response of `/health/ready`. */
export interface Readiness {
  status: Status;
  parts: Record<string, PartReadiness>;
}

const CHECK_WITHIN_MS = 2000;

/** Checks all parts in parallel. The reason of a failure is logged, and is not part of the public result. */
export async function readiness(checks: Readonly<Record<string, ReadyCheck>>, logger: Logger): Promise<Readiness> {
  const parts = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        return [name, partReadiness('ok', (await within(CHECK_WITHIN_MS, check())) ?? {})] as const;
      } catch (error) {
        logger.warn({ part: name, err: error }, 'not ready');
        return [name, partReadiness('failed', error instanceof NotReadyError ? error : {})] as const;
      }
    }),
  );
  const ready = parts.every(([, { status }]) => status === 'ok');
  return { status: ready ? 'ok' : 'failed', parts: Object.fromEntries(parts) };
}

function partReadiness(status: Status, { warnings = [], behind }: PartReport): PartReadiness {
  return { status, ...(warnings.length > 0 && { warnings }), ...(behind !== undefined && { behind }) };
}

async function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = SYSTEM_CLOCK.after(limitMs, () => reject(new Error(`no answer within ${limitMs} ms`)));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer?.cancel();
  }
}
