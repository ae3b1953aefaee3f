import { fileURLToPath } from 'node:url';
import type PDFDocument from 'pdfkit';
import { runsOf } from './bidi.ts';

/** Page size in points: A4 landscape. */
export const PAGE = { width: 841.89, height: 595.28, margin: 36 };
export const WIDTH = PAGE.width - 2 * PAGE.margin;
const ELLIPSIS = '…';

export interface TextStyle {
  size: number;
  isBold?: boolean;
  color?: string;
  /** `start`: left, or right in right-to-left languages. Default: `start`. */
  align?: 'start' | 'end' | 'center';
  /** Maximum number of lines; longer text is truncated with an ellipsis. Default 1. */
  lines?: number;
}

type Doc = InstanceType<typeof PDFDocument>;

/**
 * Pages to draw on. Coordinates are in points from the top and from the side where reading begins: in right-to-left
 * languages, everything is mirrored.
 */
export class Sheet {
  readonly doc: Doc;
  readonly #isRightToLeft: boolean;
  readonly #widths = new Map<string, number>();

  /** @param details title and author, for the file's properties */
  static async open(isRightToLeft: boolean, details: { title: string; author: string; madeAtMs: number }) {
    const { default: Document } = await import('pdfkit');
    const doc = new Document({
      size: 'A4',
      layout: 'landscape',
      margin: 0,
      // Buffered because each page finally shows the number of pages.
      bufferPages: true,
      autoFirstPage: false,
      info: { Title: details.title, Author: details.author, CreationDate: new Date(details.madeAtMs) },
    });
    doc.registerFont('plain', fontFile('DejaVuSansCondensed.ttf'));
    doc.registerFont('bold', fontFile('DejaVuSansCondensed-Bold.ttf'));
    return new Sheet(doc, isRightToLeft);
  }

  private constructor(doc: Doc, isRightToLeft: boolean) {
    this.doc = doc;
    this.#isRightToLeft = isRightToLeft;
  }

  /** The left edge of a box, in both reading directions. */
  left(x: number, width: number): number {
    return this.#isRightToLeft ? PAGE.width - PAGE.margin - x - width : PAGE.margin + x;
  }

  box(x: number, y: number, width: number, height: number, color: string): void {
    this.doc.rect(this.left(x, width), y, width, height).fill(color);
  }

  line(x: number, y: number, width: number, color: string): void {
    this.doc.lineWidth(0.5).strokeColor(color);
    const left = this.left(x, width);
    this.doc
      .moveTo(left, y)
      .lineTo(left + width, y)
      .stroke();
  }

  /** @returns the height of the drawn text */
  text(text: string, x: number, y: number, width: number, style: TextStyle): number {
    const lines = this.wrapped(text, width, style);
    for (const [nth, line] of lines.entries())
      this.#line(line, this.left(x, width), y + nth * lineHeight(style), width, style);
    return lines.length * lineHeight(style);
  }

  /** Lines that fit the width, at most as many as the style allows. */
  wrapped(text: string, width: number, style: TextStyle): string[] {
    const { lines: most = 1 } = style;
    const lines: string[] = [];
    let rest = text.replaceAll(/\s+/g, ' ').trim();
    while (rest !== '' && lines.length < most) {
      const isLast = lines.length === most - 1;
      const fits = this.#fitting(rest, width, style);
      if (fits === rest.length) {
        lines.push(rest);
        break;
      }
      if (isLast) {
        lines.push(
          rest.slice(0, this.#fitting(rest, width - this.widthOf(ELLIPSIS, style), style)).trimEnd() + ELLIPSIS,
        );
        break;
      }
      const space = rest.lastIndexOf(' ', fits);
      const end = space > 0 ? space : fits;
      lines.push(rest.slice(0, end));
      rest = rest.slice(end).trimStart();
    }
    return lines;
  }

  widthOf(text: string, { size, isBold }: TextStyle): number {
    const key = `${isBold ? 'b' : ''}${text}`;
    let width = this.#widths.get(key);
    if (width === undefined) {
      this.#font(isBold, 1000);
      width = this.#runs(text).reduce((sum, run) => sum + this.#runWidth(run), 0) / 1000;
      if (this.#widths.size >= MOST_WIDTHS) this.#widths.clear();
      this.#widths.set(key, width);
    }
    return width * size;
  }

  /** How many characters fit; at least one. */
  #fitting(text: string, width: number, style: TextStyle): number {
    if (this.widthOf(text, style) <= width) return text.length;
    let low = 1;
    let high = text.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.widthOf(text.slice(0, middle), style) <= width) low = middle;
      else high = middle - 1;
    }
    // Both halves of a surrogate pair stay together.
    return low > 1 && /[\ud800-\udbff]/.test(text[low - 1] ?? '') ? low - 1 : low;
  }

  #line(line: string, left: number, y: number, width: number, style: TextStyle): void {
    const { size, isBold, color = '#1c2430', align = 'start' } = style;
    const lineWidth = this.widthOf(line, style);
    const isLeft = align === (this.#isRightToLeft ? 'end' : 'start');
    let x = align === 'center' ? left + (width - lineWidth) / 2 : isLeft ? left : left + width - lineWidth;
    this.#font(isBold, size);
    this.doc.fillColor(color);
    for (const run of this.#runs(line)) {
      this.doc.text(run.text, x, y, { lineBreak: false, ...featuresOf(run) });
      x += this.#runWidth(run);
    }
  }

  #runs(text: string) {
    return runsOf(text, this.#isRightToLeft ? 'rtl' : 'ltr');
  }

  #runWidth(run: { text: string; isRightToLeft: boolean }): number {
    return this.doc.widthOfString(run.text, featuresOf(run));
  }

  #font(isBold: boolean | undefined, size: number): void {
    this.doc.font(isBold ? 'bold' : 'plain').fontSize(size);
  }
}

const MOST_WIDTHS = 20_000;

export function lineHeight({ size }: TextStyle): number {
  return size * 1.25;
}

/** With `features` set, a run is laid out as a whole: right-to-left words stay in their order. */
function featuresOf({ isRightToLeft }: { isRightToLeft: boolean }) {
  return isRightToLeft ? { features: [] } : {};
}

function fontFile(name: string): string {
  return fileURLToPath(import.meta.resolve(`dejavu-fonts-ttf/ttf/${name}`));
}
