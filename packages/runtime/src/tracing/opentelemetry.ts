import {
  type Context,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace as traces,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type PacketTrace, SYSTEM_CLOCK, type TraceId } from '@outrider/domain';
import type { Logger } from '../logger.ts';
import type { TracingConfig } from './settings.ts';
import { NO_SPAN, type Span, type SpanOptions, type Tracing } from './tracing.ts';

/** Maximum number of spans that wait for export; further ones are dropped. */
const MAX_QUEUE = 4096;
const MAX_BATCH = 512;
const EXPORT_INTERVAL_MS = 1000;
const EXPORT_TIMEOUT_MS = 10_000;
/** Time limit of the last export when the process stops. */
const CLOSE_WITHIN_MS = 2000;
/** Traces of packets beyond this are dropped: recording them would take the time that receiving packets needs. */
const MAX_PACKETS_PER_SECOND = 500;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT };
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Traces by the OpenTelemetry SDK, sent to a collector by OTLP/HTTP. An unavailable endpoint costs no more than its
 * queue.
 */
export function openOpenTelemetry(config: TracingConfig & { endpoint: string }, logger: Logger): Tracing {
  const ids = new PacketIds();
  const exporter = new OTLPTraceExporter({
    url: `${config.endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: { ...config.headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': config.serviceName, 'process.pid': process.pid }),
    sampler: orOfRecordedPackets(samplerOf(config)),
    idGenerator: ids,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: loggingFailures(exporter, config.endpoint, logger),
        maxQueueSize: MAX_QUEUE,
        maxExportBatchSize: MAX_BATCH,
        scheduledDelayMillis: EXPORT_INTERVAL_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  const tracer = provider.getTracer('outrider');
  const bound = packetBound(config);
  let second = 0;
  let begun = 0;

  function start(name: string, context: Context, { startMs, facts, packets, kind }: SpanOptions): Span {
    const span = tracer.startSpan(
      name,
      {
        startTime: timeOf(startMs ?? nowMs()),
        ...(kind && { kind: KINDS[kind] }),
        ...(facts && { attributes: { ...facts } }),
        ...(packets && { links: packets.map((id) => ({ context: firstSpanOf(id) })) }),
      },
      context,
    );
    return span.isRecording() || kind === 'server' ? new RecordedSpan(span, start) : NO_SPAN;
  }

  const records = ({ a, b, c, d }: PacketTrace) => (a ^ b ^ c ^ d) >>> 0 < bound;

  return {
    isOn: true,
    nowMs,
    recordsPacket: records,
    beginPacket(trace, name, options = {}) {
      if (!records(trace)) return NO_SPAN;
      const atMs = nowMs();
      if (Math.floor(atMs / 1000) !== second) {
        second = Math.floor(atMs / 1000);
        begun = 0;
      }
      if (++begun > MAX_PACKETS_PER_SECOND) return NO_SPAN;
      ids.next = trace.id;
      return start(name, ROOT_CONTEXT, options);
    },
    ofPacket(traceId, name, options = {}) {
      if (traceId === undefined || !records(wordsOf(traceId))) return NO_SPAN;
      return start(name, traces.setSpanContext(ROOT_CONTEXT, firstSpanOf(traceId)), options);
    },
    begin(name, options = {}, traceparent) {
      const parent = traceparent === undefined ? null : parentOf(traceparent);
      return start(name, parent === null ? ROOT_CONTEXT : traces.setSpanContext(ROOT_CONTEXT, parent), options);
    },
    async close() {
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = SYSTEM_CLOCK.after(CLOSE_WITHIN_MS, resolve);
      // Failed exports were logged when they happened.
      await Promise.race([provider.shutdown().catch(() => {}), late]);
      timer.cancel();
    },
  };
}

type Start = (name: string, context: Context, options: SpanOptions) => Span;

class RecordedSpan implements Span {
  readonly #span: OtelSpan;
  readonly #start: Start;

  constructor(span: OtelSpan, start: Start) {
    this.#span = span;
    this.#start = start;
  }

  get isRecorded(): boolean {
    return this.#span.isRecording();
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    return `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;
  }

  child(name: string, startMs?: number): Span {
    return this.#start(name, traces.setSpan(ROOT_CONTEXT, this.#span), startMs === undefined ? {} : { startMs });
  }

  note(facts: Readonly<Record<string, string | number | boolean>>): void {
    this.#span.setAttributes({ ...facts });
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  fail(reason: string): void {
    this.#span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
  }

  end(): void {
    this.#span.end(timeOf(nowMs()));
  }
}

/**
 * The first span of a packet takes its trace id from the packet, and its span id from that trace id, so that other
 * services can link to it.
 */
class PacketIds implements IdGenerator {
  readonly #random: IdGenerator = new RandomIdGenerator();
  next: TraceId | null = null;

  // A span's id is drawn before that of its trace.
  generateSpanId(): string {
    if (this.next !== null) return spanIdOf(this.next);
    return this.#random.generateSpanId();
  }

  generateTraceId(): string {
    const { next } = this;
    this.next = null;
    return next ?? this.#random.generateTraceId();
  }
}

function spanIdOf(traceId: string): string {
  return traceId.slice(16);
}

function firstSpanOf(traceId: string): SpanContext {
  return { traceId, spanId: spanIdOf(traceId), traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

function wordsOf(traceId: string): PacketTrace {
  const word = (n: number) => Number.parseInt(traceId.slice(8 * n, 8 * n + 8), 16) | 0;
  return { a: word(0), b: word(1), c: word(2), d: word(3) } as PacketTrace;
}

/** Null for an invalid header, which the specification says to ignore. */
function parentOf(traceparent: string): SpanContext | null {
  const [, traceId, spanId, flags, more] = TRACEPARENT.exec(traceparent.trim()) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  const version = traceparent.slice(0, 2);
  if (version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
}

function samplerOf({ sampler, share }: TracingConfig): Sampler {
  switch (sampler) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(share);
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) });
  }
}

/** A packet is recorded when the words of its id, combined by XOR, are below this number, as the SDK's sampler does. */
function packetBound({ sampler, share }: TracingConfig): number {
  if (sampler.endsWith('always_off')) return 0;
  if (sampler.endsWith('always_on') || share === 1) return 2 ** 32;
  return Math.floor(share * 0xffffffff);
}

/** Records every span that links to a packet: only recorded packets are linked to. */
function orOfRecordedPackets(sampler: Sampler): Sampler {
  return {
    shouldSample(context, traceId, name, kind, attributes, links) {
      if (links.length > 0) return { decision: SamplingDecision.RECORD_AND_SAMPLED };
      return sampler.shouldSample(context, traceId, name, kind, attributes, links);
    },
    toString: () => `LinkedTo{${sampler.toString()}}`,
  };
}

/** Logs once when the collector fails, and once when it has recovered. */
function loggingFailures(exporter: OTLPTraceExporter, endpoint: string, logger: Logger): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined || result.code !== 0;
        if (failed && !isFailing)
          logger.warn(
            { part: 'traces', endpoint, err: result.error },
            'the trace collector is unavailable; dropping traces',
          );
        if (!failed && isFailing) logger.info({ part: 'traces', endpoint }, 'the trace collector recovered');
        isFailing = failed;
        // Failed spans are dropped; the SDK would log each failure again.
        done({ code: 0 });
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
}

function nowMs(): number {
  return performance.timeOrigin + SYSTEM_CLOCK.steadyMs();
}

function timeOf(ms: number): [seconds: number, nanoseconds: number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.min(999_999_999, Math.round((ms - seconds * 1000) * 1e6))];
}
