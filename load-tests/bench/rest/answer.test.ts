import { expect, test } from 'vitest';
import { readAnswer } from './answer.ts';

const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nthere');

test('an answer is parsed once its head is complete, with everything after it', () => {
  const headBytes = ANSWER.length - 5;
  for (let had = 0; had < headBytes; had += 1) expect(readAnswer(ANSWER.subarray(0, had))).toBeNull();
  for (let had = headBytes; had <= ANSWER.length; had += 1)
    expect(readAnswer(ANSWER.subarray(0, had))).toEqual({ status: 200, bytes: ANSWER.length });
});

test('an answer without its length is refused', () => {
  expect(() => readAnswer(Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'))).toThrow('chunked');
  expect(() => readAnswer(Buffer.from('hello\r\n\r\n'))).toThrow('hello');
});
