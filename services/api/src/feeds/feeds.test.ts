import { blankPosition, type FleetEvent, type GeofenceId, type VehicleId } from '@outrider/domain';
import { sampleGeofenceFields } from '@outrider/domain/samples';
import { correctionsTopic, eventsTopic, telemetryTopic } from '@outrider/log';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import {
  anna,
  bearer,
  closeFeeds,
  EVENTS,
  event,
  from,
  idsOf,
  log,
  metrics,
  NDJSON,
  north,
  open,
  openFeeds,
  operator,
  PATIENCE,
  POSITIONS,
  packet,
  read,
  readAll,
  restart,
  SSE,
  south,
  T0,
  truck,
  van,
  world,
} from './feeds.fixture.ts';

beforeEach(openFeeds);
afterEach(closeFeeds);

describe('a page of events', () => {
  test('begins with what comes from now on, and goes on by cursor: each event once, in both phases', async () => {
    await log.append(eventsTopic, [event(van)]);
    const first = await read(EVENTS);
    expect(first).toMatchObject({ items: [], lagSeconds: 0 });
    const begin = event(van);
    const end = { ...begin, phase: 'end', endedAtMs: T0 + 90_000, endReason: 'switched-off' } as FleetEvent;
    await log.append(eventsTopic, [begin]);
    await log.append(eventsTopic, [end]);
    const one = await read(from(EVENTS, first.nextCursor, '&limit=1'));
    expect(one.items).toMatchObject([{ id: begin.id, phase: 'begin', endedAt: null, origin: 'live' }]);
    const two = await read(from(EVENTS, one.nextCursor));
    expect(two.items).toMatchObject([{ id: begin.id, phase: 'end', endedAt: new Date(T0 + 90_000).toISOString() }]);
    expect(two.lagSeconds).toBe(0);
    expect((await read(from(EVENTS, two.nextCursor))).items).toEqual([]);
    // The same cursor gives the same again.
    expect((await read(from(EVENTS, first.nextCursor))).items).toEqual([...one.items, ...two.items]);
  });

  test('begins with the oldest, or at a time by which it became known, where it is asked to', async () => {
    const early = [event(van), event(truck)];
    await log.append(eventsTopic, early);
    const boundaryMs = Math.max(
      ...(await Promise.all([0, 1, 2].map(async (nth) => (await log.writtenAtMs(eventsTopic, nth, 0)) ?? 0))),
    );
    let later = event(van);
    await vi.waitFor(async () => {
      later = event(van);
      await log.append(eventsTopic, [later]);
      const ends = [...(await log.endOffsets(eventsTopic))];
      const times = await Promise.all(ends.map(([nth, end]) => log.writtenAtMs(eventsTopic, nth, end - 1)));
      expect(Math.max(...times.map((time) => time ?? 0))).toBeGreaterThan(boundaryMs);
    }, PATIENCE);
    const all = await read(`${EVENTS}?from=earliest`);
    expect(all.items.length).toBeGreaterThanOrEqual(3);
    const since = await read(`${EVENTS}?from=${new Date(boundaryMs + 1).toISOString()}`);
    expect(idsOf(since.items)).toContain(later.id);
    for (const { id } of early) expect(idsOf(since.items)).not.toContain(id);
    expect(idsOf(all.items)).toEqual(expect.arrayContaining([...early.map(({ id }) => id), ...idsOf(since.items)]));
  });

  test('waits for the first event, as long as it was asked to', async () => {
    const { nextCursor } = await read(EVENTS);
    const waiting = read(from(EVENTS, nextCursor, '&waitSeconds=60'));
    const late = event(van);
    await log.append(eventsTopic, [late]);
    expect(idsOf((await waiting).items)).toEqual([late.id]);
    const nothing = await read(from(EVENTS, (await waiting).nextCursor, '&waitSeconds=1'));
    expect(nothing.items).toEqual([]);
  });

  test('says how far behind it is', async () => {
    await log.append(eventsTopic, [event(van)]);
    const { nextCursor } = await read(`${EVENTS}?from=earliest`);
    await log.append(eventsTopic, [event(van), event(van), event(van)]);
    const writtenAtMs = Math.max(
      ...(await Promise.all([0, 1, 2].map(async (nth) => (await log.writtenAtMs(eventsTopic, nth, 1)) ?? 0))),
    );
    world.nowMs = writtenAtMs + 90_000;
    const { jwt } = await world.member('late', 'operator');
    const page = await read(from(EVENTS, nextCursor, '&limit=1'), jwt);
    expect(page.items).toHaveLength(1);
    expect(page.lagSeconds).toBe(90);
    expect((await read(from(EVENTS, page.nextCursor), jwt)).lagSeconds).toBe(0);
  });

  test('has what late data and recalculations make of the past: new, changed and removed events', async () => {
    const known = event(van, { phase: 'end', endedAtMs: T0 + 60_000, endReason: 'switched-off' } as never);
    const never = event(van);
    await log.append(eventsTopic, [known, never]);
    const { nextCursor } = await readAll(EVENTS, null).then(({ cursor }) => ({ nextCursor: cursor }));
    const found = event(van, { origin: 'recalculated' });
    const changed = { ...known, endedAtMs: T0 + 30_000, origin: 'recalculated' } as FleetEvent;
    await log.append(correctionsTopic, [
      { event: never, removed: true },
      { event: changed, removed: false },
      { event: found, removed: false },
    ]);
    const { items } = await read(from(EVENTS, nextCursor));
    expect(items).toMatchObject([
      { id: never.id, phase: 'removed', origin: 'recalculated' },
      { id: known.id, phase: 'end', endedAt: new Date(T0 + 30_000).toISOString(), origin: 'recalculated' },
      { id: found.id, phase: 'begin', origin: 'recalculated' },
    ]);
    // It came by the clock of the log, hours after it happened: who begins at that time has it too.
    const since = await read(`${EVENTS}?from=${new Date(Date.now() - 60_000).toISOString()}`);
    expect(idsOf(since.items)).toContain(found.id);
  });

  test('an event that is in the log twice comes once', async () => {
    const one = event(van);
    await log.append(eventsTopic, [one]);
    await log.append(eventsTopic, [one]);
    expect(idsOf((await readAll(EVENTS, null)).items)).toEqual([one.id]);
  });
});

describe('a cursor', () => {
  const refusalOf = async (query: string, path = EVENTS, headers = {}) => {
    const { status, body } = await world.call('GET', `${path}?${query}`, { jwt: operator.jwt, headers });
    return [status, body.type?.split(':').at(-1), body.errors?.[0]?.parameter];
  };

  test('that this feed did not write is refused by the name of its parameter', async () => {
    await log.append(eventsTopic, [event(van)]);
    const { nextCursor } = await read(EVENTS);
    const text = Buffer.from(nextCursor, 'base64url').toString();
    const written = (other: string) => Buffer.from(other).toString('base64url');
    const wrong = [
      'x',
      'a b',
      `${nextCursor}=`,
      nextCursor.slice(0, -4),
      written(text.replace(/^1/, '2')),
      written(text.replace('events', 'others')),
      written(`${text};`),
      written(text.replace(/\d+\./, '-1.')),
      written(`${text}.${'0.'.repeat(20)}0`),
      'A'.repeat(7000),
      (await read(POSITIONS)).nextCursor,
    ];
    for (const cursor of wrong)
      expect(await refusalOf(`cursor=${encodeURIComponent(cursor)}`), cursor).toEqual([
        400,
        'invalid-request',
        'cursor',
      ]);
    expect(await refusalOf('', EVENTS, { 'last-event-id': 'x' })).toEqual([400, 'invalid-request', 'Last-Event-ID']);
    expect(await refusalOf(`cursor=${nextCursor}&from=latest`)).toEqual([400, 'invalid-request', 'from']);
    expect(await refusalOf('from=yesterday')).toEqual([400, 'invalid-request', 'from']);
    expect(await refusalOf('waitSeconds=61')).toEqual([400, 'invalid-request', 'waitSeconds']);
    const accept = { accept: NDJSON };
    expect(await refusalOf('limit=5', EVENTS, accept)).toEqual([400, 'invalid-request', 'limit']);
    expect(await refusalOf('', EVENTS, { accept: 'image/png' })).toEqual([406, 'not-acceptable', undefined]);
  });

  test('stays good while the service is started again', async () => {
    const { nextCursor } = await read(EVENTS);
    const missed = event(van);
    await log.append(eventsTopic, [missed]);
    await restart();
    expect(idsOf((await read(from(EVENTS, nextCursor))).items)).toEqual([missed.id]);
  });

  test('of what the log no longer has is answered with where to go on; nothing is left out in silence', async () => {
    await restart({ maxAgeMs: 1, retentionEveryMs: 5 });
    await log.append(eventsTopic, [event(van)]);
    const { nextCursor } = await read(`${EVENTS}?from=earliest&limit=1`);
    await vi.waitFor(async () => {
      await log.append(eventsTopic, [event(van)]);
      expect(Math.max(...[...(await log.bounds(eventsTopic)).values()].map((each) => each.earliest))).toBeGreaterThan(
        1,
      );
    }, PATIENCE);
    await restart();
    const last = event(van);
    await log.append(eventsTopic, [last]);
    const { status, body } = await world.call('GET', from(EVENTS, nextCursor), { jwt: operator.jwt });
    expect([status, body.type]).toEqual([410, 'urn:outrider:problem:cursor-expired']);
    expect(Date.parse(body.resumption.from)).toBeLessThanOrEqual(Date.now());
    expect(body.detail).toContain(body.resumption.from);
    const accept = { accept: NDJSON };
    expect((await world.call('GET', from(EVENTS, nextCursor), { jwt: operator.jwt, headers: accept })).status).toBe(
      410,
    );
    const { items } = await readAll(EVENTS, body.resumption.cursor);
    expect(idsOf(items)).toContain(last.id);
  });

  test('of a log that was replaced is answered with where to go on', async () => {
    await log.append(eventsTopic, [event(van), event(truck)]);
    const { cursor } = await readAll(EVENTS, null);
    await restart({}, 'another');
    const other = event(van);
    await log.append(eventsTopic, [other]);
    const { status, body } = await world.call('GET', from(EVENTS, cursor), { jwt: operator.jwt });
    expect(status).toBe(410);
    expect(idsOf((await readAll(EVENTS, body.resumption.cursor)).items)).toEqual([other.id]);
  });
});

describe('positions', () => {
  test('come one by one as they were received, late ones included, and without those that are no places', async () => {
    const { nextCursor } = await read(POSITIONS);
    const first = packet(van, [10, 20, 30]);
    const late = packet(van, [5], T0 + 7_200_000);
    const nowhere = { ...packet(van, [40]), positions: [blankPosition(T0, 0, 0), blankPosition(T0 + 40_000, 59, 30)] };
    await log.append(telemetryTopic, [first]);
    await log.append(telemetryTopic, [late]);
    await log.append(telemetryTopic, [nowhere]);
    const seconds: number[] = [];
    let cursor = nextCursor;
    for (let nth = 0; nth < 5; nth++) {
      // Within a packet, too, a cursor stands behind one position.
      const { items, nextCursor: next } = await read(from(POSITIONS, cursor, '&limit=1'));
      expect(items).toHaveLength(1);
      seconds.push((Date.parse(items[0].fixTime) - T0) / 1000);
      cursor = next;
      if (nth === 2) await restart();
    }
    expect(seconds).toEqual([10, 20, 30, 5, 40]);
    const again = await read(from(POSITIONS, nextCursor));
    expect(again.items[3]).toEqual({
      vehicleId: van,
      fixTime: new Date(T0 + 5000).toISOString(),
      latitude: 59.9,
      longitude: 30.3,
      valid: true,
      receivedAt: new Date(T0 + 7_200_000).toISOString(),
    });
    expect((await read(from(POSITIONS, cursor))).items).toEqual([]);
  });
});

describe('rights', () => {
  test('nobody is sent an item of a vehicle or a geofence that they may not see', async () => {
    const depot = await world.registry.geofences.create(sampleGeofenceFields({ ownerId: operator.user.id, name: 'd' }));
    const own = await world.registry.geofences.create(sampleGeofenceFields({ ownerId: anna.user.id, name: 'o' }));
    const visit = (vehicleId: VehicleId, geofenceId: GeofenceId) =>
      event(vehicleId, { kind: 'geofence-visit', geofenceId } as never);
    const mine = [event(van), visit(van, own.id)];
    const others = [event(truck), visit(van, depot.id), visit(truck, own.id)];
    await log.append(eventsTopic, [...mine, ...others]);
    await log.append(
      correctionsTopic,
      [...mine, ...others].map((each) => ({ event: each, removed: true })),
    );
    await log.append(telemetryTopic, [packet(van, [1]), packet(truck, [2])]);
    const all = idsOf((await readAll(EVENTS, null)).items);
    expect(all.toSorted()).toEqual([...mine, ...others, ...mine, ...others].map(({ id }) => id).toSorted());
    const seen = idsOf((await readAll(EVENTS, null, anna.jwt)).items);
    expect(seen.toSorted()).toEqual([...mine, ...mine].map(({ id }) => id).toSorted());
    const positions = (await readAll(POSITIONS, null, anna.jwt)).items;
    expect(positions.map(({ vehicleId }) => vehicleId)).toEqual([van]);
    // Deleted, a geofence is still its owner's alone.
    await world.registry.geofences.delete(depot.id, null);
    expect(idsOf((await readAll(EVENTS, null, anna.jwt)).items).toSorted()).toEqual(seen.toSorted());
  });

  test('an API key sees no more than its groups, and needs the scope to read', async () => {
    await log.append(eventsTopic, [event(van), event(truck)]);
    const keyOf = async (body: object) => {
      const answer = await world.call('POST', '/api/v1/api-keys', { jwt: operator.jwt, body: { name: 'k', ...body } });
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
      return answer.body.key as string;
    };
    const ofSouth = await keyOf({ scopes: ['read'], groupIds: [south] });
    const { body } = await world.call('GET', `${EVENTS}?from=earliest`, bearer(ofSouth));
    expect(body.items.map(({ vehicleId }: { vehicleId: string }) => vehicleId)).toEqual([truck]);
    const writing = await keyOf({ scopes: ['write'] });
    expect((await world.call('GET', `${EVENTS}?from=earliest`, bearer(writing))).status).toBe(403);
  });

  test('a vehicle that is withdrawn ends at once in a stream that is open, and one that is given begins', async () => {
    const stream = await open(EVENTS, NDJSON, {}, anna.jwt);
    expect(JSON.parse((await stream.next()) ?? '')).toMatchObject({ type: 'heartbeat', lagSeconds: 0 });
    await log.append(eventsTopic, [event(van)]);
    expect(await stream.line()).toMatchObject({ type: 'event', vehicleId: van });
    const vehicle = world.directory.vehicles.get(van);
    await world.registry.vehicles.update(van, vehicle?.version ?? null, { groupIds: [south] });
    const hidden = event(van);
    await log.append(eventsTopic, [hidden]);
    const given = world.directory.vehicles.get(truck);
    await world.registry.vehicles.update(truck, given?.version ?? null, { groupIds: [north] });
    const shown = event(truck);
    await log.append(eventsTopic, [shown]);
    expect(await stream.line()).toMatchObject({ id: shown.id });
  });

  test('a stream ends when its caller is blocked, with the reason; so does a call that waits', async () => {
    const stream = await open(EVENTS, NDJSON, {}, anna.jwt);
    await stream.next();
    const waiting = world.call('GET', `${EVENTS}?waitSeconds=60`, { jwt: anna.jwt });
    await vi.waitFor(async () => expect(await openCalls()).toBe(2), PATIENCE);
    await world.registry.users.update(anna.user.id, null, { blocked: true });
    expect(await stream.line()).toMatchObject({ type: 'end', status: 401 });
    expect(await stream.line()).toBeNull();
    expect((await waiting).status).toBe(401);
    await vi.waitFor(async () => expect(await openCalls()).toBe(0), PATIENCE);
  });
});

const openCalls = async () => {
  const { values } = (await metrics.getSingleMetric('outrider_feed_calls')?.get()) ?? { values: [] };
  return values.reduce((sum: number, { value }: { value: number }) => sum + value, 0);
};

describe('a stream', () => {
  test.each([NDJSON, SSE])('of %s goes on behind any of its cursors: each item exactly once', async (accept) => {
    const sent = Array.from({ length: 12 }, (_, nth) => event(nth % 2 ? van : truck));
    const start = (await read(EVENTS)).nextCursor;
    const seen: string[] = [];
    let cursor = start;
    await log.append(eventsTopic, sent.slice(0, 6));
    for (const rest of [sent.slice(6), []]) {
      const byHeader = accept === SSE && cursor !== start;
      const stream = byHeader
        ? await open(from(EVENTS, start), accept, { 'last-event-id': cursor })
        : await open(from(EVENTS, cursor), accept);
      await log.append(eventsTopic, rest);
      while (seen.length < (rest.length > 0 ? 5 : 12)) {
        const message = await stream.line();
        seen.push(message.id);
        expect(message).toMatchObject({ type: 'event', phase: 'begin' });
        if (accept === SSE) expect(message.id$).toBe(message.cursor);
        cursor = message.cursor;
      }
      // In the middle of what is there.
      await stream.cancel();
      await restart();
    }
    expect(seen.toSorted()).toEqual(idsOf(sent).toSorted());
    // A page goes on where a stream was.
    expect((await read(from(EVENTS, cursor))).items).toEqual([]);
  });

  test('reads nothing more while its client takes nothing', async () => {
    await log.append(
      telemetryTopic,
      Array.from({ length: 3000 }, (_, nth) => packet(van, [nth])),
    );
    const stream = await open(`${POSITIONS}?from=earliest`, NDJSON);
    await stream.next();
    await stream.line();
    const { values } = (await metrics.getSingleMetric('outrider_feed_items_total')?.get()) ?? { values: [] };
    const sent = values.find(({ labels }: { labels: { feed?: string } }) => labels.feed === 'positions');
    expect(sent?.value).toBeLessThan(500);
    for (let nth = 1; nth < 3000; nth++) expect((await stream.line()).vehicleId).toBe(van);
  });

  test('ends, with the reason, when the service stops', async () => {
    const stream = await open(EVENTS, NDJSON);
    await stream.next();
    world.api.endFeeds();
    expect(await stream.line()).toMatchObject({ type: 'end', status: 503 });
    expect(await stream.line()).toBeNull();
  });

  test('an account has so many at a time, and gets the next one when another ends', async () => {
    const streams = [];
    for (let nth = 0; nth < 10; nth++) streams.push(await open(EVENTS, NDJSON));
    const more = await world.call('GET', EVENTS, { jwt: operator.jwt });
    expect([more.status, more.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await read(EVENTS, anna.jwt)).toMatchObject({ items: [] });
    // One that was never read from gives its place back as well.
    await streams[0]?.cancel();
    expect(await read(EVENTS)).toMatchObject({ items: [] });
    expect(await metrics.metrics()).toMatch(/outrider_feed_refused_total\{bound="account"\} 1/);
  });
});
