import type { IncomingMessage } from 'node:http';

/** Bodies up to this size do not count towards the budget: the limit of connections bounds their number. */
const SMALL_BYTES = 64 * 1024;
const MAX_LARGE_BYTES = 64 * 1024 * 1024;

/** Budget for bytes of large bodies being read, over all listeners. */
export class BodyBudget {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = MAX_LARGE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** @returns false if the limit would be exceeded: then nothing is taken */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > this.#maxBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/** Reads the whole body; `too-long` if it exceeds its limit, `too-many` if the budget is used up. */
export async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  budget: BodyBudget,
): Promise<Buffer | 'too-long' | 'too-many'> {
  const chunks: Buffer[] = [];
  let length = 0;
  let taken = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBytes) return 'too-long';
      const wanted = Math.max(0, length - SMALL_BYTES) - taken;
      if (!budget.take(wanted)) return 'too-many';
      taken += wanted;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    budget.release(taken);
  }
}
