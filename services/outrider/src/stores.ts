import { join } from 'node:path';
import { type Log, openSqliteLog } from '@outrider/log';

/** Where the log is; the same in every thread. */
export interface LogAddress {
  folder: string;
  brokers: readonly string[] | null;
  retentionHours: number;
  retentionMb: number;
}

/** Kafka where brokers are given, else a SQLite file: the one place that knows which. */
export async function openLog(address: LogAddress): Promise<Log> {
  const { folder, retentionHours, retentionMb } = address;
  return openSqliteLog({
    path: join(folder, 'log.sqlite'),
    maxAgeMs: retentionHours * 3_600_000,
    maxBytes: retentionMb * 1024 * 1024,
  });
}
