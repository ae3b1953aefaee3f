import { ConnectionError } from './errors.ts';

/** A line is shorter: attributes are bounded. */
const MAX_LINE_CHARACTERS = 1024 * 1024;

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * Lines of an answer as they come; a last one without its end is left out.
 *
 * @param read the next part, of a caller that does not wait for ever
 * @throws {ConnectionError} the connection broke
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
        throw new ConnectionError('the answer broke off', { cause });
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
