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

/** A table of Markdown. Numbers are written as in {@link renderTable}. */
export function renderMarkdown({ columns, rows }: Pick<Table, 'columns' | 'rows'>): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [
    line(columns),
    line(columns.map(() => '---')).replaceAll(' ', ''),
    ...rows.map((row) => line(columns.map((_, column) => asText(row[column] ?? null)))),
  ].join('\n');
}

/** Text in lines as narrow as those of the project's pages; those after the first begin with `indent`. */
export function wrapped(text: string, indent = '', width = 120): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= width || line === '') line = longer;
    else {
      lines.push(line);
      line = indent + word;
    }
  }
  return [...lines, line].join('\n');
}

/** Numbers with as many digits as matter, `null` as a dash. */
export function asText(value: string | number | null): string {
  if (value === null) return '–';
  if (typeof value === 'string') return value;
  const size = Math.abs(value);
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 3;
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
