import { REPORT_JOB_CHANNEL } from '@outrider/domain';
import { createLogger, Metrics } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Place, visit } from '../test-notifier.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const BOUND_BYTES = 8_000_000;
const SLOW_READERS = 20;
const FAST_READERS = 3;
const ROUNDS = 30;
const MESSAGES_PER_ROUND = 10;
/** More than the operating system takes for a peer that reads nothing. */
const MESSAGE_BYTES = 50_000;

let place: Place;

beforeEach(async () => {
  place = await new Place().open();
});
afterEach(() => place.close());

async function sampleOf(metrics: Metrics, name: string): Promise<number> {
  const { values = [] } = (await metrics.getSingleMetric(name)?.get()) ?? {};
  return values.reduce((sum, { value }) => sum + value, 0);
}

test('a client that reads nothing for a while as it catches up gets each event once, and little waits for it', async () => {
  const user = await place.addUser('user', []);
  const { groupIds } = user;
  const car = await place.addVehicle('car', groupIds);
  const zone = await place.addGeofence('zone', user.id);
  await place.relay();
  const count = 15_000;
  await place.happen(...Array.from({ length: count }, (_, nth) => visit(car.id, zone, nth)));
  const metrics = new Metrics();
  await place.startLive({ metrics });
  // One that had events would go on where it is.
  const client = await place.connect(user, { all: true, events: false });
  client.socket.pause();
  client.say({ type: 'subscribe', all: true, positions: false, since: '0:0' });
  await vi.waitFor(
    async () => expect(await sampleOf(metrics, 'outrider_live_unsent_bytes')).toBeGreaterThan(200_000),
    PATIENCE,
  );
  const other = await place.connect(user, { all: true });
  for (let turn = 1; turn <= 20; turn++) {
    other.say({ type: 'subscribe', all: true });
    await other.receives('resumed', turn + 1);
    expect(await sampleOf(metrics, 'outrider_live_unsent_bytes')).toBeLessThan(400_000);
  }
  client.socket.resume();
  await client.receives('resumed', 2);
  expect(client.of('event').map(({ startedAt }) => startedAt)).toEqual(
    Array.from({ length: count }, (_, nth) => new Date(visit(car.id, zone, nth).startedAtMs).toISOString()),
  );
  expect(client.of('resumed')[1]).toMatchObject({ missed: count });
});

test('many slow readers: memory is bounded, those with the most are disconnected, fast readers miss nothing', async () => {
  const group = await place.registry.groups.create({ name: 'Fleet', dealerId: null });
  const user = await place.addUser('user', [group.id]);
  const car = await place.addVehicle('car', [group.id]);
  const zone = await place.addGeofence('zone', user.id);
  await place.relay();
  const metrics = new Metrics();
  const logger = createLogger('silent', 'json');
  const warn = vi.spyOn(logger, 'warn');
  await place.startLive({
    config: { maxConnections: 100, maxPerUser: 100, maxPerAddress: 100, maxUnsentBytes: BOUND_BYTES },
    metrics,
    logger,
  });
  const connected = (count: number) => Promise.all(Array.from({ length: count }, () => place.connect(user)));
  const slow = await connected(SLOW_READERS);
  const fast = await connected(FAST_READERS);
  const codes: number[] = [];
  for (const { socket } of slow) {
    socket.on('close', (code) => codes.push(code));
    socket.pause();
  }

  const job = { userId: user.id, state: 'failed', error: 'x'.repeat(MESSAGE_BYTES), finishedAtMs: Date.now() };
  let mostBytes = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    for (let nth = 0; nth < MESSAGES_PER_ROUND; nth++) {
      await place.hub.publish(REPORT_JOB_CHANNEL, JSON.stringify(job));
      await new Promise((resolve) => setImmediate(resolve));
      mostBytes = Math.max(mostBytes, await sampleOf(metrics, 'outrider_live_unsent_bytes'));
    }
    await place.happen(visit(car.id, zone, round));
    for (const client of fast) {
      await client.receives('report-job', round * MESSAGES_PER_ROUND);
      await client.receives('event', round);
    }
  }

  // What all of them are sent in one turn of the event loop comes on top.
  expect(mostBytes).toBeLessThan(BOUND_BYTES + 2 * (SLOW_READERS + FAST_READERS) * MESSAGE_BYTES);
  expect(mostBytes).toBeGreaterThan(BOUND_BYTES / 2);
  const disconnected = await sampleOf(metrics, 'outrider_live_slow_disconnects_total');
  expect(disconnected).toBeGreaterThan(SLOW_READERS / 2);
  for (const client of fast) {
    expect(client.of('report-job')).toHaveLength(ROUNDS * MESSAGES_PER_ROUND);
    expect(client.of('event').map(({ startedAt }) => startedAt)).toEqual(
      Array.from({ length: ROUNDS }, (_, nth) => new Date(visit(car.id, zone, nth + 1).startedAtMs).toISOString()),
    );
  }
  for (const { socket } of slow) socket.resume();
  await vi.waitFor(() => expect(codes.length).toBeGreaterThanOrEqual(disconnected), PATIENCE);
  expect(codes).toContain(4408);
  await vi.waitFor(() => expect(warn).toHaveBeenCalledTimes(1), PATIENCE);
  expect(warn).toHaveBeenCalledWith(expect.anything(), 'disconnected slow live clients');
});
