import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blankPosition, type TerminalId } from '@outrider/domain';
import { type Collector, openCollector } from '@outrider/runtime/collector';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { depotDrive, playTo } from './depot-drive.fixture.ts';
import { readLog } from './log-reader.fixture.ts';
import { inForce, LiveRecorder, type RunningService, startService } from './service.fixture.ts';
import { receiveWebhooks, type WebhookReceiver } from './webhook-receiver.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const TERMINAL = '356307042441013' as TerminalId;
const ENVIRONMENT = { WEBHOOK_ALLOW_PRIVATE: 'yes', MAIL_TRUSTED_DOMAINS: 'example.com', LOG_LEVEL: 'debug' };

let folder: string;
let service: RunningService | null = null;
let receiver: WebhookReceiver;
let collector: Collector;
const live = new LiveRecorder();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-traces-'));
  // Busy at first, with every message: it is tried again.
  collector = await openCollector();
  receiver = await receiveWebhooks((_, times) => (times === 1 ? 503 : 204));
});
afterEach(async () => {
  live.close();
  receiver.close();
  await service?.kill();
  service = null;
  await collector.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A vehicle, and a rule that notifies about its entry into a depot on all channels. */
async function define({ call, ports }: RunningService): Promise<void> {
  const vehicle = await call<{ id: string }>('POST', '/api/v1/vehicles', { name: 'Van 7', terminalId: TERMINAL });
  await call('POST', '/api/v1/geozones', {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [13.405, 52.52] },
    properties: { name: 'Depot', shape: 'circle', radiusM: 200 },
  });
  await call('POST', '/api/v1/notification-rules', {
    name: 'Depot',
    eventKinds: ['geofence-visit'],
    phases: ['begin'],
    vehicleIds: [vehicle.id],
    timeZone: 'Europe/Berlin',
    maxDataAgeMinutes: 24 * 60,
    emails: ['dispatch@example.com'],
    webhook: { url: receiver.url },
  });
  await inForce(ports.http);
}

interface Notification {
  event: { traceId?: string; receivedAt?: string };
}
type Line = Record<string, unknown> & { msg: string; part: string; traceId?: string };
const loggerOf = ({ stderrText }: RunningService): Line[] =>
  stderrText()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

test('one id follows a packet from the gateway to its notification, in all logs', { timeout: 120_000 }, async () => {
  service = await startService(folder, undefined, ENVIRONMENT);
  await define(service);
  await live.connect(service);
  await playTo(service, TERMINAL, depotDrive(0, 13.4));
  await playTo(service, TERMINAL, depotDrive(1, 13.405));
  await vi.waitFor(() => expect(live.of('notification')).toHaveLength(1), PATIENCE);
  await vi.waitFor(() => expect(receiver.received).toHaveLength(2), PATIENCE);

  const packets = (await readLog(folder)).packets.map(({ value }) => value);
  expect(packets).toHaveLength(2);
  const packet = packets[1];
  const traceId = packet?.trace?.id;
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(packets[0]?.trace?.id).not.toBe(traceId);

  // Every channel gets the trace, and the time of reception.
  const cause = { traceId, receivedAt: new Date(packet?.receivedAtMs ?? 0).toISOString() };
  expect(live.of('notification')).toMatchObject([{ event: cause }]);
  const { items } = await service.call<{ items: Notification[] }>('GET', '/api/v1/notifications');
  expect(items).toMatchObject([{ event: cause }]);
  expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ data: { event: cause } });

  const running = service;
  const steps = () =>
    loggerOf(running)
      .filter((line) => line.traceId === traceId)
      .map(({ part, msg, channel, outcome, kind, phase }) =>
        [part, msg, kind, kind && phase, channel, outcome].filter((each) => each !== undefined).join(' '),
      );
  const expected = [
    'gateway packet taken',
    'rules event published geofence-visit begin',
    'notifications notification saved',
    'notifier event sent to live clients',
    'notifier notification sent to a live client',
    'deliveries delivery attempted email delivered',
    'deliveries delivery attempted webhook pending',
    'deliveries delivery attempted webhook delivered',
  ];
  await vi.waitFor(() => expect(steps()).toEqual(expect.arrayContaining(expected)), PATIENCE);

  // What comes late, and what is refused, can be found by an id as well.
  await playTo(service, TERMINAL, depotDrive(0.5, 13.402));
  await vi.waitFor(async () => {
    const late = (await readLog(folder)).packets.at(-1)?.value.trace?.id;
    const lines = loggerOf(running).filter(({ msg }) => msg === 'late data');
    expect(lines).toMatchObject([{ part: 'rules', traceId: late }]);
  }, PATIENCE);
  // Without tracing, answers name no trace.
  const plain = await fetch(`http://127.0.0.1:${service.ports.http}/health/live`);
  expect(plain.headers.get('traceresponse')).toBeNull();
  expect((await fetch(`http://127.0.0.1:${service.ports.osmand}/?id=nobody&lat=1&lon=2`)).status).toBe(404);
  await vi.waitFor(() => {
    const refused = loggerOf(running).filter(({ msg }) => msg === 'data of a terminal refused');
    expect(refused).toMatchObject([{ reason: 'unknown-terminal', traceId: expect.stringMatching(/^[0-9a-f]{32}$/) }]);
  }, PATIENCE);
});

test('with a collector, the same id is a trace of everything that followed from the packet', {
  timeout: 120_000,
}, async () => {
  service = await startService(folder, undefined, {
    ...ENVIRONMENT,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: 'fleet of a test',
    // Nobody reads the archive here.
    ARCHIVE_UNREAD_MS: '1000',
  });
  await define(service);
  await playTo(service, TERMINAL, depotDrive(0, 13.4));
  await playTo(service, TERMINAL, depotDrive(1, 13.405));
  await vi.waitFor(() => expect(receiver.received).toHaveLength(2), PATIENCE);
  const traceId = (await readLog(folder)).packets[1]?.value.trace?.id;
  const inTrace = () => collector.spans.filter((span) => span.traceId === traceId);
  await vi.waitFor(() => {
    const names = inTrace().map(({ name, facts }) => [name, facts['outrider.delivery.outcome']].join(' ').trim());
    expect(names.toSorted()).toEqual([
      'append',
      'decode',
      'deliver by email delivered',
      'deliver by webhook delivered',
      'deliver by webhook pending',
      'packet',
      'save notification',
    ]);
  }, PATIENCE);
  const packet = inTrace().find(({ name }) => name === 'packet');
  expect(packet).toMatchObject({
    service: 'fleet of a test',
    facts: { 'outrider.protocol': 'teltonika', 'outrider.terminal.id': TERMINAL, 'outrider.positions': 1 },
  });
  for (const span of inTrace()) if (span !== packet) expect(span.parentSpanId).toBe(packet?.spanId);
  // What took it along with others names it.
  await vi.waitFor(() => {
    const naming = collector.spans.filter(({ links }) => links.some(({ spanId }) => spanId === packet?.spanId));
    expect(naming.map(({ name }) => name).toSorted()).toEqual(['archive telemetry', 'rules batch']);
  }, PATIENCE);

  // A call is part of its caller's trace, and says so.
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const answer = await fetch(`http://127.0.0.1:${service.ports.http}/api/v1/vehicles`, {
    headers: { traceparent, authorization: `JWT ${service.jwt}` },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('traceresponse')).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
  await vi.waitFor(() => {
    const call = collector.spans.find(({ parentSpanId }) => parentSpanId === 'b7ad6b7169203331');
    expect(call).toMatchObject({
      name: 'GET /api/v1/vehicles',
      facts: { 'http.route': '/api/v1/vehicles', 'http.response.status_code': 200 },
    });
  }, PATIENCE);
  expect(await service.interrupt()).toBe(0);
});

test('an unavailable collector delays no packet and no call', { timeout: 120_000 }, async () => {
  collector.willAnswer(null);
  service = await startService(folder, undefined, { ...ENVIRONMENT, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  await define(service);
  const longitudes = Array.from({ length: 300 }, (_, nth) => 13.4 + nth / 50_000);
  await playTo(
    service,
    TERMINAL,
    longitudes.map((longitude, nth) => ({
      ...blankPosition(Date.now() - 20 * 60_000 + nth * 1000, 52.52, longitude),
      speedKmh: 40,
    })),
  );
  await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThanOrEqual(2), PATIENCE);
  const { items } = await service.call<{ items: Notification[] }>('GET', '/api/v1/notifications');
  expect(items.length).toBeGreaterThan(0);
  expect(await service.interrupt()).toBe(0);
});
