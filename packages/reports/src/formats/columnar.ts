import type { FileFormat } from '@outrider/warehouse';
import type { Column, Row, Value } from '../report.ts';
import type { Format } from './format.ts';

const TYPES: Record<Column['type'], string> = {
  id: 'String',
  text: 'String',
  day: 'Date32',
  time: "DateTime64(3, 'UTC')",
  number: 'Float64',
  whole: 'Int64',
  flag: 'Bool',
  json: 'String',
};

/** A column's type as ClickHouse names it. */
function typeOf({ type, always }: Column): string {
  return always ? TYPES[type] : `Nullable(${TYPES[type]})`;
}

function asField(type: Column['type'], value: Value): Value {
  if (value === null) return null;
  if (type === 'json') return JSON.stringify(value);
  // ClickHouse reads a bare number as seconds.
  if (type === 'time') return new Date(Number(value)).toISOString();
  return value;
}

async function* linesOf(columns: readonly Column[], pages: AsyncIterable<Row[]>): AsyncGenerator<string> {
  for await (const rows of pages) {
    let text = '';
    for (const row of rows)
      text += `${JSON.stringify(columns.map(({ type }, nth) => asField(type, row[nth] ?? null)))}\n`;
    yield text;
  }
}

function columnar(name: string, format: FileFormat, mediaType: string): Format {
  return {
    name,
    mediaType,
    extension: name,
    write: ({ kind: { columns }, pages, archive, signal }) =>
      archive.file({
        format,
        columns: columns.map((column) => ({ name: column.name, type: typeOf(column) })),
        lines: linesOf(columns, pages),
        signal,
      }),
  };
}

export const parquet = columnar('parquet', 'Parquet', 'application/vnd.apache.parquet');
export const arrow = columnar('arrow', 'Arrow', 'application/vnd.apache.arrow.file');
