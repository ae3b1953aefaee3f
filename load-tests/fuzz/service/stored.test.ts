import { blankPosition, type Position, type TerminalId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { CODEC_12, encodeMessage, MESSAGE } from '../../../packages/protocols/src/teltonika/messages.ts';
import { createTeltonikaSimulator } from '../../../packages/protocols/src/teltonika/simulator.ts';
import { MayBeStored } from './stored.ts';

const TERMINAL = '356307042441013';
const FIX_TIME_MS = Date.UTC(2026, 0, 1, 12);
const POSITION = blankPosition(FIX_TIME_MS, 52.5, 13.4);

const at = (timeMs: number, changes: Partial<Position> = {}): Position => ({
  ...POSITION,
  fixTimeMs: timeMs,
  ...changes,
});

describe('what may be stored of a conversation', () => {
  const simulator = createTeltonikaSimulator(TERMINAL as TerminalId);
  const hello = simulator.hello() ?? Buffer.alloc(0);
  const record = simulator.encode([POSITION]);

  test('a record, at its place and its time alone', () => {
    const may = new MayBeStored();
    may.note({ port: 'teltonika', chunks: [hello, record] });
    expect(may.has(TERMINAL, at(FIX_TIME_MS))).toBe(true);
    expect(may.has(TERMINAL, at(FIX_TIME_MS + 1))).toBe(false);
    expect(may.has(TERMINAL, at(FIX_TIME_MS, { latitude: 52.6 }))).toBe(false);
    expect(may.has('356307042441014', at(FIX_TIME_MS))).toBe(false);
  });

  test('a text, as late after the record before it as a conversation may last', () => {
    const may = new MayBeStored();
    may.note({ port: 'teltonika', chunks: [hello, record, encodeMessage(CODEC_12, MESSAGE.answer, 'hello')] });
    expect(may.has(TERMINAL, at(FIX_TIME_MS + 4))).toBe(true);
    expect(may.has(TERMINAL, at(FIX_TIME_MS + 200_000))).toBe(false);
    expect(may.has(TERMINAL, at(FIX_TIME_MS - 1))).toBe(false);
  });
});
