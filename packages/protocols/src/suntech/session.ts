import type { TerminalId } from '@outrider/domain';
import { LineSession } from '../line-session.ts';
import type { Inbound } from '../protocol.ts';
import { readPortableReport, readReport, readUniversalReport } from './message.ts';

export const MAX_FRAME_BYTES = 1024;

const CR = 0x0d;
const [A, Z] = [0x41, 0x5a];
/**
 * Series and kind, or only the kind in the format that later series share, and the terminal's number. Answers to
 * commands have `Res` before it.
 */
const HEAD = /^(?:(S[TA]\d{3}[A-Z]{0,2}?)?([A-Z]{3})(?:;Res)?|(ST\d{3});([A-Z][a-z]+));(\d{6,15});/;
/** Kinds of messages that hold a place. */
const REPORTS = new Set(['STT', 'EMG', 'EVT', 'ALT', 'Location', 'Emergency', 'Alert']);

/**
 * Suntech ST series in text: fields separated by semicolons, a line for each report. The maker's description has no
 * acknowledgement over TCP: a terminal treats data that the connection accepted as stored.
 */
export class SuntechSession extends LineSession {
  #terminalId: TerminalId | null = null;

  constructor() {
    super({ maxLineBytes: MAX_FRAME_BYTES, ends: [CR], between: [CR, 0x0a] });
  }

  protected override begins(byte: number): boolean {
    return byte >= A && byte <= Z;
  }

  protected override takeLine(line: string, _nowMs: number, out: Inbound[]): boolean {
    const head = HEAD.exec(`${line};`);
    if (head === null) {
      const detail = 'a line begins with the series, the kind and the number of the terminal';
      if (this.#terminalId !== null) return this.leaveOut(out, detail);
      this.refuse(out, 'bad-content', detail);
      return false;
    }
    const [start, series, ofSeries, portable, ofPortable, number = ''] = head;
    const kind = ofPortable ?? ofSeries ?? '';
    if (this.#terminalId === null) {
      this.#terminalId = number as TerminalId;
      out.push({ type: 'identify', terminalId: this.#terminalId, accept: null, reject: null });
    } else if (this.#terminalId !== number) {
      this.refuse(out, 'bad-content', 'a line with another number');
      return false;
    }
    if (!REPORTS.has(kind)) {
      out.push({ type: 'positions', positions: [], ack: null });
      return true;
    }
    const read = portable !== undefined ? readPortableReport : series === undefined ? readUniversalReport : readReport;
    const position = read(kind, line.slice(start.length).split(';'));
    if (typeof position === 'string') return this.leaveOut(out, position);
    out.push({ type: 'positions', positions: [position], ack: null });
    return true;
  }
}
