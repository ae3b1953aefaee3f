/** A peer that may take less than it is sent. */
export interface Debtor {
  /** The account that it belongs to. */
  readonly owner: string;
  /** False when it has been disconnected, or is gone. */
  readonly open: boolean;
  /** What waits for the peer in the memory of this process. */
  readonly unsentBytes: number;
  /** Of these, what can be dropped. The rest is on its way into the socket. */
  readonly droppableBytes: number;
  /** Drops what can be dropped, and closes the connection with a code. */
  disconnect(): void;
  /** Ends the connection at once, which frees the rest. */
  terminate(): void;
}

/**
 * From this share of the bound on, memory is scarce: peers are given less ahead, and positions are conflated earlier.
 */
const SCARCE_SHARE = 0.5;
/** Debtors are disconnected down to this share of the bound: the largest are searched for once for many messages. */
const RELIEVED_SHARE = 0.9;

/**
 * The sum of what waits for slow peers, over all connections of a process. Beyond the bound, the peers with the most
 * are disconnected until the sum is below it again: first those of the account that has the most over all of its
 * connections, so that nobody else pays for an account that reads slowly many times over.
 */
export class UnsentBytes {
  readonly #maxBytes: number;
  readonly #debtors: () => Iterable<Debtor>;
  readonly #onDisconnected: (count: number) => void;
  #total = 0;
  #relieving = false;

  /** @param debtors all peers; asked for only beyond the bound */
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

  /** @param bytes that wait in addition; negative when they were taken or dropped */
  add(bytes: number): void {
    this.#total += bytes;
    if (this.#total <= this.#maxBytes || this.#relieving) return;
    this.#relieving = true;
    // Not at once: what fast peers were sent in this turn of the event loop is taken by the end of it.
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
    // What is left is on its way into sockets, and stays there until these end.
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
