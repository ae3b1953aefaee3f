import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  armed,
  CsvError,
  decodeText,
  defused,
  defusedJson,
  delimiterOf,
  readCsv,
  readSheet,
  writeCsvLine,
} from './csv.ts';

const read = (text: string, delimiter = delimiterOf(text)) => [...readCsv(text, delimiter)];
const cellsOf = (text: string) => read(text).map(({ cells }) => cells);

test('what is written is read again, whatever the cells hold', () => {
  const cell = fc.oneof(fc.string({ unit: 'grapheme' }), fc.stringMatching(/^["',;\r\n\t=a]*$/));
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { minLength: 1, maxLength: 6 }), { maxLength: 6 }),
      fc.constantFrom(',', ';', '\t'),
      (table, delimiter) => {
        const text = table.map((cells) => writeCsvLine(cells, delimiter as ',')).join('');
        // A line of one empty cell is what a blank line is.
        const wanted = table.filter((cells) => cells.length > 1 || cells[0] !== '');
        expect(read(text, delimiter as ',').map(({ cells }) => cells)).toEqual(wanted);
      },
    ),
  );
});

test('lines end in any way, the last one needs no end, and blank ones count but are not read', () => {
  expect(cellsOf('a,b\r\n1,2\n3,4\r5,6')).toEqual([
    ['a', 'b'],
    ['1', '2'],
    ['3', '4'],
    ['5', '6'],
  ]);
  expect(read('a\n\n"b\nc"\nd\n')).toEqual([
    { row: 1, cells: ['a'] },
    { row: 3, cells: ['b\nc'] },
    { row: 4, cells: ['d'] },
  ]);
  expect(cellsOf(',\n')).toEqual([['', '']]);
  expect(cellsOf('a,')).toEqual([['a', '']]);
  expect(cellsOf('')).toEqual([]);
});

test('the delimiter is the first one in the first line', () => {
  expect(delimiterOf('name;plate,x\n')).toBe(';');
  expect(delimiterOf('name\tplate\n')).toBe('\t');
  expect(delimiterOf('name\nVan, the;\n')).toBe(',');
});

test('malformed CSV is reported with its row', () => {
  const failing = (text: string) => {
    try {
      read(text, ',');
    } catch (error) {
      return error;
    }
    return null;
  };
  expect(failing('a\n"b')).toMatchObject({ row: 2, message: expect.stringContaining('never closed') });
  expect(failing('"a"b')).toMatchObject({ row: 1, message: expect.stringContaining('must end') });
  expect(failing(','.repeat(64))).toBeInstanceOf(CsvError);
});

test('no cell begins like a formula, and every text comes back', () => {
  const text = fc.oneof(fc.string(), fc.stringMatching(/^['=+\-@\t\ra]*$/));
  fc.assert(
    fc.property(text, (text) => {
      expect(defused(text)).not.toMatch(/^[=+\-@\t\r]/);
      expect(armed(defused(text))).toBe(text);
    }),
  );
  expect(defused('=1+1')).toBe("'=1+1");
  expect(defused("'t Hooft")).toBe("'t Hooft");
  expect(armed("'t Hooft")).toBe("'t Hooft");
  expect(armed('=1+1')).toBe('=1+1');
});

test('no spreadsheet finds a formula in a cell, by whatever it parts cells, and the text comes back unchanged', () => {
  const attack = fc.stringMatching(/^[a;,=+\-@'" \t\r\n|]{0,20}$/);
  fc.assert(
    fc.property(attack, (text) => {
      const safe = defused(text);
      expect(armed(safe)).toBe(text);
      for (const delimiter of [',', ';', '\t', '\n', '\r'])
        for (const cell of safe.split(delimiter)) expect(cell).not.toMatch(/^["' ]*(?<!'["' ]*)[=+\-@\t\r]/);
    }),
  );
  const line = writeCsvLine(['a', defused('Van;=cmd|x')], ',');
  expect(line).toBe("a,Van;'=cmd|x\r\n");
  expect(defused('Main street 5, depot')).toBe('Main street 5, depot');
});

test('JSON in a cell stays the same JSON, and begins no formula', () => {
  const value = { note: 'x;=1+1;"@a', list: [1, -5], 'k;': -1 };
  const cell = defusedJson(value);
  expect(JSON.parse(cell)).toEqual(value);
  for (const part of cell.split(';')) expect(part).not.toMatch(/^["'\\ ]*[=+\-@]/);
});

test('the line of a spreadsheet that says what parts cells is no row, and rows keep their numbers', () => {
  for (const line of ['sep=;\r\n', '"sep=;"\n', 'SEP=;\r']) {
    const { delimiter, records } = readSheet(`${line}a,b;c\n1;2\n`);
    expect(delimiter).toBe(';');
    expect([...records]).toEqual([
      { row: 2, cells: ['a,b', 'c'] },
      { row: 3, cells: ['1', '2'] },
    ]);
  }
  expect([...readSheet('a,b\n').records]).toEqual([{ row: 1, cells: ['a', 'b'] }]);
});

test('text is UTF-8, or UTF-16 with a byte order mark, which goes; anything else is refused', () => {
  const little = Buffer.from('\uFEFFVân', 'utf16le');
  for (const bytes of [Buffer.from('Vân'), Buffer.from('\uFEFFVân'), little, Buffer.from(little).swap16()])
    expect(decodeText(bytes)).toBe('Vân');
  expect(() => decodeText(Buffer.from([0x56, 0xe2, 0x6e]))).toThrow(TypeError);
  expect(decodeText(new ArrayBuffer(0))).toBe('');
});
