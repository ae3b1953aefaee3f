import { Environment } from '@marcbachmann/cel-js';
import { type AttributeValue, blankPosition, type Position } from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileExpression, ExpressionError } from './expression.ts';

function record(attributes: Record<string, AttributeValue> | null, more: Partial<Position> = {}): Position {
  return { ...blankPosition(0, 59, 30), ...more, attributes };
}
const RECORD = record(
  { io9: 7, 'a b': 2, text: '3.5', on: true, off: false, word: 0b1010_0100, state: 'open' },
  { speedKmh: 40, ignition: true, supplyV: 12.5 },
);
const value = (source: string, of = RECORD) => compileExpression(source).evaluate(of);

test.each([
  ['io9', 7],
  ['io9 * 2', 14],
  ['io9 * 0.001 + 1', 1.007],
  ['-io9', -7],
  ['(io9 - 32) * 5 / 9', (-25 * 5) / 9],
  ['io9 * (5 / 9)', 35 / 9],
  ['io9 % 4', 3],
  ['on', 1],
  ['off', 0],
  ['bit(word, 2)', 1],
  ['bit(word, 3)', 0],
  ['bit(word, 7) == 1', 1],
  ['attributes["a b"] * 3', 6],
  ['attributes.io9 + speedKmh', 47],
  ['has(attributes.io10) ? attributes.io10 : io9', 7],
  ['io9 > 5 ? 1 : 0', 1],
  ['io9 > 5 && ignition', 1],
  ['state == "open"', 1],
  ['state.startsWith("op") ? 10 : 20', 10],
  ['double(text) * 2', 7],
  ['int(double(text))', 3],
  ['max(io9, speedKmh)', 40],
  ['round(supplyV)', 13],
  ['0x10 + 1', 17],
  ['io9 in [7, 8] ? 1 : 2', 1],
])('%s is %d', (source, expected) => expect(value(source)).toBeCloseTo(expected, 9));

test.each([
  'missing',
  'missing + 1',
  'state',
  'on + 1',
  'io9 / 0',
  'courseDeg',
  'toString',
  'int(state)',
  'max(io9, on)',
])('%s has no value', (source) => expect(Number.isFinite(value(source))).toBe(false));

test('a record without attributes has no value', () => {
  expect(value('io9', record(null))).toBeNaN();
  expect(value('has(attributes.io9) ? 1 : 0', record(null))).toBe(0);
});

test.each([
  ['io9 +', 5],
  ['io9 * * 2', 6],
  ['2 + "a"', 0],
  ['speedKmh + 10 + "a"', 0],
  ['"open"', 0],
  ['[1, 2].map(x, x)', 0],
  ['[1, 2].all(x, x > 1)', 0],
  ['state.matches("(a+)+$")', 0],
  ['timestamp("2026-01-01T00:00:00Z")', 0],
  ['1u', 0],
  ['{"a": 1}', 0],
  ['io9 + f(2)', 6],
  [`${'('.repeat(40)}io9${')'.repeat(40)}`, 0],
  [Array.from({ length: 80 }, () => 'a').join('+'), 0],
  ['a'.repeat(501), 500],
  ['', 0],
])('%s is refused', (source, at) => {
  let error: unknown;
  try {
    compileExpression(source);
  } catch (caught) {
    error = caught;
  }
  expect(error).toBeInstanceOf(ExpressionError);
  expect((error as ExpressionError).at).toBeGreaterThanOrEqual(Math.min(at, source.length));
  expect((error as ExpressionError).message).toMatch(/\.$/);
});

test('closures give what CEL itself gives', () => {
  const leaf = fc.oneof(
    fc.constantFrom('a', 'b', 'attributes.a', 'attributes["c d"]', 'speedKmh', 'missing'),
    fc.double({ min: -1000, max: 1000, noNaN: true }).map((number) => number.toFixed(3).replace('-0.', '0.')),
  );
  const { expression } = fc.letrec<{ expression: string }>((tie) => ({
    expression: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc
        .tuple(tie('expression'), fc.constantFrom('+', '-', '*', '/', '%'), tie('expression'))
        .map(([a, operator, b]) => `(${a} ${operator} ${b})`),
    ),
  }));
  const real = fc.double({ min: -1e6, max: 1e6, noNaN: true });
  // The plain oracle: CEL, which knows `%` of doubles from here.
  const cel = new Environment({ unlistedVariablesAreDyn: true });
  cel.registerOperator('double % double', (a: number, b: number) => a % b);
  fc.assert(
    fc.property(expression, real, real, real, (source, a, b, cd) => {
      const attributes = { a, b, 'c d': cd };
      let expected = Number.NaN;
      try {
        expected = cel.evaluate(source, { ...attributes, attributes, speedKmh: 40 }) as number;
      } catch {
        // A name that nothing has.
      }
      const found = value(source, record(attributes, { speedKmh: 40 }));
      expect(Number.isFinite(found) ? found : null).toBe(Number.isFinite(expected) ? expected : null);
    }),
    { numRuns: runs(1000) },
  );
});
