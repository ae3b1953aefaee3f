import { expect, test } from 'vitest';
import { bytesOfHex, hexLines } from './hex.ts';

test('16 bytes a line, with their place and their text', () => {
  const lines = hexLines(new TextEncoder().encode('GET / HTTP/1.1\r\nÄ'));
  expect(lines).toEqual([
    '000000  47 45 54 20 2f 20 48 54  54 50 2f 31 2e 31 0d 0a  GET / HTTP/1.1..',
    `000010  c3 84${' '.repeat(18)}  ${' '.repeat(23)}  ..`,
  ]);
  expect(hexLines(new Uint8Array())).toEqual([]);
});

test('8 bytes a line fit a phone', () => {
  expect(hexLines(new TextEncoder().encode('GET / HTTP'), 8)).toEqual([
    '000000  47 45 54 20  2f 20 48 54  GET / HT',
    `000008  54 50${' '.repeat(6)}  ${' '.repeat(11)}  TP`,
  ]);
});

test('hexadecimal digits become bytes', () => {
  expect([...bytesOfHex('000FfE')]).toEqual([0, 15, 254]);
  expect([...bytesOfHex('00zz11')]).toEqual([0]);
  expect([...bytesOfHex('')]).toEqual([]);
});
