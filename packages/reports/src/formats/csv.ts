/** Maximum number of columns: people make no wider table. */
const MAX_COLUMNS = 64;

/** One record of a CSV. */
export interface CsvRecord {
  /** Row number as in a spreadsheet: the first is 1, blank rows count, and a line break in quotes begins no new row. */
  row: number;
  cells: string[];
}

/** A CSV that cannot be read, with the row of the error. */
export class CsvError extends Error {
  override name = 'CsvError';
  readonly row: number;
  constructor(row: number, message: string) {
    super(message);
    this.row = row;
  }
}

const DELIMITERS = [',', ';', '\t'] as const;
export type Delimiter = (typeof DELIMITERS)[number];

/** Delimiter of the first line's cells: the first delimiter in it; a comma if it has none. */
export function delimiterOf(text: string): Delimiter {
  for (const character of text) {
    if (character === '\n' || character === '\r') break;
    const found = DELIMITERS.find((delimiter) => delimiter === character);
    if (found) return found;
  }
  return ',';
}

/** Line with the delimiter of the cells, which a spreadsheet writes above the header. */
const SEPARATOR_LINE = /^"?sep=([,;\t])"?(?:\r\n|\n|\r)/i;

/**
 * Reads a CSV as spreadsheets write it. The delimiter is the one in the line `sep=`, else that of the first line.
 *
 * @param text without a byte order mark
 * @throws {CsvError} when it is not a CSV
 */
export function readSheet(text: string): { delimiter: Delimiter; records: Generator<CsvRecord> } {
  const [line, separator] = SEPARATOR_LINE.exec(text) ?? [];
  const delimiter = (separator as Delimiter | undefined) ?? delimiterOf(text);
  // Removes the line but not its line break: rows are counted as in the spreadsheet.
  return { delimiter, records: readCsv(line === undefined ? text : `\n${text.slice(line.length)}`, delimiter) };
}

/**
 * Decodes text, without its byte order mark: UTF-8, or UTF-16 with a mark, which spreadsheets call Unicode.
 *
 * @throws {TypeError} when it is neither
 */
export function decodeText(bytes: Uint8Array | ArrayBuffer): string {
  const [first, second] = new Uint8Array(bytes.slice(0, 2));
  const isLittle = first === 0xff && second === 0xfe;
  const encoding = isLittle ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding, { fatal: true }).decode(bytes);
}

/**
 * Reads a CSV (RFC 4180): lines end with CRLF, LF or CR; a cell in quotes may hold anything, quotes doubled. Blank
 * lines are left out.
 *
 * @param text without a byte order mark
 * @throws {CsvError} when it is not a CSV
 */
export function* readCsv(text: string, delimiter: Delimiter): Generator<CsvRecord> {
  let at = 0;
  for (let row = 1; at < text.length; row += 1) {
    const cells: string[] = [];
    for (;;) {
      if (cells.length === MAX_COLUMNS) throw new CsvError(row, `A row may have ${MAX_COLUMNS} cells.`);
      const cell = text[at] === '"' ? quotedCell(text, at, row) : plainCell(text, at, delimiter);
      cells.push(cell.value);
      at = cell.end;
      if (text[at] !== delimiter) break;
      at += 1;
    }
    const end = text[at];
    if (end !== undefined && end !== '\n' && end !== '\r')
      throw new CsvError(row, 'After a closing quote, the cell must end.');
    at += end === '\r' && text[at + 1] === '\n' ? 2 : 1;
    if (cells.length > 1 || cells[0] !== '') yield { row, cells };
  }
}

function quotedCell(text: string, start: number, row: number): { value: string; end: number } {
  let value = '';
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote < 0) throw new CsvError(row, 'A quote is opened and never closed.');
    value += text.slice(from, quote);
    if (text[quote + 1] !== '"') return { value, end: quote + 1 };
    value += '"';
    from = quote + 2;
  }
}

function plainCell(text: string, start: number, delimiter: Delimiter): { value: string; end: number } {
  let end = start;
  for (; end < text.length; end += 1) {
    const character = text[end];
    if (character === delimiter || character === '\n' || character === '\r') break;
  }
  return { value: text.slice(start, end), end };
}

/** One line of a CSV (RFC 4180), its CRLF included. */
export function writeCsvLine(cells: readonly string[], delimiter: Delimiter): string {
  // A line with one empty cell would be read as a blank line.
  const written = cells.map((cell) =>
    /["\r\n]/.test(cell) || cell.includes(delimiter) || (cell === '' && cells.length === 1)
      ? `"${cell.replaceAll('"', '""')}"`
      : cell,
  );
  return `${written.join(delimiter)}\r\n`;
}

/**
 * Positions where a spreadsheet may see the beginning of a cell, which may be a formula (OWASP, "CSV Injection"): the
 * beginning of the text, and after each character that some spreadsheet uses as a delimiter. A spreadsheet with
 * semicolons as delimiters ignores quotes around a cell between commas.
 */
const CELL_BEGINS = String.raw`(?<=^|[,;\t\r\n])`;
const FORMULA_FOLLOWS = String.raw`(?=["' ]*[=+\-@\t\r])`;
const FORMULA_BEGINS = new RegExp(`${CELL_BEGINS}${FORMULA_FOLLOWS}`, 'g');
const DEFUSED_BEGINS = new RegExp(`${CELL_BEGINS}'${FORMULA_FOLLOWS}`, 'g');

/**
 * Escapes text so that no spreadsheet reads it as a formula, whatever its delimiter: each possible formula is prefixed
 * with an apostrophe.
 */
export function defused(text: string): string {
  return text.replaceAll(FORMULA_BEGINS, "'");
}

/**
 * JSON as a cell, escaped by the same rule; it remains the same JSON. Only a semicolon in one of its strings can begin
 * a cell there.
 */
export function defusedJson(value: object): string {
  return JSON.stringify(value).replaceAll(
    /(?<=;["' \\]*)[=+\-@]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
}

/** Reverts {@link defused}; the text's own apostrophes stay. */
export function armed(text: string): string {
  return text.replaceAll(DEFUSED_BEGINS, '');
}
