import type { FleetEvent } from './events/index.ts';
import type { Brand } from './ids.ts';
import type { TelemetryPacket } from './position.ts';

/** Trace id of the W3C Trace Context: 32 hexadecimal digits, not all zero. */
export type TraceId = Brand<string, 'TraceId'>;

/**
 * Identifies one packet on its way from the gateway to the notifications that it caused: the 16 bytes of a
 * {@link TraceId}, as four words of 32 bits. Packets are many and their ids are rarely needed, so the text is created
 * only on request.
 */
export class PacketTrace {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;

  /** The four words in order, signed. */
  constructor(a: number, b: number, c: number, d: number) {
    this.a = a;
    this.b = b;
    this.c = c;
    this.d = d;
  }

  get id(): TraceId {
    return (hex(this.a) + hex(this.b) + hex(this.c) + hex(this.d)) as TraceId;
  }

  /** The id, as a logger writes it. */
  toJSON(): TraceId {
    return this.id;
  }
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}

/** Records in the events from index `from` on which packet triggered them. */
export function noteCause(events: readonly FleetEvent[], from: number, packet: TelemetryPacket): void {
  if (from === events.length) return;
  const traceId = packet.trace?.id;
  for (let i = from; i < events.length; i++) {
    const event = events[i] as FleetEvent;
    // No packet causes silence. This one only revealed it; `advance` would have done so too.
    if (event.kind === 'offline' && event.phase === 'begin') event.receivedAtMs = event.fixTimeMs;
    else {
      event.receivedAtMs = packet.receivedAtMs;
      if (traceId !== undefined) event.traceId = traceId;
    }
  }
}

/**
 * Marks events that no packet triggered, but time or a changed definition, as having no delay: `receivedAtMs` equals
 * the fix time.
 */
export function noteNoCause(events: readonly FleetEvent[]): void {
  for (const event of events) event.receivedAtMs = event.fixTimeMs;
}

/** The trace of a record of the log; undefined where unknown. */
export function traceIdOf(record: unknown): TraceId | undefined {
  if (typeof record !== 'object' || record === null) return undefined;
  const { trace, traceId } = record as { trace?: unknown; traceId?: unknown };
  if (trace instanceof PacketTrace) return trace.id;
  return typeof traceId === 'string' ? (traceId as TraceId) : undefined;
}
