import { Counter, Gauge, type Metrics } from '@outrider/runtime';

/** Lag of the archive behind the log in a topic, over the partitions of this archiver. */
export interface ArchiveLag {
  topic: string;
  records: number;
  /** Time since the newest archived record was received; 0 when all are archived. */
  seconds: number;
}

export interface TopicMetrics {
  rows: { inc(by: number): void };
  inserts: { inc(): void };
  retries: { inc(): void };
}

/**
 * Metrics of the archiver, under the names that `/metrics` shows.
 *
 * @param lag called at every scrape; null when the log is unavailable
 */
export function archiverMetrics(registry: Metrics, lag: () => Promise<readonly ArchiveLag[] | null>) {
  const registers = [registry];
  const labelNames = ['topic'];
  let asking: Promise<readonly ArchiveLag[] | null> | null = null;
  const gaugeOfLag = (name: string, help: string, inLag: (lag: ArchiveLag) => number) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      async collect() {
        // Both gauges of one scrape show the same moment.
        asking ??= lag().finally(() => {
          asking = null;
        });
        for (const each of (await asking) ?? []) this.set({ topic: each.topic }, inLag(each));
      },
    });
  gaugeOfLag('outrider_archive_lag_records', 'Log records not yet archived', ({ records }) => records);
  gaugeOfLag(
    'outrider_archive_lag_seconds',
    'Upper bound of the age of the oldest log record not yet archived, excluding the deliberate delay while nobody reads the archive',
    ({ seconds }) => seconds,
  );
  const rows = new Counter({
    name: 'outrider_archived_rows_total',
    help: 'Rows stored durably in the archive, including repeated ones',
    labelNames,
    registers,
  });
  const inserts = new Counter({
    name: 'outrider_archive_inserts_total',
    help: 'Inserts into the archive',
    labelNames,
    registers,
  });
  const retries = new Counter({
    name: 'outrider_archive_retries_total',
    help: 'Failed inserts into the archive that were retried',
    labelNames,
    registers,
  });
  const delay = new Gauge({
    name: 'outrider_archive_delay_seconds',
    help: 'Time from receipt of the oldest packet in the latest insert until it was stored durably, excluding the deliberate delay while nobody reads the archive',
    registers,
  });
  return {
    of: (topic: string): TopicMetrics => ({
      rows: rows.labels(topic),
      inserts: inserts.labels(topic),
      retries: retries.labels(topic),
    }),
    delay,
  };
}
