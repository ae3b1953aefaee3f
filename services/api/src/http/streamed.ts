/**
 * Bytes that arrive in parts, as the body of a response. Each part is read only when the client takes it.
 *
 * @param onBroken called with the failure, after which the response is broken off
 */
export function streamedBytes(
  parts: AsyncIterable<Uint8Array>,
  onBroken: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const iterator = parts[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const next = await iterator.next();
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
 * Text or bytes that arrive in parts, as the body of a response. The first part is awaited: a failure up to that point
 * is still answered with an error response.
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
