import { Counter, Gauge, type Registry } from '@outrider/runtime';

/** What the archiver counts, under the names that `/metrics` shows. */
export function archiverMetrics(registry: Registry) {
  const registers = [registry];
  const labelNames = ['topic'];
  const rows = new Counter({
    name: 'outrider_archived_rows_total',
    help: 'Rows made durable in the warehouse, repeated ones included',
    labelNames,
    registers,
  });
  const inserts = new Counter({
    name: 'outrider_archive_inserts_total',
    help: 'Inserts into the warehouse',
    labelNames,
    registers,
  });
  const retries = new Counter({
    name: 'outrider_archive_retries_total',
    help: 'Attempts to archive that failed and were made again',
    labelNames,
    registers,
  });
  const delay = new Gauge({
    name: 'outrider_archive_delay_seconds',
    help: 'From the receipt of the oldest packet of the latest insert to its being durable in the warehouse',
    registers,
  });
  return {
    of: (topic: string) => ({
      rows: rows.labels(topic),
      inserts: inserts.labels(topic),
      retries: retries.labels(topic),
    }),
    delay,
  };
}
