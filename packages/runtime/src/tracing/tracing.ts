import type { PacketTrace, TraceId } from '@outrider/domain';

export type SpanFacts = Readonly<Record<string, string | number | boolean>>;

/** What a span hangs on, besides its own trace. */
export interface SpanOptions {
  /** When it began, by {@link Tracing.nowMs}; default now. */
  startMs?: number;
  facts?: SpanFacts;
  /** Packets that it is about, beside others: only those whose traces are recorded count. */
  packets?: readonly TraceId[];
  /** `server` answers somebody's call, `client` makes one; default: neither. */
  kind?: 'server' | 'client';
}

/** A stretch of time in which something was done. It is told when it ends. */
export interface Span {
  /** False where nobody will ever see it. */
  readonly isRecorded: boolean;
  /** As header `traceparent` and `traceresponse` have it (W3C Trace Context); null where there is none to tell. */
  readonly traceparent: string | null;
  /** A part of it; `startMs` by {@link Tracing.nowMs}, default now. */
  child(name: string, startMs?: number): Span;
  note(facts: SpanFacts): void;
  /** Where it turned out only later what it is. */
  rename(name: string): void;
  /** It did not come out as it should. */
  fail(reason: string): void;
  end(): void;
}

/** Where a process tells what it does when. */
export interface Tracing {
  /** False where nothing is told: then whoever would go to any lengths for it need not. */
  readonly isOn: boolean;
  /** Unix milliseconds with fractions, of a clock that does not jump. */
  nowMs(): number;
  /** Is the trace of this packet recorded? All services answer alike, by the id alone. */
  recordsPacket(trace: PacketTrace): boolean;
  /** The first span of a packet's trace: the one that is told by the gateway. */
  beginPacket(trace: PacketTrace, name: string, options?: SpanOptions): Span;
  /** Something that was done because of a packet: part of its trace, where that is recorded. */
  ofPacket(traceId: TraceId | undefined, name: string, options?: SpanOptions): Span;
  /**
   * Something with a trace of its own, or that of a caller.
   *
   * @param traceparent the caller's header; what is none begins a new trace
   */
  begin(name: string, options?: SpanOptions, traceparent?: string): Span;
  /** Tells what waits to be told, as far as anybody listens; resolves within seconds. */
  close(): Promise<void>;
}

/** A span of which nobody hears. */
export const NO_SPAN: Span = {
  isRecorded: false,
  traceparent: null,
  child: () => NO_SPAN,
  note() {},
  rename() {},
  fail() {},
  end() {},
};

/** Where nobody asked for traces. */
export const NO_TRACING: Tracing = {
  isOn: false,
  nowMs: () => 0,
  recordsPacket: () => false,
  beginPacket: () => NO_SPAN,
  ofPacket: () => NO_SPAN,
  begin: () => NO_SPAN,
  close: async () => {},
};

/** So many packets are named by a span that is about many. */
const MAX_NAMED = 100;

/** Those of the packets whose traces are recorded, up to a bound; none where no traces are. */
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

/** Runs `work` in a span: whatever it throws is noted in it. */
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
