import { join } from 'node:path';
import { type Log, openKafkaLog, openSqliteLog } from '@outrider/log';
import type { Log as Diary } from '@outrider/runtime';

/** Where the log is; the same in every thread. */
export interface LogAddress {
  folder: string;
  brokers: readonly string[] | null;
  retentionHours: number;
  retentionMb: number;
}

/** Kafka where brokers are given, else a SQLite file: the one place that knows which. */
export async function openLog(address: LogAddress, diary: Diary): Promise<Log> {
  const { folder, brokers, retentionHours, retentionMb } = address;
  if (brokers !== null)
    return openKafkaLog({
      brokers,
      maxAgeMs: retentionHours * 3_600_000,
      onWarning: (message) => diary.warn(message),
    });
  return openSqliteLog({
    path: join(folder, 'log.sqlite'),
    maxAgeMs: retentionHours * 3_600_000,
    maxBytes: retentionMb * 1024 * 1024,
  });
}
