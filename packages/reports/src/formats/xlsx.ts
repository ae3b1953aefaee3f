import { GroupTotals, groupingsOf } from '../kinds/groups.ts';
import type { Column, Row, Value } from '../report.ts';
import type { Format, Rows } from './format.ts';
import { offsetsOf } from './offsets.ts';
import { xmlText } from './xml.ts';
import { type ZipEntry, zip } from './zip.ts';

/*
 * A workbook (ECMA-376), with what a table needs and no more. A library would hold the workbook, or its shared strings,
 * in memory. Here texts are stored in their cells, and a sheet is written as its rows come. A text cell is never read
 * as a formula.
 */

/** Maximum rows of a sheet (ECMA-376, 18.3.1.73), including its header. */
const MOST_ROWS = 1_048_576;
/** Maximum characters of a cell. */
const MOST_CHARACTERS = 32_767;
const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
/** Indexes of the cell formats in the style sheet. */
const STYLES = { time: 1, day: 2, header: 3 };
const DAY_MS = 86_400_000;
/** Day 0 of a spreadsheet's 1900 calendar, which is correct from March 1900 on. */
const DAY_ZERO_MS = Date.UTC(1899, 11, 30);

export const xlsx: Format = {
  name: 'xlsx',
  mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  extension: 'xlsx',
  ofGroups: true,
  write: (rows) => zip(workbook(rows)),
};

/** The files of a workbook: its sheets first, then those that contain the number of sheets. */
async function* workbook({ kind, pages, timeZone, columns, groupBy, reading }: Rows): AsyncGenerator<ZipEntry> {
  const totals = hasTotals(kind) ? new GroupTotals(kind, groupBy, timeZone) : null;
  const source = new RowSource(totals === null ? pages : added(pages, totals));
  const clock = clockOf(timeZone);
  const at = kind.columns.flatMap(({ name }, nth) => (columns === null || columns.includes(name) ? [nth] : []));
  const names: string[] = [];
  const nameOf = (nth: number) => (nth === 1 ? kind.name : `${kind.name} ${nth}`);
  try {
    do {
      names.push(nameOf(names.length + 1));
      yield { name: `xl/worksheets/sheet${names.length}.xml`, content: sheet(kind.columns, at, source, clock) };
    } while (await source.hasMore());
  } finally {
    await source.close();
  }
  if (totals !== null) {
    names.push('totals');
    yield { name: `xl/worksheets/sheet${names.length}.xml`, content: totalsSheet(kind.columns, totals, groupBy) };
  }
  if (reading.incomplete.length > 0) {
    names.push('incomplete');
    yield { name: `xl/worksheets/sheet${names.length}.xml`, content: incompleteSheet(reading.incomplete, clock) };
  }
  const sheets = names.length;
  const numbers = names.map((_, nth) => nth + 1);
  yield file('xl/styles.xml', STYLE_SHEET);
  yield file(
    'xl/workbook.xml',
    `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets>${numbers
      .map((n) => `<sheet name="${names[n - 1]}" sheetId="${n}" r:id="rId${n}"/>`)
      .join('')}</sheets></workbook>`,
  );
  yield file(
    'xl/_rels/workbook.xml.rels',
    `<Relationships xmlns="${PACKAGE}/relationships">${numbers
      .map((n) => `<Relationship Id="rId${n}" Type="${RELATIONS}/worksheet" Target="worksheets/sheet${n}.xml"/>`)
      .join('')}<Relationship Id="rId${sheets + 1}" Type="${RELATIONS}/styles" Target="styles.xml"/></Relationships>`,
  );
  yield file(
    '_rels/.rels',
    `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  );
  const part = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  yield file(
    '[Content_Types].xml',
    `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${part}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${part}.styles+xml"/>${numbers
      .map((n) => `<Override PartName="/xl/worksheets/sheet${n}.xml" ContentType="${part}.worksheet+xml"/>`)
      .join('')}</Types>`,
  );
}

function file(name: string, xml: string): ZipEntry {
  return {
    name,
    content: (async function* () {
      yield DECLARATION + xml;
    })(),
  };
}

/** Pages of rows, from which as many can be taken as a sheet holds. */
class RowSource {
  readonly #pages: AsyncIterator<Row[]>;
  #page: Row[] = [];
  #at = 0;

  constructor(pages: AsyncIterable<Row[]>) {
    this.#pages = pages[Symbol.asyncIterator]();
  }

  async hasMore(): Promise<boolean> {
    while (this.#at >= this.#page.length) {
      const { done, value } = await this.#pages.next();
      if (done) return false;
      this.#page = value;
      this.#at = 0;
    }
    return true;
  }

  /** Ends the reading of pages. */
  async close(): Promise<void> {
    await this.#pages.return?.();
  }

  /** Returns the rest of the current page, at most this many rows; empty when no more exist. */
  async take(most: number): Promise<Row[]> {
    if (!(await this.hasMore())) return [];
    const rows = this.#page.slice(this.#at, this.#at + most);
    this.#at += rows.length;
    return rows;
  }
}

function hasTotals(kind: Rows['kind']): boolean {
  return groupingsOf(kind).length > 0 && kind.columns.some(({ total }) => total !== undefined);
}

async function* added(pages: AsyncIterable<Row[]>, totals: GroupTotals): AsyncGenerator<Row[]> {
  for await (const rows of pages) {
    for (const row of rows) totals.add(row);
    yield rows;
  }
}

/** A sheet with a row for each group, and one for all rows: below the data they would be taken for data. */
async function* totalsSheet(
  columns: readonly Column[],
  { all, sorted }: GroupTotals,
  groupBy: Rows['groupBy'],
): AsyncGenerator<string> {
  const at = columns.flatMap(({ total }, nth) => (total === undefined ? [] : [nth]));
  const titles = [groupBy ?? '', 'rows', ...at.map((nth) => columns[nth]?.name ?? '')];
  const number = (value: number | null) => (value === null ? '<c/>' : `<c><v>${value}</v></c>`);
  const line = (name: string, { rows, row }: typeof all) =>
    `<row>${textCell(name)}${number(rows)}${at.map((nth) => number(row[nth] ?? null)).join('')}</row>`;
  const header = titles.map((title) => textCell(title, STYLES.header)).join('');
  const lines = sorted.map(([key, totals]) => line(key ?? '', totals)).join('');
  yield `${DECLARATION}<worksheet xmlns="${MAIN}"><sheetData><row>${header}</row>${lines}${line('total', all)}</sheetData></worksheet>`;
}

/** A sheet with the time spans of which the archive has lost rows. */
async function* incompleteSheet(spans: Rows['reading']['incomplete'], clock: Clock): AsyncGenerator<string> {
  const header = ['incompleteFrom', 'incompleteTo'].map((title) => textCell(title, STYLES.header)).join('');
  const lines = spans.map(
    ({ fromMs, toMs }) => `<row>${cell('time', fromMs, clock)}${cell('time', toMs, clock)}</row>`,
  );
  yield `${DECLARATION}<worksheet xmlns="${MAIN}"><sheetData><row>${header}</row>${lines.join('')}</sheetData></worksheet>`;
}

/** @param at indexes of the columns to write */
async function* sheet(
  all: readonly Column[],
  at: readonly number[],
  source: RowSource,
  clock: Clock,
): AsyncGenerator<string> {
  const columns = all.filter((_, nth) => at.includes(nth));
  const frozen =
    '<sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView>';
  const widths = columns
    .map(
      ({ type }, nth) => `<col min="${nth + 1}" max="${nth + 1}" width="${type === 'id' ? 38 : 20}" customWidth="1"/>`,
    )
    .join('');
  const header = columns.map(({ name }) => textCell(name, STYLES.header)).join('');
  yield `${DECLARATION}<worksheet xmlns="${MAIN}"><sheetViews>${frozen}</sheetViews><cols>${widths}</cols><sheetData><row>${header}</row>`;
  let left = MOST_ROWS - 1;
  while (left > 0) {
    const rows = await source.take(left);
    if (rows.length === 0) break;
    left -= rows.length;
    let xml = '';
    for (const row of rows) {
      xml += '<row>';
      for (const [nth, { type }] of columns.entries()) xml += cell(type, row[at[nth] ?? 0] ?? null, clock);
      xml += '</row>';
    }
    yield xml;
  }
  yield '</sheetData></worksheet>';
}

function cell(type: Column['type'], value: Value, clock: Clock): string {
  if (value === null) return '<c/>';
  if (type === 'time') return `<c s="${STYLES.time}"><v>${clock(Number(value))}</v></c>`;
  if (type === 'day') return `<c s="${STYLES.day}"><v>${(Date.parse(String(value)) - DAY_ZERO_MS) / DAY_MS}</v></c>`;
  if (typeof value === 'number') return Number.isFinite(value) ? `<c><v>${value}</v></c>` : '<c/>';
  if (typeof value === 'boolean') return `<c t="b"><v>${value ? 1 : 0}</v></c>`;
  if (typeof value === 'string') return textCell(value);
  return textCell(Array.isArray(value) ? value.join('|') : JSON.stringify(value));
}

function textCell(text: string, style = 0): string {
  const shown = xmlText(text.slice(0, MOST_CHARACTERS));
  return `<c t="inlineStr"${style ? ` s="${style}"` : ''}><is><t xml:space="preserve">${shown}</t></is></c>`;
}

/** Converts a time to a spreadsheet's format: days in local time. */
type Clock = (timeMs: number) => number;

function clockOf(timeZone: string): Clock {
  const offsetMs = offsetsOf(timeZone);
  return (timeMs) => (timeMs + offsetMs(timeMs) - DAY_ZERO_MS) / DAY_MS;
}

const STYLE_SHEET = `<styleSheet xmlns="${MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/><numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs></styleSheet>`;
