import { isoTime } from '@outrider/domain';
import type { Column, Row, Value } from '../report.ts';
import { defused, defusedJson, writeCsvLine } from './csv.ts';
import type { Format } from './format.ts';
import { zonedTimes } from './offsets.ts';

/** A row as an object, as JSON has it. */
export function jsonRow(columns: readonly Column[], row: Row): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const [nth, { name, type }] of columns.entries()) json[name] = shown(type, row[nth] ?? null);
  return json;
}

function shown(type: Column['type'], value: Value): Value {
  return type === 'time' && typeof value === 'number' ? isoTime(value) : value;
}

/** A value as text, empty for null. Text that a spreadsheet would read as a formula is escaped. */
function cell(type: Column['type'], value: Value, timeOf: (timeMs: number) => string): string {
  if (value === null) return '';
  if (type === 'time') return timeOf(Number(value));
  if (typeof value === 'object') return Array.isArray(value) ? defused(value.join('|')) : defusedJson(value);
  return typeof value === 'string' ? defused(value) : String(value);
}

export const ndjson: Format = {
  name: 'ndjson',
  mediaType: 'application/x-ndjson',
  extension: 'ndjson',
  async *write({ kind, pages }) {
    for await (const rows of pages) {
      let text = '';
      for (const row of rows) text += `${JSON.stringify(jsonRow(kind.columns, row))}\n`;
      yield text;
    }
  },
};

export const csv: Format = {
  name: 'csv',
  mediaType: 'text/csv',
  extension: 'csv',
  async *write({ kind: { columns }, pages, timeZone }) {
    const timeOf = zonedTimes(timeZone);
    yield writeCsvLine(
      columns.map(({ name }) => name),
      ',',
    );
    for await (const rows of pages) {
      let text = '';
      for (const row of rows)
        text += writeCsvLine(
          columns.map(({ type }, nth) => cell(type, row[nth] ?? null, timeOf)),
          ',',
        );
      yield text;
    }
  },
};
