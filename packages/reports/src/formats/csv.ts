/** More would not be a table that people made. */
const MAX_COLUMNS = 64;

/** One record of a CSV. */
export interface CsvRecord {
  /** As a spreadsheet counts: the first is 1, blank ones count, and a line break in quotes begins no new one. */
  row: number;
  cells: string[];
}

/** What ends a cell in a CSV that can't be read, and where. */
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

/** What the cells of the first line are parted by: whichever comes first in it; a comma where none does. */
export function delimiterOf(text: string): Delimiter {
  for (const character of text) {
    if (character === '\n' || character === '\r') break;
    const found = DELIMITERS.find((delimiter) => delimiter === character);
    if (found) return found;
  }
  return ',';
}

/** What a spreadsheet writes above the header, to say what cells are parted by. */
const SEPARATOR_LINE = /^"?sep=([,;\t])"?(?:\r\n|\n|\r)/i;

/**
 * Reads a CSV as spreadsheets write it: its cells parted as the line `sep=` says, else as its first line is.
 *
 * @param text without a byte order mark
 * @throws {CsvError} when it is not a CSV
 */
export function readSheet(text: string): { delimiter: Delimiter; records: Generator<CsvRecord> } {
  const [line, separator] = SEPARATOR_LINE.exec(text) ?? [];
  const delimiter = (separator as Delimiter | undefined) ?? delimiterOf(text);
  // The line goes, its break stays: rows are counted as the spreadsheet does.
  return { delimiter, records: readCsv(line === undefined ? text : `\n${text.slice(line.length)}`, delimiter) };
}

/**
 * Text without its byte order mark: UTF-8, or with a mark UTF-16, which spreadsheets call Unicode.
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
  // A line of one empty cell would read as no line at all.
  const written = cells.map((cell) =>
    /["\r\n]/.test(cell) || cell.includes(delimiter) || (cell === '' && cells.length === 1)
      ? `"${cell.replaceAll('"', '""')}"`
      : cell,
  );
  return `${written.join(delimiter)}\r\n`;
}

/**
 * Where a spreadsheet may see the beginning of a cell that is a formula (OWASP, "CSV Injection"): at the beginning, and
 * behind anything that some spreadsheet parts cells by. One that parts by semicolons takes no notice of quotes around a
 * cell between commas.
 */
const CELL_BEGINS = String.raw`(?<=^|[,;\t\r\n])`;
const FORMULA_FOLLOWS = String.raw`(?=["' ]*[=+\-@\t\r])`;
const FORMULA_BEGINS = new RegExp(`${CELL_BEGINS}${FORMULA_FOLLOWS}`, 'g');
const DEFUSED_BEGINS = new RegExp(`${CELL_BEGINS}'${FORMULA_FOLLOWS}`, 'g');

/**
 * Text that no spreadsheet takes for a formula, by whatever it parts cells: each possible one gets an apostrophe before
 * it.
 */
export function defused(text: string): string {
  return text.replaceAll(FORMULA_BEGINS, "'");
}

/**
 * JSON as a cell, by the same rule; it stays the same JSON. Only a semicolon in one of its texts can begin a cell
 * there.
 */
export function defusedJson(value: object): string {
  return JSON.stringify(value).replaceAll(
    /(?<=;["' \\]*)[=+\-@]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
}

/** The text that {@link defused} was given; apostrophes of its own stay. */
export function armed(text: string): string {
  return text.replaceAll(DEFUSED_BEGINS, '');
}
