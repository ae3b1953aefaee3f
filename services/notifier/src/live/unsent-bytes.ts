/** A peer that may take messages more slowly than they are sent. */
export interface Debtor {
  /** The account of the peer. */
  readonly owner: string;
  /** False if the peer is disconnected or gone. */
  readonly open: boolean;
  /** Bytes that wait for the peer in the memory of this process. */
  readonly unsentBytes: number;
  /** The part of these bytes that can be dropped. The rest is already being written to the socket. */
  readonly droppableBytes: number;
  /** Drops what can be dropped, and closes the connection with a code. */
  disconnect(): void;
  /** Terminates the connection at once, which frees the rest. */
  terminate(): void;
}

/**
 * Above this share of the limit, memory is scarce: snapshot chunks are smaller, and positions are conflated earlier.
 */
const SCARCE_SHARE = 0.5;
/** Peers are disconnected until this share of the limit: one search for the largest then serves many messages. */
const RELIEVED_SHARE = 0.9;

/**
 * The sum of unsent bytes of slow peers, over all connections of a process. Above the limit, the peers with the most
 * bytes are disconnected until the sum is below it again. The account with the most bytes over all of its connections
 * goes first, so nobody else is affected by an account that reads slowly over many connections.
 */
export class UnsentBytes {
  readonly #maxBytes: number;
  readonly #debtors: () => Iterable<Debtor>;
  readonly #onDisconnected: (count: number) => void;
  #total = 0;
  #relieving = false;

  /** @param debtors all peers; called only above the limit */
  constructor(maxBytes: number, debtors: () => Iterable<Debtor>, onDisconnected: (count: number) => void) {
    this.#maxBytes = maxBytes;
    this.#debtors = debtors;
    this.#onDisconnected = onDisconnected;
  }

  get total(): number {
    return this.#total;
  }

  get isScarce(): boolean {
    return this.#total > this.#maxBytes * SCARCE_SHARE;
  }

  /** @param bytes additional unsent bytes; negative when bytes were taken or dropped */
  add(bytes: number): void {
    this.#total += bytes;
    if (this.#total <= this.#maxBytes || this.#relieving) return;
    this.#relieving = true;
    // Deferred: fast peers take the messages of this event loop turn by the end of it.
    setImmediate(() => {
      this.#relieving = false;
      if (this.#total > this.#maxBytes) this.#relieve();
    });
  }

  #relieve(): void {
    let count = 0;
    for (const debtor of this.#largestWhileBeyond()) {
      if (debtor.droppableBytes === 0) continue;
      debtor.disconnect();
      count++;
    }
    // The remaining bytes are being written to sockets and are only freed when these end.
    for (const debtor of this.#largestWhileBeyond()) {
      if (debtor.open) count++;
      debtor.terminate();
    }
    if (count > 0) this.#onDisconnected(count);
  }

  *#largestWhileBeyond(): Iterable<Debtor> {
    const debtors = [...this.#debtors()];
    const ofOwner = new Map<string, number>();
    for (const { owner, unsentBytes } of debtors) ofOwner.set(owner, (ofOwner.get(owner) ?? 0) + unsentBytes);
    const sumOf = ({ owner }: Debtor) => ofOwner.get(owner) ?? 0;
    for (const debtor of debtors.sort((a, b) => sumOf(b) - sumOf(a) || b.unsentBytes - a.unsentBytes)) {
      if (this.#total <= this.#maxBytes * RELIEVED_SHARE) return;
      yield debtor;
    }
  }
}
