import { isoTime } from '@outrider/domain';
import { type Language, namesIn } from '@outrider/words';
import { byKey, chartsOf, GroupTotals, groupKey, isUsual, type Totalled } from '../../kinds/groups.ts';
import { type Column, type ReportKind, type Row, TooManyRowsError } from '../../report.ts';
import type { Format, Rows } from '../format.ts';
import { barsOf, chartBoxes, drawBars, drawLines, linesOf } from './chart.ts';
import { Readable } from './readable.ts';
import { lineHeight, PAGE, Sheet, type TextStyle, WIDTH } from './sheet.ts';
import { incompleteLines } from './summary.ts';
import { totalTitle, WORDS } from './words.ts';

/*
 * A document for people: who requested what, totals, charts, and the rows. All of it is held in memory until it is
 * written, because groups, widths and the number of pages are only known at the end. So the number of rows is limited.
 */

/** About 100 pages, which take 200 MB while they are drawn. Longer reports are for a spreadsheet. */
export const MAX_PDF_ROWS = 3000;
const RIGHT_TO_LEFT: ReadonlySet<Language> = new Set(['he']);
const CHART_HEIGHT = 150;
const MOST_CHARTS = 2;
const MOST_CARDS = 7;
/** Yields the thread after this many rows. */
const ROWS_IN_A_TURN = 100;

export const pdf: Format = {
  name: 'pdf',
  mediaType: 'application/pdf',
  extension: 'pdf',
  ofGroups: true,
  maxRows: MAX_PDF_ROWS,
  async *write(rows) {
    const held: Row[] = [];
    for await (const page of rows.pages) {
      if (held.length + page.length > MAX_PDF_ROWS) throw new TooManyRowsError(MAX_PDF_ROWS);
      held.push(...page);
    }
    const paper = new Paper(rows, held, await namesIn(rows.reading.language));
    const sheet = await paper.open();
    await paper.draw();
    sheet.doc.end();
    yield* sheet.doc as AsyncIterable<Uint8Array>;
  },
};

/** A column with its index in the rows, and its position on paper. */
interface Placed {
  column: Column;
  at: number;
  x: number;
  width: number;
}

class Paper {
  readonly #asked: Rows;
  readonly #rows: readonly Row[];
  readonly #readable: Readable;
  readonly #words: (typeof WORDS)[Language];
  readonly #totals: GroupTotals;
  #sheet!: Sheet;
  #columns: Placed[] = [];
  #y = PAGE.margin;
  #size = 7.5;

  constructor(asked: Rows, rows: readonly Row[], names: Awaited<ReturnType<typeof namesIn>>) {
    const { kind, reading, groupBy, timeZone } = asked;
    this.#asked = asked;
    this.#words = WORDS[reading.language];
    this.#readable = new Readable(reading, timeZone, names, this.#words);
    this.#totals = new GroupTotals(kind, groupBy, timeZone);
    for (const row of rows) this.#totals.add(row);
    this.#rows = groupBy === null ? rows : sortedBy(kind, groupBy, timeZone, rows);
  }

  get #title(): string {
    const { kind, reading } = this.#asked;
    return reading.title ?? this.#readable.report(kind.name);
  }

  async open(): Promise<Sheet> {
    const { reading } = this.#asked;
    const details = { title: this.#title, author: reading.who, madeAtMs: reading.madeAtMs };
    this.#sheet = await Sheet.open(RIGHT_TO_LEFT.has(reading.language), details);
    return this.#sheet;
  }

  async draw(): Promise<void> {
    this.#sheet.doc.addPage();
    this.#head();
    if (this.#rows.length === 0)
      this.#y += this.#sheet.text(this.#words.none, 0, this.#y + 20, WIDTH, { size: 10, color: GREY });
    else {
      this.#cards();
      this.#charts();
      this.#place();
      await this.#table();
    }
    this.#numberPages();
  }

  #head(): void {
    const { kind, reading, timeZone } = this.#asked;
    const words = this.#words;
    const readable = this.#readable;
    const sheet = this.#sheet;
    const half = WIDTH * 0.62;
    const name = readable.report(kind.name);
    let left = this.#y;
    left += sheet.text(this.#title, 0, left, half, { size: 16, isBold: true, lines: 2 });
    if (this.#title !== name) left += sheet.text(name, 0, left, half, { size: 9, color: GREY });
    const { fromMs, toMs } = reading;
    const period = fromMs === null || toMs === null ? words.now : `${readable.time(fromMs)} – ${readable.time(toMs)}`;
    left += sheet.text(period, 0, left + 2, half, { size: 10 }) + 2;
    for (const line of incompleteLines(reading, readable, words))
      left += sheet.text(line, 0, left + 2, half, { size: 9, isBold: true }) + 2;
    const facts = [
      `${words.forWhom}: ${reading.who}`,
      `${words.timeZone}: ${timeZone}`,
      `${words.made}: ${readable.time(reading.madeAtMs)}`,
    ];
    let right = this.#y;
    for (const fact of facts)
      right += sheet.text(fact, half, right, WIDTH - half, { size: 8, color: GREY, align: 'end' });
    this.#y = Math.max(left, right) + 8;
    sheet.line(0, this.#y, WIDTH, RULE);
    this.#y += 10;
  }

  /** Draws the totals of all rows in large type. */
  #cards(): void {
    const { columns } = this.#asked.kind;
    const found = columns.flatMap((column, nth) => {
      const value = this.#totals.all.at(nth);
      return value === null
        ? []
        : [{ title: totalTitle(column, this.#readable, this.#words), text: this.#readable.quantity(column, value) }];
    });
    if (found.length === 0) return;
    const cards = [
      { title: this.#words.rows, text: this.#readable.number(this.#totals.all.rows) },
      ...found.slice(0, MOST_CARDS - 1),
    ];
    const width = WIDTH / MOST_CARDS;
    for (const [nth, { title, text }] of cards.entries()) {
      this.#sheet.text(title, nth * width, this.#y, width - 8, { size: 7.5, color: GREY, lines: 2 });
      this.#sheet.text(text, nth * width, this.#y + 20, width - 8, { size: 13, isBold: true });
    }
    this.#y += 46;
  }

  #charts(): void {
    const { kind, timeZone } = this.#asked;
    const readable = this.#readable;
    const draws = chartsOf(kind).flatMap((chart) => {
      const title = chart.measure === null ? this.#words.rows : readable.title(chart.measure);
      if (chart.shape === 'lines') {
        const lines = linesOf(kind, chart, this.#rows);
        return lines === null ? [] : [(box: Box) => drawLines(this.#sheet, readable, title, lines, box)];
      }
      const bars = barsOf(kind, chart, this.#rows, timeZone, readable);
      if (bars === null) return [];
      const by = chart.by === 'time' ? '' : ` · ${this.#words.groups[chart.by]}`;
      return [(box: Box) => drawBars(this.#sheet, readable, title + by, bars, box)];
    });
    const shown = draws.slice(0, MOST_CHARTS);
    if (shown.length === 0) return;
    for (const [nth, box] of chartBoxes(shown.length, this.#y, CHART_HEIGHT).entries()) shown[nth]?.(box);
    this.#y += CHART_HEIGHT + 6;
  }

  /** Sets the width of each column: what it needs if all fit, else its share. */
  #place(): void {
    const { kind, columns: chosen } = this.#asked;
    const shown = kind.columns.flatMap((column, at) =>
      (chosen === null ? isUsual(column) : chosen.includes(column.name)) ? [{ column, at }] : [],
    );
    this.#size = shown.length > 14 ? 6.5 : shown.length > 10 ? 7 : 7.5;
    const sample = this.#rows.slice(0, 300);
    const needs = shown.map(({ column, at }) => {
      const widest = sample.reduce((most, row) => {
        const text = this.#readable.value(column, row[at] ?? null);
        return Math.max(most, this.#sheet.widthOf(text, { size: this.#size }));
      }, 0);
      const title = this.#readable.title(column.name);
      const word = Math.max(...title.split(' ').map((part) => this.#sheet.widthOf(part, this.#titleStyle)));
      const total = this.#sheet.widthOf(this.#readable.quantity(column, this.#totals.all.at(at) ?? 0), {
        size: this.#size,
        isBold: true,
      });
      const least = Math.max(word, column.total === undefined ? 0 : total);
      return { least: least + PAD, most: Math.min(Math.max(widest, least), 190) + PAD };
    });
    const widths = shared(needs, WIDTH);
    let x = 0;
    this.#columns = shown.map(({ column, at }, nth) => {
      const width = widths[nth] ?? 0;
      const placed = { column, at, x, width };
      x += width;
      return placed;
    });
  }

  get #titleStyle(): TextStyle {
    return { size: this.#size, isBold: true, lines: 3 };
  }

  async #table(): Promise<void> {
    const { kind, groupBy, timeZone } = this.#asked;
    const keyOf = groupBy === null ? null : groupKey(kind, groupBy, timeZone);
    let open: string | null | undefined;
    this.#titles();
    for (const [nth, row] of this.#rows.entries()) {
      const key = keyOf?.(row);
      if (keyOf !== null && key !== open) {
        open = key;
        this.#group(key ?? null);
      }
      this.#row(row, nth);
      if (nth % ROWS_IN_A_TURN === ROWS_IN_A_TURN - 1) {
        await new Promise((resolve) => setImmediate(resolve));
        this.#asked.signal.throwIfAborted();
      }
    }
    this.#total(this.#words.total, this.#totals.all);
  }

  #titles(): void {
    const style = this.#titleStyle;
    const heights = this.#columns.map(
      ({ column, width }) =>
        this.#sheet.wrapped(this.#readable.title(column.name), width - PAD, style).length * lineHeight(style),
    );
    const height = Math.max(...heights, lineHeight(style)) + 6;
    this.#need(height + 30, false);
    this.#sheet.box(0, this.#y, WIDTH, height, '#e8edf3');
    for (const { column, x, width } of this.#columns)
      this.#sheet.text(this.#readable.title(column.name), x + PAD / 2, this.#y + 3, width - PAD, {
        ...style,
        align: isNumber(column) ? 'end' : 'start',
      });
    this.#y += height;
  }

  #row(row: Row, nth: number): void {
    const style: TextStyle = { size: this.#size, lines: 3 };
    const cells = this.#columns.map((placed) => {
      const text = this.#readable.value(placed.column, row[placed.at] ?? null);
      return { ...placed, lines: this.#sheet.wrapped(text, placed.width - PAD, style) };
    });
    const height = Math.max(1, ...cells.map(({ lines }) => lines.length)) * lineHeight(style) + 3;
    this.#need(height, true);
    if (nth % 2 === 1) this.#sheet.box(0, this.#y, WIDTH, height, '#f6f8fa');
    for (const { column, x, width, lines } of cells)
      for (const [place, line] of lines.entries())
        this.#sheet.text(line, x + PAD / 2, this.#y + 2 + place * lineHeight(style), width - PAD, {
          size: this.#size,
          align: isNumber(column) ? 'end' : 'start',
        });
    this.#y += height;
  }

  /** Draws the name of a group, with its totals under their columns. */
  #group(key: string | null): void {
    const totals = this.#totals.groups.get(key);
    if (totals === undefined) return;
    const { groupBy } = this.#asked;
    const text =
      key === null
        ? this.#words.without
        : groupBy === 'day'
          ? this.#readable.day(key)
          : groupBy === 'kind'
            ? this.#readable.word('kind', key)
            : key;
    this.#total(text, totals);
  }

  /** Draws a line of totals. The label is in the columns before the first one with a total. */
  #total(label: string, totals: Totalled): void {
    const style: TextStyle = { size: this.#size, isBold: true };
    const height = lineHeight(style) + 6;
    this.#need(height + 14, true);
    this.#sheet.box(0, this.#y, WIDTH, height, '#dfe7f0');
    const text = `${label} · ${this.#readable.number(totals.rows)}`;
    const first = this.#columns.find(({ at }) => totals.at(at) !== null);
    this.#sheet.text(text, PAD / 2, this.#y + 3, Math.max(first?.x ?? WIDTH, 90) - PAD, style);
    for (const { column, at, x, width } of this.#columns) {
      const value = totals.at(at);
      if (value === null || x < 90) continue;
      const align = 'end';
      this.#sheet.text(this.#readable.quantity(column, value), x + PAD / 2, this.#y + 3, width - PAD, {
        ...style,
        align,
      });
    }
    this.#y += height;
  }

  /** Begins a page if this height does not fit any more. */
  #need(height: number, hasTitles: boolean): void {
    if (this.#y + height <= PAGE.height - PAGE.margin - 14) return;
    this.#sheet.doc.addPage();
    this.#y = PAGE.margin;
    if (hasTitles) this.#titles();
  }

  #numberPages(): void {
    const { doc } = this.#sheet;
    const { start, count } = doc.bufferedPageRange();
    const { madeAtMs } = this.#asked.reading;
    for (let nth = 0; nth < count; nth++) {
      doc.switchToPage(start + nth);
      const y = PAGE.height - PAGE.margin + 4;
      const style: TextStyle = { size: 7, color: GREY };
      this.#sheet.text(`${this.#title} · ${isoTime(madeAtMs).slice(0, 10)}`, 0, y, WIDTH / 2, style);
      const text = this.#words.page(nth + 1, count);
      this.#sheet.text(text, WIDTH / 2, y, WIDTH / 2, { ...style, align: 'end' });
    }
  }
}

type Box = Parameters<typeof drawBars>[4];
const GREY = '#5b6675';
const RULE = '#c4ccd6';
const PAD = 6;

function isNumber({ type }: Column): boolean {
  return type === 'number' || type === 'whole';
}

function sortedBy(
  kind: ReportKind,
  groupBy: NonNullable<Rows['groupBy']>,
  timeZone: string,
  rows: readonly Row[],
): Row[] {
  const keyOf = groupKey(kind, groupBy, timeZone);
  const keyed = rows.map((row) => ({ row, key: keyOf(row) }));
  return keyed.sort((a, b) => byKey(a.key, b.key)).map(({ row }) => row);
}

/** Widths that fill the page: needs scaled up or down, but if possible not below the width of the column's words. */
export function shared(needs: readonly { least: number; most: number }[], width: number): number[] {
  const wanted = needs.reduce((sum, { most }) => sum + most, 0);
  const least = needs.reduce((sum, each) => sum + each.least, 0);
  if (wanted <= width) return needs.map(({ most }) => (most / wanted) * width);
  if (least >= width) return needs.map((each) => (each.least / least) * width);
  const part = (width - least) / (wanted - least);
  return needs.map((each) => each.least + (each.most - each.least) * part);
}
