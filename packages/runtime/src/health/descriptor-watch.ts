import { readdir, readFile } from 'node:fs/promises';
import { type Clock, SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import type { Watch } from '../lifecycle.ts';
import type { Logger } from '../logger.ts';
import { Counter, Gauge, type Metrics } from '../prometheus.ts';
import { descriptorShortage, limitIn } from './descriptor-limit.ts';

const CHECK_EVERY_MS = 5000;
/** Share of the limit above which a burst of connections could take the rest. */
const SCARCE_SHARE = 0.9;

/** How many file descriptors (files, sockets) a process has open, and may have open. */
export interface Descriptors {
  open: number;
  limit: number;
}

export interface DescriptorWatchParts {
  logger: Logger;
  metrics: Metrics;
  /** Connections that settings allow, by setting: compared with the limit at the start. */
  allowed: Readonly<Record<string, number>>;
  /** Default: the descriptors of this process. Null if the system does not show them. */
  read?: () => Promise<Descriptors | null>;
  /** Default 5 s. */
  checkEveryMs?: number;
  clock?: Clock;
}

/**
 * Logs at the start if the limit of open files is below what the settings allow. Warns before the process runs out of
 * file descriptors, and logs when it has. The system then closes new connections without notifying the process
 * (EMFILE), so nothing else would show it.
 */
export function createDescriptorWatch(parts: DescriptorWatchParts): Watch {
  const { logger, metrics, allowed, read = readDescriptors, checkEveryMs = CHECK_EVERY_MS } = parts;
  const { clock = SYSTEM_CLOCK } = parts;
  let last: Descriptors | null = null;
  let state: 'enough' | 'scarce' | 'exhausted' = 'enough';
  let timer: Timer | null = null;
  const exhausted = new Counter({
    name: 'outrider_file_descriptors_exhausted_total',
    help: 'Checks that found no free file descriptor. Without one, connections are refused and files cannot be opened',
    registers: [metrics],
  });
  new Gauge({
    name: 'outrider_file_descriptors',
    help: 'File descriptors of the process: open, and the limit',
    labelNames: ['kind'],
    registers: [metrics],
    collect() {
      if (last === null) return;
      this.set({ kind: 'open' }, last.open);
      this.set({ kind: 'limit' }, last.limit);
    },
  });

  async function stateNow(): Promise<typeof state> {
    try {
      last = await read();
    } catch (error) {
      // Reading the list needs a descriptor itself.
      if (!isExhausted(error)) throw error;
      exhausted.inc();
      return 'exhausted';
    }
    return last !== null && last.open >= last.limit * SCARCE_SHARE ? 'scarce' : 'enough';
  }

  async function check(): Promise<void> {
    const before = state;
    state = await stateNow();
    if (state === before) return;
    if (state === 'exhausted') logger.error({ ...last }, 'no file descriptor is free: new connections are refused');
    else if (state === 'scarce') logger.warn({ ...last }, 'few file descriptors are free');
    else logger.info({ ...last }, 'enough file descriptors are free again');
  }

  return {
    name: 'file descriptors',
    warnings() {
      if (state === 'enough') return [];
      return [state === 'scarce' ? 'few file descriptors are free' : 'no file descriptor is free'];
    },
    async start() {
      await check();
      const shortage = descriptorShortage(last?.limit ?? null, allowed);
      if (shortage !== null) logger.warn({ ...shortage }, 'the limit of open files is too low for the settings');
      timer = clock.every(checkEveryMs, () => {
        check().catch((error) => logger.warn({ err: error }, 'cannot count file descriptors'));
      });
      timer.unref();
    },
    async stop() {
      timer?.cancel();
    },
  };
}

/** Whether the process (EMFILE) or the system (ENFILE) has no file descriptor left. */
export function isExhausted(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'EMFILE' || code === 'ENFILE';
}

async function readDescriptors(): Promise<Descriptors | null> {
  try {
    const open = await readdir('/proc/self/fd');
    const limits = await readFile('/proc/self/limits', 'utf8');
    const limit = limitIn(limits);
    return limit === null ? null : { open: open.length, limit };
  } catch (error) {
    if (isExhausted(error)) throw error;
    // Not Linux, or /proc is hidden.
    return null;
  }
}
