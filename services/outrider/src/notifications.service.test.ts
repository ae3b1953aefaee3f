import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyWebhook } from '@outrider/channels';
import type { TerminalId } from '@outrider/domain';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { depotDrive, playTo } from './depot-drive.fixture.ts';
import { inForce, LiveRecorder, type RunningService, startService } from './service.fixture.ts';
import { receiveWebhooks, type WebhookReceiver } from './webhook-receiver.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const TERMINAL = '356307042441013' as TerminalId;
const ENVIRONMENT = {
  WEBHOOK_ALLOW_PRIVATE: 'yes',
  MAIL_FROM: 'Fleet <fleet@example.com>',
  MAIL_TRUSTED_DOMAINS: 'example.com',
};

let folder: string;
let service: RunningService | null = null;
let receiver: WebhookReceiver;
const live = new LiveRecorder();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-notifications-'));
  // Busy at first, with every message: it is tried again.
  receiver = await receiveWebhooks((_, times) => (times === 1 ? 503 : 204));
});
afterEach(async () => {
  live.close();
  receiver.close();
  await service?.kill();
  service = null;
  rmSync(folder, { recursive: true, force: true });
});

interface Notification {
  number: number;
  event: { id: string; kind: string; phase: string };
}
const phases = (notifications: readonly Notification[]) =>
  notifications.map(({ number, event }) => `${number} ${event.kind} ${event.phase}`);
const received = () => live.of('notification') as unknown as Notification[];

test('a rule, the packets of a terminal, and the notification everywhere', { timeout: 120_000 }, async () => {
  service = await startService(folder, undefined, ENVIRONMENT);
  const { call } = service;
  const vehicle = await call<{ id: string }>('POST', '/api/v1/vehicles', { name: 'Van 7', terminalId: TERMINAL });
  const geofence = await call<{ id: string }>('POST', '/api/v1/geozones', {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [13.405, 52.52] },
    properties: { name: 'Depot', shape: 'circle', radiusM: 200 },
  });
  const rule = await call<{ id: string; webhook: { secret: string } }>('POST', '/api/v1/notification-rules', {
    name: 'Depot',
    eventKinds: ['geofence-visit'],
    phases: ['begin', 'end'],
    vehicleIds: [vehicle.id],
    geofenceIds: [geofence.id],
    timeZone: 'Europe/Berlin',
    maxDataAgeMinutes: 24 * 60,
    emails: ['dispatch@example.com'],
    webhook: { url: receiver.url },
  });
  await live.connect(service);
  await inForce(service.ports.http);

  // Live, with a cursor.
  await playTo(service, TERMINAL, depotDrive(0, 13.4, 13.405));
  await vi.waitFor(() => expect(phases(received())).toEqual(['1 geofence-visit begin']), PATIENCE);
  const [entry] = live.of('notification');
  expect(entry).toMatchObject({
    ruleId: rule.id,
    ruleName: 'Depot',
    vehicleName: 'Van 7',
    geofenceName: 'Depot',
    event: { vehicleId: vehicle.id, geofenceId: geofence.id },
    cursor: expect.stringMatching(/;n:1;/),
  });

  // Away while it leaves, comes in again, and the service is started anew: what was missed comes once, in order.
  live.close();
  await playTo(service, TERMINAL, depotDrive(2, 13.41, 13.405));
  expect(await service.interrupt()).toBe(0);
  service = await startService(folder, service.ports, ENVIRONMENT);
  await live.connect(service);
  await vi.waitFor(() => expect(received()).toHaveLength(3), PATIENCE);
  await playTo(service, TERMINAL, depotDrive(4, 13.41));
  await vi.waitFor(() => expect(received()).toHaveLength(4), PATIENCE);
  const all = ['1 geofence-visit begin', '2 geofence-visit end', '3 geofence-visit begin', '4 geofence-visit end'];
  expect(phases(received())).toEqual(all);

  // In the inbox, the newest first.
  const inbox = await call<{ items: Notification[]; unreadCount: number }>('GET', '/api/v1/notifications');
  expect(phases(inbox.items)).toEqual(all.toReversed());
  expect(inbox.unreadCount).toBe(4);

  // As files, one for each, from who is set to send them.
  const mails = () =>
    readdirSync(join(folder, 'mail'))
      .filter((name) => name.endsWith('.eml'))
      .map((name) => readFileSync(join(folder, 'mail', name), 'utf8'));
  await vi.waitFor(() => expect(mails()).toHaveLength(4), PATIENCE);
  const subjects = mails().map((mail) => /^Subject: (.*)$/m.exec(mail)?.[1]?.trim());
  expect(subjects.filter((subject) => subject === "Vehicle event: 'Van 7' entered 'Depot'")).toHaveLength(2);
  expect(subjects.filter((subject) => subject?.startsWith("Vehicle event: 'Van 7' left 'Depot' after"))).toHaveLength(
    2,
  );
  for (const mail of mails()) {
    expect(mail).toMatch(/^From: Fleet <fleet@example.com>/m);
    expect(mail).toMatch(/^To: dispatch@example.com/m);
  }

  // Signed, by webhook: each refused at first, and then taken with the same id.
  type Deliveries = { items: { id: string; state: string; attempts: number; responseStatus: number }[] };
  const deliveries = () => call<Deliveries>('GET', '/api/v1/webhook-deliveries');
  await vi.waitFor(
    async () => expect((await deliveries()).items.map(({ state }) => state)).toEqual(Array(4).fill('delivered')),
    PATIENCE,
  );
  const { items } = await deliveries();
  expect(items.map(({ attempts, responseStatus }) => [attempts, responseStatus])).toEqual(Array(4).fill([2, 204]));
  expect(receiver.received.map(({ id }) => id).toSorted()).toEqual(items.flatMap(({ id }) => [id, id]).toSorted());
  for (const request of receiver.received) expect(verifyWebhook(request, rule.webhook.secret, Date.now())).toBeNull();
  const bodies = receiver.received.map(({ body }) => JSON.parse(body) as { type: string; data: Notification });
  expect(new Set(bodies.map(({ type, data }) => `${type} ${data.number}`))).toEqual(
    new Set(['geofence-visit.begin 1', 'geofence-visit.end 2', 'geofence-visit.begin 3', 'geofence-visit.end 4']),
  );

  // And once more on demand, with the same id still.
  const [first] = items;
  await call('POST', `/api/v1/webhook-deliveries/${first?.id}/resend`);
  await vi.waitFor(() => expect(receiver.received).toHaveLength(9), PATIENCE);
  expect(receiver.received.at(-1)?.id).toBe(first?.id);

  // The test of the rule finds the same events that it notified.
  await vi.waitFor(async () => {
    const trial = await call<{ matched: Notification['event'][] }>(
      'POST',
      `/api/v1/notification-rules/${rule.id}/test`,
    );
    const keys = (events: readonly Notification['event'][]) =>
      events.map(({ id, phase }) => `${id} ${phase}`).toSorted();
    expect(keys(trial.matched)).toEqual(keys(inbox.items.map(({ event }) => event)));
  }, PATIENCE);
});
