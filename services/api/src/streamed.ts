/**
 * Bytes that come in parts, as the body of an answer. The first part is waited for, so that a failure up to there is
 * answered with an error response; of the others, none is asked for before the client takes it.
 *
 * @param isTaken false where only the headers were asked for: then nothing is read
 * @param onBroken called with a later failure, after which the response is broken off
 */
export async function streamedBytes(
  parts: AsyncIterable<Uint8Array>,
  isTaken: boolean,
  onBroken: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  const iterator = parts[Symbol.asyncIterator]();
  let first = isTaken ? await iterator.next() : null;
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const next = first ?? (await iterator.next());
          first = null;
          if (next.done) controller.close();
          else controller.enqueue(next.value);
        } catch (error) {
          onBroken(error);
          controller.error(error);
        }
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * Text or bytes that come in parts, as the body of an answer. The first part is waited for: a failure up to
 * there is still answered with an error response.
 *
 * @param onBroken called with a later failure, after which the response is broken off
 */
export async function streamed(
  parts: AsyncIterable<string | Uint8Array>,
  onBroken: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  const iterator = parts[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let next = await iterator.next();
  return new ReadableStream({
    async pull(controller) {
      try {
        if (next.done) {
          controller.close();
          return;
        }
        controller.enqueue(typeof next.value === 'string' ? encoder.encode(next.value) : next.value);
        next = await iterator.next();
      } catch (error) {
        onBroken(error);
        controller.error(error);
      }
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
