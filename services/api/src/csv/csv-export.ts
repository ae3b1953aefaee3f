import type { Delimiter } from '@outrider/reports';
import { z } from 'zod';

/** Prefix of a text for Excel, which otherwise does not recognise UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';

/** Query parameter `excel` of exports. */
export const excel = z
  .enum(['true', 'false'])
  .default('false')
  .meta({
    description:
      '`true`: cells separated by semicolons, numbers with a decimal comma, and a byte order mark, as Excel expects it ' +
      'in much of Europe.',
  });

/** The sentence of a description that names the columns. */
export function columnsSentence(columns: readonly string[]): string {
  return `The columns are ${columns.map((name) => `\`${name}\``).join(', ')}.`;
}

/** Example CSV: a header and one row with the given cells. */
export function csvExample(columns: readonly string[], cells: Readonly<Record<string, unknown>>): string {
  return [columns, columns.map((column) => cells[column] ?? '')].map((row) => `${row.join(',')}\r\n`).join('');
}

/** Documentation of the response of an export. */
export function csvAnswer(rows: string, example: string) {
  return {
    description: `A header row, and a row for ${rows}.`,
    mediaType: 'text/csv',
    body: z.string().meta({ examples: [example] }),
    headers: { 'Content-Disposition': 'Suggested file name.' },
  };
}

/**
 * Streams a CSV while it is read.
 *
 * @param fileName without its extension
 * @param pages of the items that the rows describe; each page is sent at once
 * @param rows writes the rows of a page, each with its end of line
 */
export function csvReply<T>(
  fileName: string,
  isExcel: boolean,
  header: (delimiter: Delimiter) => string,
  pages: AsyncIterable<readonly T[]>,
  rows: (each: T, delimiter: Delimiter) => string,
) {
  const delimiter = isExcel ? ';' : ',';
  async function* text() {
    let waiting = (isExcel ? BYTE_ORDER_MARK : '') + header(delimiter);
    for await (const page of pages) {
      for (const each of page) waiting += rows(each, delimiter);
      yield waiting;
      waiting = '';
    }
    if (waiting !== '') yield waiting;
  }
  return {
    status: 200 as const,
    stream: text(),
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${fileName}.csv"`,
    },
  };
}
