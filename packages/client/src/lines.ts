import { ConnectionError } from './errors.ts';

/** Lines are always shorter, as attributes are limited. */
const MAX_LINE_CHARACTERS = 1024 * 1024;

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * Lines of a response as they arrive. An unterminated last line is dropped.
 *
 * @param read reads the next part; callers can add a timeout
 * @throws {ConnectionError} if the connection broke
 */
export async function* linesOf(
  { body }: Response,
  read = (reader: Reader) => reader.read(),
): AsyncGenerator<string, void> {
  if (body === null) return;
  const reader: Reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { value, done } = await read(reader).catch((cause: unknown) => {
        throw new ConnectionError('the response was cut off', { cause });
      });
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      if (text.length > MAX_LINE_CHARACTERS) throw new ConnectionError('the answer holds a line without an end');
      yield* lines.filter((line) => line !== '');
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
