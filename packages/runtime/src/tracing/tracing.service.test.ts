import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { promisify } from 'node:util';
import { TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import { PacketTrace } from '@outrider/domain';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readConfig } from '../config.ts';
import type { Logger } from '../logger.ts';
import { type Collector, openCollector } from './collector.fixture.ts';
import { openTracing } from './open.ts';
import { type TracingConfig, tracingConfigOf, tracingVariables } from './settings.ts';
import { inSpan, NO_SPAN, NO_TRACING, recordedAmong, type Tracing } from './tracing.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
const word = () => randomInt(2 ** 32) | 0;
const someTrace = () => new PacketTrace(word(), word(), word() | 1, word());

let collector: Collector;
let tracing: Tracing;
let lines: { level: string; what: string }[] = [];

/** Writes to the lines of this test, however long what it is given to goes on. */
function loggerOfTest(): Logger {
  const own = lines;
  const write = (level: string) => (_: object, what: string) => own.push({ level, what });
  const levels = ['debug', 'info', 'warn', 'error', 'fatal'];
  return Object.fromEntries(levels.map((level) => [level, write(level)])) as unknown as Logger;
}

async function open(more: Partial<TracingConfig> = {}): Promise<Tracing> {
  tracing = await openTracing(
    {
      endpoint: collector.url,
      headers: {},
      serviceName: 'a test',
      sampler: 'parentbased_always_on',
      share: 1,
      ...more,
    },
    loggerOfTest(),
  );
  return tracing;
}

beforeEach(async () => {
  collector = await openCollector();
  lines = [];
  tracing = NO_TRACING;
});
afterEach(async () => {
  await tracing.close();
  await collector.close();
});

describe('exported spans', () => {
  test('a packet, its parts, and what others did because of it, are one trace under the packet’s id', async () => {
    const gateway = await open({ headers: { authorization: 'Bearer of a test' } });
    const trace = someTrace();
    const startMs = gateway.nowMs() - 5;
    const packet = gateway.beginPacket(trace, 'packet', {
      kind: 'server',
      startMs,
      facts: { 'outrider.positions': 3 },
    });
    packet.child('decode', startMs).end();
    const append = packet.child('append');
    append.end();
    packet.end();
    await gateway.close();

    // Another process, which knows the id alone.
    const notifier = await open({ serviceName: 'another' });
    const save = notifier.ofPacket(trace.id, 'save');
    const failed = inSpan(save.child('insert'), () => Promise.reject(new Error('away')));
    await expect(failed).rejects.toThrow('away');
    save.end();
    const batch = notifier.begin('batch', { packets: [trace.id, someTrace().id] });
    batch.end();
    await notifier.close();

    const named = Object.fromEntries(collector.spans.map((span) => [span.name, span]));
    expect(Object.keys(named).sort()).toEqual(['append', 'batch', 'decode', 'insert', 'packet', 'save']);
    const { packet: first } = named;
    expect(first).toMatchObject({
      service: 'a test',
      traceId: trace.id,
      parentSpanId: undefined,
      kind: 2,
      facts: { 'outrider.positions': 3 },
    });
    for (const part of ['decode', 'append', 'save'])
      expect(named[part]).toMatchObject({ traceId: trace.id, parentSpanId: first?.spanId });
    expect(named.insert).toMatchObject({ parentSpanId: named.save?.spanId, failed: true, service: 'another' });
    expect(named.batch?.traceId).not.toBe(trace.id);
    expect(named.batch?.links[0]).toEqual({ traceId: trace.id, spanId: first?.spanId });
    expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(6);
    // Begun when the bytes came, before anybody knew that it is a packet.
    expect((first?.endNs ?? 0n) - (first?.startNs ?? 0n)).toBeGreaterThanOrEqual(5_000_000n);
    expect(named.decode?.startNs).toBe(first?.startNs);
    expect(collector.headers[0]?.authorization).toBe('Bearer of a test');
  });

  test('a caller’s trace is gone on with, and what is no header of one is none', async () => {
    await open();
    const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const span = tracing.begin('GET', { kind: 'server' }, parent);
    expect(span.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
    span.end();
    const none = [
      '',
      'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      '00-00000000000000000000000000000000-b7ad6b7169203331-01',
      '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
      '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01',
      '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more',
      `${parent}\n`.repeat(1000),
    ];
    for (const header of none)
      expect(tracing.begin('GET', { kind: 'server' }, header).traceparent).not.toContain('0af7651916cd43dd');
    // A request that its caller does not record is not exported; the response still names its trace.
    const unrecorded = tracing.begin('GET', { kind: 'server' }, parent.replace(/01$/, '00'));
    expect(unrecorded).toMatchObject({ isRecorded: false, traceparent: expect.stringMatching(/^00-0af7.*-00$/) });
    expect(unrecorded.child('part')).toBe(NO_SPAN);
  });

  test('every service records the same packets, by their ids, and those are the share that is asked for', async () => {
    const [one, other] = [
      await open({ sampler: 'parentbased_traceidratio', share: 0.1 }),
      await open({ sampler: 'traceidratio', share: 0.1 }),
    ];
    const sdk = new TraceIdRatioBasedSampler(0.1);
    const records = Array.from({ length: 20_000 }, () => ({ value: { trace: someTrace() } }));
    let recorded = 0;
    for (const { value } of records) {
      const { trace } = value;
      const is = one.recordsPacket(trace);
      if (is) recorded++;
      expect(other.recordsPacket(trace)).toBe(is);
      expect(sdk.shouldSample(null as never, trace.id).decision === 2).toBe(is);
      expect(other.ofPacket(trace.id, 'save').isRecorded).toBe(is);
    }
    expect(recorded).toBeGreaterThan(1700);
    expect(recorded).toBeLessThan(2300);
    // A span about many names some.
    expect(recordedAmong(one, records)).toHaveLength(100);
    await one.close();
  });

  test('traces of packets are limited in each second', async () => {
    await open();
    const begun = Array.from({ length: 5000 }, () => tracing.beginPacket(someTrace(), 'packet').isRecorded);
    const recorded = begun.filter(Boolean).length;
    // It may take longer than a second, but not that much.
    expect(recorded).toBeGreaterThanOrEqual(500);
    expect(recorded).toBeLessThan(5000);
  });

  test('a sampler that is always off exports nothing', async () => {
    await open({ sampler: 'always_off' });
    expect(tracing.recordsPacket(someTrace())).toBe(false);
    expect(tracing.beginPacket(someTrace(), 'packet')).toBe(NO_SPAN);
    expect(tracing.begin('job')).toBe(NO_SPAN);
  });
});

describe('an unavailable collector', () => {
  test.each([
    ['refuses connections', () => collector.close()],
    ['answers nothing', () => collector.willAnswer(null)],
    ['answers that it can not', () => collector.willAnswer(503)],
  ])('%s: spans are dropped, nothing waits for it, and that is logged once', async (_, goAway) => {
    await goAway();
    await open();
    for (let round = 0; round < 20; round++) {
      for (let n = 0; n < 1000; n++) tracing.begin('job', { facts: { round, n } }).end();
      // Nothing of it keeps the event loop to itself.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await tracing.close();
    expect(lines.filter(({ level }) => level === 'warn').length).toBeLessThanOrEqual(1);
  });

  test('receives spans again when it has recovered', async () => {
    collector.willAnswer(400);
    await open();
    tracing.begin('lost').end();
    await vi.waitFor(() => expect(lines).toMatchObject([{ level: 'warn' }]), PATIENCE);
    collector.willAnswer(200);
    tracing.begin('found').end();
    await vi.waitFor(() => expect(collector.spans.map(({ name }) => name)).toEqual(['found']), PATIENCE);
    // The collector has the spans a moment before its response arrives.
    await vi.waitFor(() => expect(lines).toMatchObject([{ level: 'warn' }, { level: 'info' }]), PATIENCE);
  });
});

describe('what is set', () => {
  const read = (environment: NodeJS.ProcessEnv) =>
    tracingConfigOf(readConfig(tracingVariables, environment), 'outrider-gateway');

  test('the standard variables say where traces go, and which', () => {
    expect(read({})).toEqual({
      endpoint: null,
      headers: {},
      serviceName: 'outrider-gateway',
      sampler: 'parentbased_always_on',
      share: 1,
    });
    expect(
      read({
        OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector:4318',
        OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20key, x=1=2',
        OTEL_SERVICE_NAME: 'fleet',
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.25',
      }),
    ).toEqual({
      endpoint: 'https://collector:4318',
      headers: { 'api-key': 'a key', x: '1=2' },
      serviceName: 'fleet',
      sampler: 'traceidratio',
      share: 0.25,
    });
  });

  test('what can not be meant is refused, and a secret is not repeated', () => {
    for (const [name, value] of [
      ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
      ['OTEL_EXPORTER_OTLP_HEADERS', 'a secret'],
      ['OTEL_EXPORTER_OTLP_HEADERS', 'key=%'],
      ['OTEL_TRACES_SAMPLER', 'all'],
      ['OTEL_TRACES_SAMPLER_ARG', '2'],
      ['OTEL_TRACES_SAMPLER_ARG', 'x'],
    ] as const)
      expect(() => read({ [name]: value })).toThrow(name);
    expect(() => read({ OTEL_EXPORTER_OTLP_HEADERS: 'a secret' })).not.toThrow('a secret');
  });

  test('where no collector is set, nothing of OpenTelemetry is loaded', async () => {
    const loaded = (endpoint: string | null) => `
      import { registerHooks } from 'node:module';
      const seen = [];
      registerHooks({ load(url, context, next) { seen.push(url); return next(url, context); } });
      const { openTracing } = await import(${JSON.stringify(new URL('./open.ts', import.meta.url).href)});
      const logger = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
      await openTracing({ endpoint: ${JSON.stringify(endpoint)}, headers: {}, serviceName: 's', sampler: 'always_off', share: 1 }, logger);
      console.log(seen.filter((url) => url.includes('opentelemetry')).length);
    `;
    const run = async (endpoint: string | null) => {
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', loaded(endpoint)]);
      return Number(stdout);
    };
    expect(await run(null)).toBe(0);
    expect(await run('http://127.0.0.1:9')).toBeGreaterThan(0);
  });
});
