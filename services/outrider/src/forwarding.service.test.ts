import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyWebhook } from '@outrider/channels';
import type { TerminalId } from '@outrider/domain';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { depotDrive, playTo } from './depot-drive.fixture.ts';
import { inForce, type RunningService, startService } from './service.fixture.ts';
import { receiveWebhooks, type WebhookReceiver } from './webhook-receiver.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const TERMINALS = ['356307042441013', '356307042441021'] as TerminalId[];
const ENVIRONMENT = { WEBHOOK_ALLOW_PRIVATE: 'yes' };
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const PATH = '/api/v1/forwarding-destinations';

interface Item {
  type: string;
  vehicleId: string;
  fixTime: string;
}

let folder: string;
let service: RunningService | null = null;
let receiver: WebhookReceiver;
let isDown = false;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-forwarding-'));
  isDown = false;
  receiver = await receiveWebhooks(() => (isDown ? 503 : 204));
});
afterEach(async () => {
  receiver.close();
  await service?.kill();
  service = null;
  rmSync(folder, { recursive: true, force: true });
});

/** What came in batches that were confirmed, each item once. */
function itemsOf(bodies: readonly string[]): Map<string, string[]> {
  const times = new Map<string, string[]>();
  for (const body of bodies)
    for (const { type, vehicleId, fixTime } of JSON.parse(body).data.items as Item[]) {
      if (type !== 'position') continue;
      const known = times.get(vehicleId) ?? [];
      if (!known.includes(fixTime)) known.push(fixTime);
      times.set(vehicleId, known);
    }
  return times;
}

test('what terminals send reaches another system in order, though it was down and the service was killed', {
  timeout: 180_000,
}, async () => {
  service = await startService(folder, undefined, ENVIRONMENT);
  const vehicles: string[] = [];
  for (const [nth, terminalId] of TERMINALS.entries())
    vehicles.push(
      (await service.call<{ id: string }>('POST', '/api/v1/vehicles', { name: `Van ${nth}`, terminalId })).id,
    );
  const { id } = await service.call<{ id: string }>('POST', PATH, {
    kind: 'http',
    name: 'ERP',
    settings: { url: receiver.url },
    secret: SECRET,
    filter: { positions: true, events: true },
  });
  await inForce(service.ports.http);
  const minutes = (from: number) =>
    depotDrive(from, ...Array.from({ length: 10 }, (_, nth) => 13.4 + (from + nth) / 1000));
  const drive = async (from: number) => {
    for (const terminalId of TERMINALS) await playTo(service as RunningService, terminalId, minutes(from));
  };
  const wanted = (count: number) =>
    [...minutes(0), ...minutes(10)].slice(0, count).map(({ fixTimeMs }) => new Date(fixTimeMs).toISOString());
  const confirmed: string[] = [];
  let seen = 0;
  /** Batches that were answered with 204: those that came while it was up. */
  const collect = () => {
    for (; seen < receiver.received.length; seen++) if (!isDown) confirmed.push(receiver.received[seen]?.body ?? '');
    return itemsOf(confirmed);
  };
  await drive(0);
  await vi.waitFor(() => {
    for (const vehicle of vehicles) expect(collect().get(vehicle)).toEqual(wanted(10));
  }, PATIENCE);

  isDown = true;
  await drive(10);
  await vi.waitFor(async () => {
    const { progress } = await (service as RunningService).call<{ progress: { state: string; lastError: string } }>(
      'GET',
      `${PATH}/${id}`,
    );
    expect(progress).toMatchObject({ state: 'retrying', lastError: 'The endpoint answered 503.' });
  }, PATIENCE);
  await service.kill();
  seen = receiver.received.length;
  isDown = false;
  service = await startService(folder, service.ports, ENVIRONMENT);
  await vi.waitFor(() => {
    for (const vehicle of vehicles) expect(collect().get(vehicle)).toEqual(wanted(20));
  }, PATIENCE);
  await vi.waitFor(async () => {
    const { progress } = await (service as RunningService).call<{ progress: object }>('GET', `${PATH}/${id}`);
    expect(progress).toMatchObject({ state: 'running', failures: 0, lastError: null, gap: null });
  }, PATIENCE);
  for (const { headers, body } of receiver.received)
    expect(verifyWebhook({ headers, body }, SECRET, Date.now())).toBeNull();
  expect(await service.call('POST', `${PATH}/${id}/test`)).toMatchObject({ ok: true });
});
