import type { Faults } from '@outrider/access';
import { armed, CsvError, type Delimiter, readSheet } from '@outrider/reports';

/** Reads the cells of a row, by column. Columns that the header does not name are missing. */
type ReadRow<Column extends string, T> = (
  /** Row number as in a spreadsheet: 1 is the header. */
  row: number,
  cells: Partial<Record<Column, string>>,
  delimiter: Delimiter,
) => T;

/**
 * Reads a CSV whose header names the columns, in any order. Errors in it are added to `faults`.
 *
 * @param text without a byte order mark
 */
export function readCsvRows<Column extends string, T>(
  text: string,
  known: readonly Column[],
  maxRows: number,
  faults: Faults,
  readRow: ReadRow<Column, T>,
): T[] {
  try {
    return readRecords(text, known, maxRows, faults, readRow);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    faults.add({ row: error.row, detail: error.message });
    return [];
  }
}

/** @throws {CsvError} when the text is not valid CSV */
function readRecords<Column extends string, T>(
  text: string,
  known: readonly Column[],
  maxRows: number,
  faults: Faults,
  readRow: ReadRow<Column, T>,
): T[] {
  const { delimiter, records } = readSheet(text);
  const header = records.next();
  if (header.done) {
    faults.add({ row: 1, detail: 'The file must begin with a header that contains the names of the columns.' });
    return [];
  }
  const columns = header.value.cells.map((cell) => {
    const name = cell.trim().toLowerCase();
    return known.find((column) => column.toLowerCase() === name) ?? cell.trim();
  });
  for (const [nth, column] of columns.entries()) {
    const place = { row: header.value.row, column: column.slice(0, 100) };
    if (!(known as readonly string[]).includes(column))
      faults.add({ ...place, detail: `There is no such column. Known columns: ${known.join(', ')}.` });
    else if (columns.indexOf(column) < nth) faults.add({ ...place, detail: 'The header has this column twice.' });
  }
  if (!faults.isEmpty) return [];
  const rows: T[] = [];
  for (const { row, cells } of records) {
    // Spreadsheets leave such rows where cells were cleared instead of deleted.
    if (cells.every((cell) => cell.trim() === '')) continue;
    if (rows.length === maxRows) {
      faults.add({ row, detail: `At most ${maxRows} rows can be imported at once.` });
      break;
    }
    if (cells.length !== columns.length) {
      faults.add({ row, detail: `The row has ${cells.length} cells, but the header has ${columns.length}.` });
      continue;
    }
    const named = Object.fromEntries(columns.map((column, nth) => [column, armed((cells[nth] ?? '').trim())]));
    rows.push(readRow(row, named as Partial<Record<Column, string>>, delimiter));
  }
  return rows;
}

/** A number as spreadsheets write it; null for other text. */
export function numberOf(cell: string, delimiter: Delimiter): number | null {
  const text = delimiter === ';' ? cell.replace(',', '.') : cell;
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : null;
}

/** Formats a number as a cell. Spreadsheets that separate cells with semicolons use a decimal comma. */
export function numberCell(value: number, delimiter: Delimiter): string {
  return delimiter === ';' ? String(value).replace('.', ',') : String(value);
}
