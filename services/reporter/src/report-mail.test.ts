import { MailPolicy } from '@outrider/access';
import type { EmailMessage, SendResult } from '@outrider/channels';
import { type Directory, type JobId, Turns, type User, VEHICLE_DEFAULTS, type Vehicle } from '@outrider/domain';
import { followRegistry, type Registry } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { Metrics, type Part } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
import type { Language } from '@outrider/words';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createReportMail } from './report-mail.ts';

const PATIENCE = { timeout: 60_000, interval: 5 };
const CONTENT = 'vehicleId,vehicleName\r\n';

let nowMs: number;
let registry: Registry;
let directory: Directory;
let owner: User;
let van: Vehicle;
let mailer: Part | null;
let sent: EmailMessage[];
let answer: (message: EmailMessage) => SendResult;

beforeEach(async () => {
  nowMs = Date.UTC(2026, 0, 15, 12);
  registry = await openTestRegistry({ now: () => nowMs });
  ({ directory } = await followRegistry(registry));
  const group = await registry.groups.create({ name: 'North', dealerId: null });
  owner = await registry.users.create(
    {
      login: 'anna',
      name: 'Anna',
      role: 'user',
      dealerId: null,
      blocked: false,
      apiAccess: true,
      groupIds: [group.id],
    },
    'long enough a password',
  );
  van = await registry.vehicles.create({
    name: 'Van',
    dealerId: null,
    groupIds: [group.id],
    ...VEHICLE_DEFAULTS,
  });
  mailer = null;
  sent = [];
  answer = () => ({ ok: true, status: null });
});
afterEach(async () => {
  await mailer?.stop();
  await registry.close();
});

async function start(maxAttachmentBytes = 1000): Promise<void> {
  mailer = createReportMail({
    config: { maxAttachmentBytes, publicUrl: 'https://fleet.example.com', pollMs: 1 },
    registry,
    directory,
    files: { get: async () => ReadableStream.from([Buffer.from(CONTENT)]) },
    email: {
      send: async (message) => {
        sent.push(message);
        return answer(message);
      },
    },
    mailPolicy: new MailPolicy(
      {
        publicUrl: 'https://fleet.example.com',
        isTrusted: () => true,
        perAddress: { perHour: 1000, perDay: 1000 },
        perOwner: { perHour: 1000, perDay: 1000 },
      },
      registry,
      new Metrics(),
      () => nowMs,
    ),
    logger: { debug() {}, info() {}, warn() {}, error() {}, fatal() {} },
    metrics: new Metrics(),
    clock: clockAt(() => nowMs),
    random: () => 0.5,
  });
  await mailer.start();
}

/** A report of a schedule that is made, or failed. */
async function made(failure: { error: string; reason: string } | null = null, language?: Language): Promise<JobId> {
  const report = {
    ...{ report: 'mileage', format: 'csv', vehicleId: null, groupId: null },
    ...(language && { language }),
  };
  await registry.reportSchedules.create({
    ownerId: owner.id,
    name: 'Every morning',
    active: true,
    frequency: 'daily',
    hour: 6,
    covers: 'yesterday',
    timeZone: 'Europe/Berlin',
    report,
    emails: ['a@example.com', 'b@example.com'],
  });
  nowMs += 86_400_000;
  const timeRange = { fromMs: Date.UTC(2026, 0, 14, 23), toMs: Date.UTC(2026, 0, 15, 23), timeZone: 'Europe/Berlin' };
  await registry.reportSchedules.runDue(
    () => ({ kind: 'report', subjectId: null, parameters: { ...report, ...timeRange } }),
    10,
  );
  const leased = await registry.jobs.lease({ kinds: ['report'], leaseMs: 1000, atOnce: 1 });
  if (leased === null) throw new Error('it was due');
  const file = { name: 'mileage.csv', mediaType: 'text/csv', bytes: CONTENT.length, sha256: 'ab'.repeat(32) };
  if (failure === null)
    await registry.reportFiles.finish(
      leased,
      { rows: 7, bytes: file.bytes, summary: ['Distance: 120 km', 'Trips: 9'] },
      { id: 'report-file', ...file, vehicleIds: [van.id], geofenceIds: [] },
    );
  else await registry.reportFiles.fail(leased, failure.error, failure.reason);
  return leased.job.id;
}
const untilCounts = (counts: Record<string, number>) =>
  vi.waitFor(
    async () => expect(Object.fromEntries(await registry.reportDeliveries.counts())).toEqual(counts),
    PATIENCE,
  );

test('a report goes to each address, with its file', async () => {
  await made();
  await start();
  await untilCounts({ delivered: 2 });
  expect(sent.map(({ to }) => to).toSorted()).toEqual([['a@example.com'], ['b@example.com']]);
  expect(new Set(sent.map(({ id }) => id)).size).toBe(2);
  const [message] = sent;
  expect(message?.subject).toBe('Report Mileage, 2026-01-15');
  expect(message?.text).toContain('Rows: 7\nDistance: 120 km\nTrips: 9\n');
  expect(message?.text).toContain("Schedule: 'Every morning'");
  expect(message?.unsubscribeUrl).toMatch(/^https:\/\/fleet\.example\.com\/email\/unsubscribe\?token=/);
  expect(message?.attachments).toMatchObject([{ name: 'Mileage 2026-01-15.csv', mediaType: 'text/csv' }]);
  expect(Buffer.from(message?.attachments?.[0]?.content ?? []).toString()).toBe(CONTENT);
});

test('of one that is too large it is said where it is', async () => {
  const id = await made();
  await start(CONTENT.length - 1);
  await untilCounts({ delivered: 2 });
  expect(sent[0]?.attachments).toBeUndefined();
  expect(sent[0]?.text).toContain(`https://fleet.example.com/api/v1/report-jobs/${id}/file`);
});

test('of one that could not be made it is said why', async () => {
  await made({ error: 'It takes more rows than one may.', reason: 'too-large' });
  await start();
  await untilCounts({ delivered: 2 });
  expect(sent[0]).toMatchObject({ subject: 'Report Mileage, 2026-01-15 could not be created' });
  expect(sent[0]?.text).toContain('Reason: It is too large. Request fewer vehicles or a shorter time range.\n');
});

test('all of it is in the language and the time zone of its reader, Hebrew from right to left', async () => {
  await registry.preferences.change(owner.id, () => ({ language: 'ru', timeZone: 'Asia/Tokyo' }));
  await made();
  await start();
  await untilCounts({ delivered: 2 });
  const [message] = sent;
  expect(message?.subject).toMatch(/^Отчёт «Пробег», 15 янв\. 2026/);
  expect(message?.text).toContain("Расписание: 'Every morning'\nСтрок: 7\nDistance: 120 km\n");
  expect(message?.text).toMatch(/Сформирован: .* \+09:00 \(Asia\/Tokyo\)\n/);
  expect(message?.text).toContain('Отписаться: https://');
  expect(message?.unsubscribeUrl).toContain('&language=ru');
  expect(message?.attachments?.[0]?.name).toBe('Пробег 2026-01-15.csv');
  expect(message?.html).toContain('<html lang="ru" dir="ltr">');
});

test('the language of a schedule is that of its mails', async () => {
  await registry.preferences.change(owner.id, () => ({ language: 'ru' }));
  await made({ error: 'It takes more rows than one may.', reason: 'too-large' }, 'he');
  await start();
  await untilCounts({ delivered: 2 });
  expect(sent[0]?.html).toContain('<body dir="rtl"');
  expect(sent[0]?.text).toContain('סיבה: הדוח גדול מדי');
  expect(sent[0]?.text).toContain('ביטול קבלת הודעות: https://');
});

test('what fails for now is tried again later, with the same id, and given up after a day', async () => {
  answer = ({ to }) =>
    to[0] === 'a@example.com'
      ? { ok: false, retry: true, error: 'busy', status: 450 }
      : { ok: false, retry: false, error: 'no such mailbox', status: 550 };
  await made();
  await start();
  await untilCounts({ pending: 1, failed: 1 });
  expect(sent).toHaveLength(2);
  await vi.waitFor(async () => {
    nowMs += 3_600_000;
    expect(Object.fromEntries(await registry.reportDeliveries.counts())).toEqual({ failed: 2 });
  }, PATIENCE);
  const tries = sent.filter(({ to }) => to[0] === 'a@example.com');
  expect(tries.length).toBeGreaterThan(3);
  expect(new Set(tries.map(({ id }) => id)).size).toBe(1);
});

test.each<[string, () => Promise<unknown>]>([
  ['the right is lost', () => registry.vehicles.update(van.id, null, { groupIds: [] })],
  ['the owner is blocked', () => registry.users.update(owner.id, null, { blocked: true })],
  ['the owner is gone', () => registry.users.delete(owner.id, null)],
])('nothing is sent when %s', async (_, happens) => {
  await made();
  await happens();
  await start();
  await untilCounts({ cancelled: 2 });
  expect(sent).toEqual([]);
});

test('nothing is sent to an address that was taken out', async () => {
  await made();
  const [schedule] = (await registry.reportSchedules.list({}, { limit: 1, after: null })).items;
  if (schedule === undefined) throw new Error('there is one');
  await registry.reportSchedules.update(schedule.id, null, { emails: ['b@example.com'] });
  await start();
  await untilCounts({ cancelled: 1, delivered: 1 });
});

test('what was taken by one who died is sent by another', async () => {
  await made();
  expect(await registry.reportDeliveries.lease(10, 1000, new Turns())).toHaveLength(2);
  const leased = vi.spyOn(registry.reportDeliveries, 'lease');
  await start();
  await vi.waitFor(() => expect(leased.mock.settledResults.length).toBeGreaterThan(2), PATIENCE);
  expect(sent).toEqual([]);
  nowMs += 1000;
  await untilCounts({ delivered: 2 });
});
