import type { PacketTrace, TraceId } from '@outrider/domain';

export type SpanFacts = Readonly<Record<string, string | number | boolean>>;

/** Options of a span. */
export interface SpanOptions {
  /** Start of the span, by {@link Tracing.nowMs}; default now. */
  startMs?: number;
  facts?: SpanFacts;
  /** Packets to which the span links: only those whose traces are recorded count. */
  packets?: readonly TraceId[];
  /** `server` answers a call, `client` makes one; default: neither. */
  kind?: 'server' | 'client';
}

/** An operation with a start and an end. It is exported when it ends. */
export interface Span {
  /** False for spans that are not exported. */
  readonly isRecorded: boolean;
  /** Value for the headers `traceparent` and `traceresponse` (W3C Trace Context); null when tracing is off. */
  readonly traceparent: string | null;
  /** Begins a child span; `startMs` by {@link Tracing.nowMs}, default now. */
  child(name: string, startMs?: number): Span;
  note(facts: SpanFacts): void;
  /** For spans whose operation is known only later. */
  rename(name: string): void;
  /** Marks the operation as failed. */
  fail(reason: string): void;
  end(): void;
}

/** Creates the spans of a process. */
export interface Tracing {
  /** False when tracing is off; callers can skip building spans. */
  readonly isOn: boolean;
  /** Unix milliseconds with fractions, from a monotonic clock. */
  nowMs(): number;
  /** Whether the trace of this packet is recorded. Depends on the id only, so that all services agree. */
  recordsPacket(trace: PacketTrace): boolean;
  /** The first span of a packet's trace, which the gateway creates. */
  beginPacket(trace: PacketTrace, name: string, options?: SpanOptions): Span;
  /** An operation caused by a packet: part of the packet's trace, if that is recorded. */
  ofPacket(traceId: TraceId | undefined, name: string, options?: SpanOptions): Span;
  /**
   * An operation with a trace of its own, or in the trace of a caller.
   *
   * @param traceparent the caller's header; an invalid one begins a new trace
   */
  begin(name: string, options?: SpanOptions, traceparent?: string): Span;
  /** Exports the waiting spans, unless the collector is unavailable; resolves within seconds. */
  close(): Promise<void>;
}

/** A span that is not exported. */
export const NO_SPAN: Span = {
  isRecorded: false,
  traceparent: null,
  child: () => NO_SPAN,
  note() {},
  rename() {},
  fail() {},
  end() {},
};

/** For processes without a trace collector. */
export const NO_TRACING: Tracing = {
  isOn: false,
  nowMs: () => 0,
  recordsPacket: () => false,
  beginPacket: () => NO_SPAN,
  ofPacket: () => NO_SPAN,
  begin: () => NO_SPAN,
  close: async () => {},
};

/** Maximum number of packets that one span links to. */
const MAX_NAMED = 100;

/** The packets whose traces are recorded, at most {@link MAX_NAMED}. */
export function recordedAmong(
  tracing: Tracing,
  records: readonly { readonly value: { readonly trace?: PacketTrace | null } }[],
): TraceId[] {
  const ids: TraceId[] = [];
  if (!tracing.isOn) return ids;
  for (const { value } of records) {
    const { trace } = value;
    if (trace == null || !tracing.recordsPacket(trace)) continue;
    ids.push(trace.id);
    if (ids.length >= MAX_NAMED) break;
  }
  return ids;
}

/** Runs `work` in a span. If `work` throws, the span is marked as failed with the error. */
export async function inSpan<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await work(span);
  } catch (error) {
    span.fail(error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    span.end();
  }
}
