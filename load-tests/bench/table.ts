import type { Table } from './section.ts';

/** A table as lines of text: first column to the left, numbers to the right. */
export function renderTable({ title, columns, rows }: Table): string {
  const cells = [columns.map(String), ...rows.map((row) => columns.map((_, column) => asText(row[column] ?? null)))];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const isNumber = columns.map((_, column) => rows.every((row) => typeof row[column] !== 'string'));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return isNumber[column] ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
  const rule = widths.map((width) => '─'.repeat(width)).join('──');
  return [title, rule, lines[0], rule, ...lines.slice(1)].join('\n');
}

function asText(value: string | number | null): string {
  if (value === null) return '–';
  if (typeof value === 'string') return value;
  const digits = Math.abs(value) >= 100 || Number.isInteger(value) ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

/** The numbers and texts of any result, a row each under its path: for results whose shape is another's. */
export function facts(title: string, result: unknown): Table {
  const rows: [string, string | number | null][] = [];
  const walk = (value: unknown, path: string): void => {
    if (value === null || typeof value === 'number' || typeof value === 'string') rows.push([path, value]);
    else if (typeof value === 'boolean') rows.push([path, value ? 'yes' : 'no']);
    else if (typeof value === 'object')
      for (const [key, inner] of Object.entries(value as object)) walk(inner, path ? `${path}.${key}` : key);
  };
  walk(result, '');
  return { title, columns: ['what', 'value'], rows };
}
