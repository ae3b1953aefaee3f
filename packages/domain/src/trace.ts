import type { FleetEvent } from './events/index.ts';
import type { Brand } from './ids.ts';
import type { TelemetryPacket } from './position.ts';

/** 32 hexadecimal digits, not all zero: a trace id of the W3C's Trace Context. */
export type TraceId = Brand<string, 'TraceId'>;

/**
 * What one packet is known by on its whole way, from the gateway to the notifications that it led to: the 16 bytes of a
 * {@link TraceId}, as four words of 32 bits. Packets are many and their ids hardly ever looked at, so the text is made
 * only where somebody asks for it.
 */
export class PacketTrace {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;

  /** The words in their order, signed. */
  constructor(a: number, b: number, c: number, d: number) {
    this.a = a;
    this.b = b;
    this.c = c;
    this.d = d;
  }

  get id(): TraceId {
    return (hex(this.a) + hex(this.b) + hex(this.c) + hex(this.d)) as TraceId;
  }

  /** In a line of a logger it is its id. */
  toJSON(): TraceId {
    return this.id;
  }
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}

/** Notes in events which packet made the engine say so: those from `from` on. */
export function noteCause(events: readonly FleetEvent[], from: number, packet: TelemetryPacket): void {
  if (from === events.length) return;
  const traceId = packet.trace?.id;
  for (let i = from; i < events.length; i++) {
    const event = events[i] as FleetEvent;
    // That nothing comes no packet says: this one only found out, and where it had not, somebody who looks would have.
    if (event.kind === 'offline' && event.phase === 'begin') event.receivedAtMs = event.fixTimeMs;
    else {
      event.receivedAtMs = packet.receivedAtMs;
      if (traceId !== undefined) event.traceId = traceId;
    }
  }
}

/**
 * Notes in events that no packet caused, but time or a changed definition, that they are not of data that took its
 * time.
 */
export function noteNoCause(events: readonly FleetEvent[]): void {
  for (const event of events) event.receivedAtMs = event.fixTimeMs;
}

/** The trace that a record of the log belongs to, if it is known. */
export function traceIdOf(record: unknown): TraceId | undefined {
  if (typeof record !== 'object' || record === null) return undefined;
  const { trace, traceId } = record as { trace?: unknown; traceId?: unknown };
  if (trace instanceof PacketTrace) return trace.id;
  return typeof traceId === 'string' ? (traceId as TraceId) : undefined;
}
