import { join } from 'node:path';
import { type Files, openFolder, openS3 } from '@outrider/files';
import { type Log, openKafkaLog, openSqliteLog } from '@outrider/log';
import type { Log as Diary } from '@outrider/runtime';

/** Where the log is; the same in every thread. */
export interface LogAddress {
  folder: string;
  brokers: readonly string[] | null;
  retentionHours: number;
  retentionMb: number;
}

/** S3 where a URL is given, else a folder: the one place that knows which. */
export async function openFiles(folder: string, s3Url: string | null): Promise<Files> {
  return s3Url === null ? openFolder(folder) : openS3({ url: s3Url });
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
