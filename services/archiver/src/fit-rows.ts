import { type LogRecord, type TelemetryRecord, UnreadableRecordError } from '@outrider/log';
import { type Rows, UnfitRecordError, type Warehouse } from '@outrider/warehouse';

/** A record that can never be archived, and why. */
export interface UnfitRecord<T> {
  record: LogRecord<T>;
  error: UnfitRecordError | UnreadableRecordError;
}

/** Converts records to rows. Those that can never be archived are found by bisection: a few among many cost little. */
export function fitRows<T>(
  records: readonly LogRecord<T>[],
  asRows: (records: readonly LogRecord<T>[]) => Rows,
  onUnfit: (unfit: UnfitRecord<T>) => void,
): Rows[] {
  try {
    return [asRows(records)];
  } catch (error) {
    const [record] = records;
    const isUnfit = error instanceof UnfitRecordError || error instanceof UnreadableRecordError;
    if (!isUnfit || record === undefined) throw error;
    if (records.length === 1) {
      onUnfit({ record, error });
      return [];
    }
    const half = records.length >> 1;
    return [...fitRows(records.slice(0, half), asRows, onUnfit), ...fitRows(records.slice(half), asRows, onUnfit)];
  }
}

/** Converts records to rows. Each record is checked only after the conversion of all of them failed. */
export function positionRows(
  warehouse: Pick<Warehouse, 'positionRows'>,
  packets: readonly LogRecord<TelemetryRecord>[],
): Rows {
  try {
    return warehouse.positionRows(packets);
  } catch (error) {
    if (error instanceof UnfitRecordError) throw error;
    for (const { value } of packets) value.check();
    return warehouse.positionRows(packets);
  }
}
