import { type EventMessage, type EventRange, indexAt, memoryBytesOf } from '../event-messages.ts';

export interface RecentEventsOptions {
  maxBytes?: number;
  maxAgeMs?: number;
  now(): number;
}

const MIB = 1024 * 1024;
const DEFAULT_MAX_BYTES = 32 * MIB;
const DEFAULT_MAX_AGE_MS = 15 * 60_000;
/** The oldest events are dropped by the segment, which has this fraction of the limits. */
const SEGMENTS = 32;

interface Segment {
  openedAtMs: number;
  bytes: number;
  /** Start offset of the segment in each partition that was known when it was opened. */
  startOffsets: ReadonlyMap<number, number>;
  messages: Map<number, EventMessage[]>;
}

/** The newest events of topic `events`, for clients after a short disconnection. Bounded by bytes and age. */
export class RecentEvents {
  readonly #maxBytes: number;
  readonly #maxAgeMs: number;
  readonly #now: () => number;
  /** Oldest segment first. */
  readonly #segments: Segment[] = [];
  readonly #endOffsets = new Map<number, number>();
  #bytes = 0;

  constructor({ maxBytes = DEFAULT_MAX_BYTES, maxAgeMs = DEFAULT_MAX_AGE_MS, now }: RecentEventsOptions) {
    this.#maxBytes = maxBytes;
    this.#maxAgeMs = maxAgeMs;
    this.#now = now;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Sets the offset from which on every event of the partition is going to be appended. */
  begin(partition: number, offset: number): void {
    this.#endOffsets.set(partition, offset);
  }

  /** Appends the partition's next event. */
  append(partition: number, message: EventMessage): void {
    if (!this.#endOffsets.has(partition)) this.begin(partition, message.offset);
    const segment = this.#openSegment();
    const messages = segment.messages.get(partition);
    if (messages) messages.push(message);
    else segment.messages.set(partition, [message]);
    const bytes = memoryBytesOf(message);
    segment.bytes += bytes;
    this.#bytes += bytes;
    this.#endOffsets.set(partition, message.offset + 1);
  }

  /**
   * The events of a partition from an offset on, at most one segment.
   *
   * @returns null if no events exist from there on, or the oldest of them were already dropped
   */
  from(partition: number, offset: number): EventRange | null {
    let endOffset = this.#endOffsets.get(partition) ?? 0;
    if (offset >= endOffset) return null;
    for (const segment of this.#segments.toReversed()) {
      // A partition that is younger than the segment begins with its first event.
      const messages = segment.messages.get(partition) ?? [];
      const startOffset = segment.startOffsets.get(partition) ?? messages[0]?.offset ?? endOffset;
      if (offset >= startOffset) return { messages, start: indexAt(messages, offset), endOffset };
      endOffset = startOffset;
    }
    return null;
  }

  /** Drops the oldest segments until the rest is within the limits. */
  trim(): void {
    const newest = this.#segments.at(-1);
    for (let oldest = this.#segments[0]; oldest; oldest = this.#segments[0]) {
      // The age of a segment is that of its last event: it counts from the time at which the segment was closed.
      const closedAtMs = this.#segments[1]?.openedAtMs ?? this.#now();
      const isTooOld = closedAtMs < this.#now() - this.#maxAgeMs;
      if (!isTooOld && (this.#bytes <= this.#maxBytes || oldest === newest)) return;
      this.#segments.shift();
      this.#bytes -= oldest.bytes;
    }
  }

  #openSegment(): Segment {
    const nowMs = this.#now();
    const newest = this.#segments.at(-1);
    if (
      newest &&
      newest.bytes < this.#maxBytes / SEGMENTS &&
      Math.abs(nowMs - newest.openedAtMs) < this.#maxAgeMs / SEGMENTS
    )
      return newest;
    const opened = { openedAtMs: nowMs, bytes: 0, startOffsets: new Map(this.#endOffsets), messages: new Map() };
    this.#segments.push(opened);
    this.trim();
    return opened;
  }
}
