import type { RefusedContact } from '@outrider/hub';

const MAX_KEPT_BYTES = 256;
const MAX_DETAIL_LENGTH = 200;

/** The first bytes of an unidentified peer. They show the operator what kind of device it is. */
export class FirstBytes {
  readonly #transport: RefusedContact['transport'];
  #kept: Buffer = Buffer.alloc(0);
  #received = 0;

  constructor(transport: RefusedContact['transport']) {
    this.#transport = transport;
  }

  get received(): number {
    return this.#received;
  }

  add(chunk: Buffer): void {
    this.#received += chunk.length;
    const left = MAX_KEPT_BYTES - this.#kept.length;
    if (left > 0) this.#kept = Buffer.concat([this.#kept, chunk.subarray(0, left)]);
  }

  /** @param detail the reason in words */
  contact(reason: string, detail: string): RefusedContact {
    return {
      transport: this.#transport,
      reason,
      detail: detail.slice(0, MAX_DETAIL_LENGTH),
      receivedBytes: this.#received,
      firstBytes: this.#kept.toString('hex'),
    };
  }
}

/** The contact of a peer that sent all of its bytes at once. */
export function contactOf(
  transport: RefusedContact['transport'],
  bytes: Buffer,
  reason: string,
  detail: string,
): RefusedContact {
  const first = new FirstBytes(transport);
  first.add(bytes);
  return first.contact(reason, detail);
}
