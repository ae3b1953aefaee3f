import { glob, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { statusOf } from '@outrider/testing/process-tree';
import type { Service } from '../bench/road/service.ts';

const THREADS = ['main', 'gateway', 'rules'] as const;

/**
 * What is sampled. Memory in MB, from the system and from the service's own metrics. `native` is the anonymous memory
 * without the heaps and buffers of the threads: ClickHouse, SQLite, and the memory that the allocators retain.
 */
export const MEMORY = [
  'resident',
  'anonymous',
  'native',
  'heap main',
  'heap gateway',
  'heap rules',
  'buffers main',
  'buffers gateway',
  'buffers rules',
] as const;
export type Memory = (typeof MEMORY)[number];

/** One look at the service. */
export interface Look {
  /** Seconds from the beginning. */
  at: number;
  memoryMb: Readonly<Record<Memory, number>>;
  /** Of files that the service has mapped: the system takes it back whenever it likes. */
  mappedMb: number;
  received: number;
  processed: number;
  archived: number;
  rulesLagSeconds: number;
  archiveDelaySeconds: number;
  terminals: number;
  liveClients: number;
  /** How long GET /metrics took, which asks every thread. */
  answeredMs: number;
  /** On disk, MB. */
  logMb: number;
  archiveMb: number;
  otherMb: number;
}

/** Looks once. @param began when the soak did, by `performance.now()` */
export async function look(service: Service, dataFolder: string, began: number): Promise<Look> {
  const asked = performance.now();
  const metrics = await service.metrics();
  const answeredMs = performance.now() - asked;
  const [resident = 0, anonymous = 0, mappedMb = 0] = await Promise.all(
    ['VmRSS', 'RssAnon', 'RssFile'].map(async (field) => ((await statusOf(service.pid, field)) ?? 0) / 1000),
  );
  const of = (name: string): number => metrics.get(name) ?? 0;
  const thread = (name: string, kind: string): number =>
    of(`outrider_thread_memory_bytes{thread="${name}",kind="${kind}"}`) / 1e6;
  const ofThreads = THREADS.map((name) => thread(name, 'heap-reserved') + thread(name, 'buffers'));
  return {
    at: (performance.now() - began) / 1000,
    memoryMb: {
      resident,
      anonymous,
      native: anonymous - ofThreads.reduce((sum, mb) => sum + mb, 0),
      'heap main': thread('main', 'heap'),
      'heap gateway': thread('gateway', 'heap'),
      'heap rules': thread('rules', 'heap'),
      'buffers main': thread('main', 'buffers'),
      'buffers gateway': thread('gateway', 'buffers'),
      'buffers rules': thread('rules', 'buffers'),
    },
    mappedMb,
    received: of('outrider_positions_received_total'),
    processed: of('outrider_rules_positions_total'),
    archived: of('outrider_archived_rows_total{topic="telemetry"}'),
    rulesLagSeconds: of('outrider_rules_oldest_unprocessed_seconds'),
    archiveDelaySeconds: of('outrider_archive_delay_seconds'),
    terminals: of('outrider_terminal_connections'),
    liveClients: of('outrider_live_clients'),
    answeredMs,
    ...(await diskMb(dataFolder)),
  };
}

async function diskMb(folder: string): Promise<Pick<Look, 'logMb' | 'archiveMb' | 'otherMb'>> {
  const bytes = { log: 0, archive: 0, other: 0 };
  for await (const name of glob('**/*', { cwd: folder })) {
    const file = await stat(join(folder, name)).catch(() => null);
    if (!file?.isFile()) continue;
    // What is taken up, which is less than its length where a file has holes.
    bytes[name.startsWith('log') ? 'log' : name.startsWith('warehouse') ? 'archive' : 'other'] += file.blocks * 512;
  }
  return { logMb: bytes.log / 1e6, archiveMb: bytes.archive / 1e6, otherMb: bytes.other / 1e6 };
}
