import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type TerminalId,
  type User,
  type Vehicle,
  VIDEO_TASK_CHANNEL,
  type VideoProfileId,
  type VideoTask,
  type VideoTaskId,
  type VideoTaskNews,
} from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { type Files, openFolder } from '@outrider/files';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ABSENT, World } from './api.fixture.ts';

const BASE = '/service/ovms/api';
const LIMITS = { failedLoginsPerMinute: 1e9, authorizedPerMinute: 1e9, unauthorizedPerMinute: 1e9, blockSeconds: 1 };
const FRAGMENT = { channel: 1, start: '2026-01-15T11:30:00Z', end: '2026-01-15T11:31:00Z' };

let folder: string;
let files: Files;
let world: World;
let operator: { user: User; jwt: string };
let dealer: { user: User; jwt: string };
let anna: { user: User; jwt: string };
let plain: { user: User; jwt: string };
let vehicle: Vehicle;
let profileId: VideoProfileId;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'api-video-'));
  files = await openFolder(folder);
  world = await World.open({ limits: LIMITS }, { videoFiles: files });
  operator = await world.member('operator', 'operator');
  dealer = await world.member('dealer', 'dealer');
  const group = await world.registry.groups.create({ name: 'G', dealerId: dealer.user.id });
  const more = { dealerId: dealer.user.id, groupIds: [group.id] };
  anna = await world.member('anna', 'user', { ...more, services: ['video'] });
  plain = await world.member('plain', 'user', more);
  vehicle = await addVehicle('Фургон "7"/x', '0013800000007');
  const added = await call('POST', '/profiles', dealer, { vehicleId: vehicle.id });
  expect(added.status).toBe(201);
  profileId = added.body.id;
  async function addVehicle(name: string, terminalId: string) {
    return world.registry.vehicles.create(
      sampleVehicleFields({
        name,
        terminalId: terminalId as TerminalId,
        dealerId: dealer.user.id,
        groupIds: [group.id],
      }),
    );
  }
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

function call(method: string, path: string, who: { jwt: string }, body?: unknown, headers?: Record<string, string>) {
  return world.call(method, `${BASE}${path}`, {
    jwt: who.jwt,
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
  });
}

/** A task that is done, and the bytes of its file. */
async function doneTask(content: Buffer): Promise<VideoTaskId> {
  const { body } = await call('POST', '/tasks', anna, { profileId, ...FRAGMENT });
  for (const leased of await world.registry.videoQueue.lease(10, 1000)) {
    if (leased.task.id !== body.id) throw new Error('another task was left behind');
    for (const state of ['requested', 'downloading', 'processing'] as const)
      await world.registry.videoQueue.step(leased, { state });
    const put = await files.put(`${leased.task.id}.mp4`, ReadableStream.from([content]));
    const facts = { durationMs: 60_000, videoCodec: 'h264', audioCodec: 'g711a', frames: 1500, packetsLost: 2 };
    await world.registry.videoQueue.step(leased, { state: 'done', file: { ...facts, ...put } });
  }
  return body.id;
}

/** The file as bytes, past what text makes of them. */
async function download(id: string, who: { jwt: string }, headers: Record<string, string> = {}, method = 'GET') {
  const request = new Request(`http://outrider.test${BASE}/tasks/file/${id}`, {
    method,
    headers: { authorization: `JWT ${who.jwt}`, ...headers },
  });
  const answer = await world.api.fetch(request, { incoming: { socket: { remoteAddress: '192.0.2.1' } } as never });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

test('what began before the limit of the history is neither asked for nor moved there', async () => {
  const { vehicles, groups, videoProfiles, historyLimits } = world.registry;
  const [group] = (await groups.list({}, { limit: 1, after: null })).items;
  const fields = { name: 'Limited', dealerId: dealer.user.id, groupIds: group ? [group.id] : [] };
  const limited = await vehicles.create(sampleVehicleFields({ ...fields, terminalId: '13800000055' as TerminalId }));
  const added = await call('POST', '/profiles', dealer, { vehicleId: limited.id });
  const beforeMs = Date.parse(FRAGMENT.start) + 1;
  await historyLimits.request({ vehicleId: limited.id, beforeMs }, dealer.user.id, {
    ...{ action: 'history-erased', subject: { kind: 'vehicle', id: limited.id, name: '' }, after: null },
    ...{ dealerIds: [], ownerIds: [] },
  });
  const wish = { profileId: added.body.id, ...FRAGMENT };
  const refused = { status: 400, body: { errors: [{ pointer: '/start' }] } };
  expect(await call('POST', '/tasks', anna, wish)).toMatchObject(refused);
  const later = await call('POST', '/tasks', anna, { ...wish, start: new Date(beforeMs).toISOString() });
  expect(later.status).toBe(201);
  expect(await call('PATCH', `/tasks/${later.body.id}`, anna, { start: FRAGMENT.start })).toMatchObject(refused);
  expect((await call('PATCH', `/tasks/${later.body.id}`, anna, { quality: 'sub' })).status).toBe(200);
  await call('DELETE', `/tasks/${later.body.id}`, anna);
  await videoProfiles.delete(added.body.id, null);
  await vehicles.delete(limited.id, null);
});

describe('profiles', () => {
  test('the profile of a terminal is found by the id that the vehicle has of it, with what was left out filled in', async () => {
    const { status, body } = await call('GET', '/profiles?terminalId=0013800000007', anna);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      items: [
        {
          id: profileId,
          vehicleId: vehicle.id,
          terminalId: '0013800000007',
          protocol: 'jt1078',
          address: '13800000007',
          channels: [{ number: 1, direction: 'front' }],
          quality: 'main',
          audio: true,
          maxFragmentSeconds: 900,
          maxParallelDownloads: 1,
          timeZone: 'Asia/Shanghai',
          online: null,
          onlineChangedAt: null,
        },
      ],
      nextCursor: null,
    });
    expect((await call('GET', '/profiles?terminalId=elsewhere', anna)).body.items).toEqual([]);
  });

  test('it says whether the terminal is there, and since when', async () => {
    await world.registry.videoProfiles.setPresence(profileId, true);
    expect((await call('GET', `/profiles/${profileId}`, anna)).body).toMatchObject({
      online: true,
      onlineChangedAt: '2026-01-15T12:00:00.000Z',
    });
  });

  test('who keeps the vehicle changes it, one version after the other; others may only look', async () => {
    const { headers } = await call('GET', `/profiles/${profileId}`, dealer);
    const etag = headers.get('etag') ?? '';
    const patch = {
      quality: 'sub',
      channels: [
        { number: 1, name: 'Road' },
        { number: 2, name: 'Cab', direction: 'cabin' },
      ],
    };
    const changed = await call('PATCH', `/profiles/${profileId}`, dealer, patch, { 'if-match': etag });
    expect(changed).toMatchObject({ status: 200, body: { quality: 'sub', channels: [{ direction: 'other' }, {}] } });
    expect((await call('PATCH', `/profiles/${profileId}`, dealer, patch, { 'if-match': etag })).status).toBe(412);
    expect((await call('PATCH', `/profiles/${profileId}`, anna, patch)).status).toBe(403);
    expect((await call('DELETE', `/profiles/${profileId}`, anna)).status).toBe(403);
    const { items } = (await world.call('GET', `/api/v1/audit?subject=${profileId}`, { jwt: dealer.jwt })).body;
    expect(items.map(({ action }: { action: string }) => action)).toEqual(['changed', 'created']);
  });

  test('what makes no sense is refused, and it is said what', async () => {
    const vehicleId = (await world.registry.vehicles.create({ ...vehicle, name: 'Other', terminalId: null })).id;
    const refused = async (body: object, pointer: string, said: string) => {
      const answer = await call('POST', '/profiles', dealer, { vehicleId, address: '1', ...body });
      expect(answer.status, JSON.stringify(answer.body)).toBe(400);
      const error = answer.body.errors.find((each: { pointer: string }) => each.pointer === pointer);
      expect(error?.detail, JSON.stringify(answer.body)).toContain(said);
    };
    await refused({ vehicleId: ABSENT }, '/vehicleId', 'no such vehicle');
    await refused({ address: undefined }, '/address', 'no terminal');
    await refused({ address: 'abc' }, '/address', 'phone number');
    await refused({ protocol: 'onvif' }, '/protocol', 'nvalid');
    await refused({ channels: [] }, '/channels', '>=1');
    await refused(
      {
        channels: [
          { number: 1, name: 'a' },
          { number: 1, name: 'b' },
        ],
      },
      '/channels',
      'Two channels',
    );
    await refused({ channels: [{ number: 0, name: 'a' }] }, '/channels/0/number', '>=1');
    await refused({ timeZone: 'Moon/Base' }, '/timeZone', 'IANA');
    await refused({ maxParallelDownloads: 2 }, '/maxParallelDownloads', 'one recording at a time');
    await refused({ maxFragmentSeconds: 0 }, '/maxFragmentSeconds', '>=1');
    await refused({ protocol: 'stream', address: undefined }, '/address', 'URL');
    await refused({ protocol: 'stream', address: 'rtsp://nvr/live' }, '/address', '{start}');
    await refused({ protocol: 'stream', address: 'file:///etc/passwd?{start}' }, '/address', 'absolute');
    await refused({ protocol: 'stream', address: 'rtsp://***@nvr/{start}' }, '/address', 'again');
    await refused({ protocol: 'stream', address: 'rtsp://nvr/{start}?pwd=***' }, '/address', 'again');
    expect((await call('POST', '/profiles', dealer, { vehicleId: vehicle.id, address: '9' })).status).toBe(409);
    expect((await call('POST', '/profiles', dealer, { vehicleId, address: '0000013800000007' })).status).toBe(409);
    expect((await call('POST', '/profiles', anna, { vehicleId, address: '9' })).status).toBe(403);
  });

  test('a login and a password in a URL are kept and never shown', async () => {
    const vehicleId = (await world.registry.vehicles.create({ ...vehicle, name: 'Recorder', terminalId: null })).id;
    const address = 'rtsp://me:hidden@nvr.example.net/{channel}?{start}&token=hidden&n=1';
    const added = await call('POST', '/profiles', dealer, { vehicleId, protocol: 'stream', address });
    expect(added).toMatchObject({
      status: 201,
      body: { address: 'rtsp://***@nvr.example.net/{channel}?{start}&token=***&n=1' },
    });
    const shown = [
      await call('GET', '/profiles', dealer),
      await call('PATCH', `/profiles/${added.body.id}`, dealer, { name: 'Same address' }),
      await world.call('GET', '/api/v1/audit', { jwt: dealer.jwt }),
    ];
    expect(JSON.stringify(shown)).not.toContain('hidden');
    expect(await world.registry.videoProfiles.get(added.body.id)).toMatchObject({ address, name: 'Same address' });
    expect((await call('DELETE', `/profiles/${added.body.id}`, dealer)).status).toBe(204);
    expect((await call('GET', `/profiles/${added.body.id}`, dealer)).status).toBe(404);
  });
});

describe('the right to the video service', () => {
  test('is granted to a user by operators and by the user’s dealer; dealers have it', async () => {
    const { user } = plain;
    expect((await call('GET', '/profiles', plain)).status).toBe(403);
    expect((await call('POST', '/tasks', plain, { profileId, ...FRAGMENT })).body.detail).toContain(
      'does not have `video`',
    );
    const path = `/api/v1/users/${user.id}`;
    for (const { jwt } of [dealer, operator]) {
      const granted = await world.call('PATCH', path, { jwt, body: { services: ['video'] } });
      expect(granted).toMatchObject({ status: 200, body: { services: ['video'] } });
      expect((await call('GET', '/profiles', plain)).status).toBe(200);
      await world.call('PATCH', path, { jwt, body: { services: [] } });
      expect((await call('GET', '/profiles', plain)).status).toBe(403);
    }
    expect((await world.call('PATCH', path, { jwt: plain.jwt, body: { services: ['video'] } })).status).toBe(403);
    expect((await call('GET', '/profiles', dealer)).status).toBe(200);
  });
});

describe('tasks', () => {
  const ask = (more: object = {}, who = anna) => call('POST', '/tasks', who, { profileId, ...FRAGMENT, ...more });

  test('a task is created, published, read and cancelled', async () => {
    const received: VideoTask[] = [];
    const leave = await world.hub.subscribe(VIDEO_TASK_CHANNEL, (text) =>
      received.push((JSON.parse(text) as VideoTaskNews).task),
    );
    const asked = await ask();
    expect(asked).toMatchObject({
      status: 201,
      body: {
        profileId,
        vehicleId: vehicle.id,
        createdBy: anna.user.id,
        status: 'new',
        quality: 'sub',
        audio: true,
        progress: { percent: 0, bytes: 0 },
        start: '2026-01-15T11:30:00.000Z',
        expiresAt: '2026-01-16T12:00:00.000Z',
        file: null,
        history: [{ status: 'new', at: '2026-01-15T12:00:00.000Z' }],
      },
    });
    const path = `/tasks/${asked.body.id}`;
    expect(asked.headers.get('location')).toBe(`${BASE}${path}`);
    const polled = await call('GET', path, anna);
    expect(polled.headers.get('retry-after')).toBe('2');
    expect((await call('GET', '/tasks?status=new', anna)).body.items.map(({ id }: VideoTask) => id)).toEqual([
      asked.body.id,
    ]);
    const cancelled = await call('POST', `${path}/cancel`, anna);
    expect(cancelled).toMatchObject({
      status: 200,
      body: { status: 'cancelled', history: [{}, { status: 'cancelled' }] },
    });
    expect((await call('POST', `${path}/cancel`, anna)).status).toBe(200);
    expect((await call('GET', path, anna)).headers.get('retry-after')).toBeNull();
    expect(received.map(({ state }) => state)).toEqual(['new', 'cancelled']);
    await leave();
  });

  test('sent again with its key, it is made once', async () => {
    const headers = { 'idempotency-key': 'a-key' };
    const [one, two] = [
      await call('POST', '/tasks', anna, { profileId, ...FRAGMENT }, headers),
      await call('POST', '/tasks', anna, { profileId, ...FRAGMENT }, headers),
    ];
    expect(two.body.id).toBe(one.body.id);
    await call('POST', `/tasks/${one.body.id}/cancel`, anna);
  });

  test('what can’t be had is refused, and it is said why', async () => {
    const refused = async (more: object, pointer: string, said: string) => {
      const { status, body } = await ask(more);
      expect(status, JSON.stringify(body)).toBe(400);
      expect(body.errors).toMatchObject([{ pointer, detail: expect.stringContaining(said) }]);
    };
    await refused({ profileId: ABSENT }, '/profileId', 'no such video profile');
    await refused({ channel: 9 }, '/channel', 'Known channels: 1, 2');
    await refused({ end: '2026-01-15T12:00:00.001Z' }, '/end', 'future');
    await refused({ end: FRAGMENT.start }, '/end', 'after the start');
    await refused({ end: '2026-01-15T11:45:00.001Z' }, '/end', 'at most 900 s');
    await refused({ start: 'yesterday' }, '/start', 'must be a time');
    await refused({ quality: 'best' }, '/quality', 'nvalid');
    await refused({ speed: 2 }, '/speed', 'no such field');
    // The whole fifteen minutes, up to this moment.
    const whole = await ask({
      start: '2026-01-15T11:45:00Z',
      end: '2026-01-15T12:00:00Z',
      quality: 'main',
      audio: false,
    });
    expect(whole).toMatchObject({ status: 201, body: { quality: 'main', audio: false } });
    await call('POST', `/tasks/${whole.body.id}/cancel`, anna);
  });

  test('only who made it, or keeps the vehicle, cancels it', async () => {
    const other = await world.member('bert', 'user', { groupIds: anna.user.groupIds, services: ['video'] });
    const { body } = await ask();
    expect((await call('GET', `/tasks/${body.id}`, other)).body).toMatchObject({ id: body.id, createdBy: null });
    expect((await call('POST', `/tasks/${body.id}/cancel`, other)).status).toBe(403);
    expect((await call('POST', `/tasks/${body.id}/cancel`, dealer)).status).toBe(200);
    const id = await doneTask(randomBytes(10));
    expect((await call('POST', `/tasks/${id}/cancel`, anna)).status).toBe(409);
  });

  test('what it asks for can be changed until the terminal is asked to play', async () => {
    const { body, headers } = await ask();
    const path = `/tasks/${body.id}`;
    const etag = headers.get('etag') ?? '';
    // A worker has it in hand already, and has not asked the terminal yet.
    const [leased] = await world.registry.videoQueue.lease(1, 60_000);
    const received: VideoTask[] = [];
    const leave = await world.hub.subscribe(VIDEO_TASK_CHANNEL, (text) =>
      received.push((JSON.parse(text) as VideoTaskNews).task),
    );
    const patch = {
      channel: 2,
      start: '2026-01-15T11:00:00Z',
      end: '2026-01-15T11:02:00Z',
      quality: 'main',
      audio: false,
    };
    const changed = await call('PATCH', path, anna, patch, { 'if-match': etag });
    expect(changed).toMatchObject({
      status: 200,
      body: {
        ...{ id: body.id, status: 'new', channel: 2, quality: 'main', audio: false, attempts: 0 },
        ...{ start: '2026-01-15T11:00:00.000Z', end: '2026-01-15T11:02:00.000Z', expiresAt: body.expiresAt },
      },
    });
    expect(received).toMatchObject([{ id: body.id, state: 'new', channel: 2 }]);
    await leave();
    // That worker does no more: it would fetch what nobody asks for now. The next one gets what is asked for.
    if (leased === undefined) throw new Error('nothing was leased');
    expect(await world.registry.videoQueue.step(leased, { state: 'requested' })).toBeNull();
    const [again] = await world.registry.videoQueue.lease(1, 60_000);
    expect(again?.task).toMatchObject({ id: body.id, channel: 2, audio: false });

    expect((await call('PATCH', path, anna, { audio: true }, { 'if-match': etag })).status).toBe(412);
    const newest = changed.headers.get('etag') ?? '';
    expect(newest).not.toBe(etag);
    expect((await call('PATCH', path, anna, { end: '2026-01-15T11:30:00Z' })).body.errors).toMatchObject([
      { pointer: '/end' },
    ]);
    expect((await call('PATCH', path, anna, { channel: 9 })).body.errors).toMatchObject([{ pointer: '/channel' }]);
    expect((await call('PATCH', path, anna, { profileId })).body.errors).toMatchObject([{ pointer: '/profileId' }]);
    expect((await call('PATCH', path, anna, {}, { 'if-match': newest })).status).toBe(200);

    const [taken] = await world.registry.videoQueue.lease(1, 60_000);
    if (taken === undefined) throw new Error('nothing was leased');
    await world.registry.videoQueue.step(taken, { state: 'requested' });
    const late = await call('PATCH', path, anna, { audio: true });
    expect(late).toMatchObject({ status: 409, body: { detail: expect.stringContaining('already requested') } });
    await call('POST', `${path}/cancel`, anna);
    expect((await call('PATCH', path, anna, { audio: true })).status).toBe(409);

    const { items } = (await world.call('GET', `/api/v1/audit?subject=${body.id}`, { jwt: dealer.jwt })).body;
    expect(items.at(-1)).toMatchObject({
      action: 'changed',
      subject: { kind: 'video-task', name: vehicle.name },
      before: { channel: 1, audio: true },
      after: { channel: 2, audio: false },
    });
  });

  test('one that waits for another attempt is tried at once as it is then', async () => {
    const { body } = await ask();
    const [leased] = await world.registry.videoQueue.lease(1, 60_000);
    if (leased === undefined) throw new Error('nothing was leased');
    const waiting = {
      state: 'waiting',
      reason: 'no-recording',
      detail: 'none',
      nextAttemptAtMs: null,
      attempts: 3,
    } as const;
    await world.registry.videoQueue.step(leased, waiting);
    expect(await world.registry.videoQueue.lease(1, 60_000)).toEqual([]);
    const changed = await call('PATCH', `/tasks/${body.id}`, dealer, { channel: 2 });
    expect(changed.body).toMatchObject({ status: 'waiting', reason: null, attempts: 0 });
    expect((await world.registry.videoQueue.lease(1, 60_000)).map(({ task }) => task.channel)).toEqual([2]);
    expect((await call('DELETE', `/tasks/${body.id}`, dealer)).status).toBe(204);
  });

  test('a task is deleted with its file, one that is not finished as well', async () => {
    const other = await world.member('carl', 'user', { groupIds: anna.user.groupIds, services: ['video'] });
    const id = await doneTask(randomBytes(10));
    const path = `/tasks/${id}`;
    expect((await call('DELETE', path, other)).status).toBe(403);
    expect((await call('PATCH', path, other, { audio: false })).status).toBe(403);
    expect((await call('DELETE', path, anna, undefined, { 'if-match': '"1"' })).status).toBe(412);
    expect(await files.info(`${id}.mp4`)).not.toBeNull();
    expect((await call('DELETE', path, anna)).status).toBe(204);
    expect(await files.info(`${id}.mp4`)).toBeNull();
    for (const gone of [path, `/tasks/file/${id}`]) expect((await call('GET', gone, anna)).status).toBe(404);
    expect((await call('DELETE', path, anna)).status).toBe(404);
    expect(await world.registry.videoTasks.history(id)).toEqual([]);

    const { body } = await ask();
    const [leased] = await world.registry.videoQueue.lease(1, 60_000);
    const received: VideoTask[] = [];
    const leave = await world.hub.subscribe(VIDEO_TASK_CHANNEL, (text) =>
      received.push((JSON.parse(text) as VideoTaskNews).task),
    );
    expect((await call('DELETE', `/tasks/${body.id}`, dealer)).status).toBe(204);
    // Its worker ends: it listens for this.
    expect(received).toMatchObject([{ id: body.id, state: 'cancelled' }]);
    await leave();
    if (leased === undefined) throw new Error('nothing was leased');
    expect(await world.registry.videoQueue.step(leased, { state: 'requested' })).toBeNull();
    const { items } = (await world.call('GET', `/api/v1/audit?subject=${body.id}`, { jwt: dealer.jwt })).body;
    expect(items).toMatchObject([
      { action: 'deleted', before: { channel: 1 }, after: null, user: { id: dealer.user.id } },
    ]);
  });

  test('a terminal has a bounded number of them to do', async () => {
    const wish = {
      profileId,
      createdBy: null,
      channel: 1,
      startMs: 0,
      endMs: 1,
      quality: 'main',
      audio: true,
    } as const;
    for (let n = 0; n < 200; n++) await world.registry.videoTasks.create({ ...wish, expiresAtMs: world.nowMs + 1 });
    expect(await ask()).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('200 unfinished tasks') },
    });
    for (const { id } of (await world.registry.videoTasks.list({ states: ['new'] }, { limit: 1000, after: null }))
      .items)
      await world.registry.videoTasks.cancel(id);
  });
});

describe('the file', () => {
  test('comes whole, with what it is and what it is called', async () => {
    const content = randomBytes(300_000);
    const id = await doneTask(content);
    const { status, headers, bytes } = await download(id, anna);
    expect(status).toBe(200);
    expect(bytes.equals(content)).toBe(true);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': '300000',
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache',
      'last-modified': 'Thu, 15 Jan 2026 12:00:00 GMT',
      etag: `"${createHash('sha256').update(content).digest('hex').slice(0, 32)}"`,
    });
    const disposition = headers.get('content-disposition') ?? '';
    const [, ascii, encoded] =
      /^attachment; filename="([\x20-\x7e]+)"; filename\*=UTF-8''(\S+)$/.exec(disposition) ?? [];
    expect(ascii).toBe('______ -7--x 2026-01-15T11-30-00Z channel 1.mp4');
    expect(decodeURIComponent(encoded ?? '')).toBe('Фургон -7--x 2026-01-15T11-30-00Z channel 1.mp4');
    const head = await download(id, anna, { range: 'bytes=0-1' }, 'HEAD');
    expect(head).toMatchObject({ status: 200, bytes: Buffer.of() });
    expect(head.headers.get('content-length')).toBe('300000');
    expect((await call('GET', `/tasks/${id}`, anna)).body.file).toEqual({
      bytes: 300_000,
      durationSeconds: 60,
      videoCodec: 'h264',
      audioCodec: 'g711a',
      frames: 1500,
      packetsLost: 2,
      expiresAt: '2026-02-14T12:00:00.000Z',
    });
  });

  test('a part is the slice that was asked for', async () => {
    const content = randomBytes(150_000);
    const id = await doneTask(content);
    const place = fc.nat({ max: 160_000 });
    await fc.assert(
      fc.asyncProperty(fc.option(place), fc.option(place), async (first, last) => {
        const { status, headers, bytes } = await download(id, anna, { range: `bytes=${first ?? ''}-${last ?? ''}` });
        const isRange = (first ?? last) !== null && !(first !== null && last !== null && last < first);
        if (!isRange) {
          expect(status).toBe(200);
          expect(bytes.equals(content)).toBe(true);
          return;
        }
        const start = first ?? Math.max(0, content.length - (last ?? 0));
        const slice = content.subarray(start, first === null || last === null ? undefined : last + 1);
        if (slice.length === 0) {
          expect(status).toBe(416);
          expect(headers.get('content-range')).toBe('bytes */150000');
          return;
        }
        expect(status).toBe(206);
        expect(bytes.equals(slice)).toBe(true);
        expect(headers.get('content-length')).toBe(String(slice.length));
        expect(headers.get('content-range')).toBe(`bytes ${start}-${start + slice.length - 1}/150000`);
      }),
      { numRuns: runs(150) },
    );
    // As the document has it.
    for (const range of ['bytes=0-9', 'bytes=150000-', 'bytes=0-1,5-6'])
      expect((await call('GET', `/tasks/file/${id}`, anna, undefined, { range })).status).toBeLessThan(500);
  });

  test('is not sent twice to who has it, and in part only while it is the same', async () => {
    const id = await doneTask(randomBytes(1000));
    const etag = (await download(id, anna)).headers.get('etag') ?? '';
    const known = await call('GET', `/tasks/file/${id}`, anna, undefined, { 'if-none-match': `"other", W/${etag}` });
    expect(known).toMatchObject({ status: 304, body: '' });
    const range = 'bytes=0-9';
    expect((await download(id, anna, { range, 'if-range': etag })).status).toBe(206);
    expect((await download(id, anna, { range, 'if-range': '"other"' })).bytes).toHaveLength(1000);
  });

  test('there is none before the task is done, and none after it was deleted', async () => {
    const { body } = await call('POST', '/tasks', anna, { profileId, ...FRAGMENT });
    expect(await call('GET', `/tasks/file/${body.id}`, anna)).toMatchObject({
      status: 409,
      body: {
        type: 'urn:outrider:problem:not-done',
        detail: 'The task is new, at 0 %.',
        errors: [{ parameter: 'task_id', detail: 'new' }],
      },
    });
    await call('POST', `/tasks/${body.id}/cancel`, anna);
    expect((await call('GET', `/tasks/file/${body.id}`, anna)).body.errors).toMatchObject([{ detail: 'cancelled' }]);
    const id = await doneTask(randomBytes(10));
    await files.delete(`${id}.mp4`);
    expect((await call('GET', `/tasks/file/${id}`, anna)).status).toBe(410);
    await world.registry.storedVideos.fileDeleted(id);
    const gone = await call('GET', `/tasks/file/${id}`, anna);
    expect(gone).toMatchObject({ status: 410, body: { detail: expect.stringContaining('30 days') } });
    expect((await call('GET', `/tasks/${id}`, anna)).body).toMatchObject({ status: 'done', file: null });
  });

  test('is deleted by who asked for it, or keeps the vehicle; the task stays, and the trail says who did it', async () => {
    const [first, second] = [await doneTask(Buffer.from('one')), await doneTask(Buffer.from('two'))];
    const colleague = await world.member('colleague', 'user', { ...anna.user, login: 'colleague', name: 'colleague' });
    expect((await call('DELETE', `/tasks/file/${first}`, colleague)).status).toBe(403);
    expect((await call('DELETE', `/tasks/file/${first}`, plain)).status).toBe(403);
    expect((await call('DELETE', `/tasks/file/${first}`, anna)).status).toBe(204);
    expect((await call('DELETE', `/tasks/file/${first}`, anna)).status).toBe(204);
    expect((await call('DELETE', `/tasks/file/${second}`, dealer)).status).toBe(204);
    for (const id of [first, second]) {
      expect((await call('GET', `/tasks/${id}`, anna)).body).toMatchObject({ status: 'done', file: null });
      expect((await download(id, anna)).status).toBe(410);
      expect(await files.info(`${id}.mp4`)).toBeNull();
    }
    const { items } = await world.registry.audit.list({}, { limit: 1000, after: null });
    const deleted = items.filter(({ subject }) => [first, second].some((id) => id === subject.id));
    expect(deleted.map(({ action, subject, user }) => [action, subject.id, user?.login]).toSorted()).toEqual(
      [
        ['deleted', first, 'anna'],
        ['deleted', second, 'dealer'],
      ].toSorted(),
    );
    const { body } = await call('POST', '/tasks', anna, { profileId, ...FRAGMENT });
    expect((await call('DELETE', `/tasks/file/${body.id}`, anna)).status).toBe(409);
    await call('POST', `/tasks/${body.id}/cancel`, anna);
  });

  test('no id leads anywhere but to a task', async () => {
    await files.put('secret', ReadableStream.from([Buffer.from('secret')]));
    const tricks = [
      '../secret',
      '..%2fsecret',
      '%2e%2e%2fsecret',
      'secret',
      'secret%00',
      '.incoming',
      ABSENT,
      `${ABSENT}.mp4`,
    ];
    for (const trick of tricks) {
      const answer = await download(trick, operator);
      expect([400, 404], trick).toContain(answer.status);
      expect(answer.bytes.toString(), trick).not.toBe('secret');
    }
    await fc.assert(
      fc.asyncProperty(fc.webPath(), async (path) => {
        const { status, headers } = await download(path.slice(1), operator);
        expect(status === 400 || status === 404, `${path} ${status}`).toBe(true);
        expect(headers.get('content-type')).toBe('application/problem+json');
      }),
      { numRuns: runs(50) },
    );
  });

  test('a reader who leaves holds nothing open, and one that only asks for headers opens nothing', async () => {
    const id = await doneTask(randomBytes(500_000));
    let open = 0;
    const { get } = files;
    files.get = async (...asked) => {
      const source = await get.apply(files, asked);
      return (async function* counted() {
        open += 1;
        try {
          yield* source ?? [];
        } finally {
          open -= 1;
        }
      })();
    };
    const request = (method: string) =>
      world.api.fetch(
        new Request(`http://outrider.test${BASE}/tasks/file/${id}`, {
          method,
          headers: { authorization: `JWT ${anna.jwt}` },
        }),
        { incoming: { socket: { remoteAddress: '192.0.2.1' } } as never },
      );
    const reader = (await request('GET')).body?.getReader();
    await reader?.read();
    expect(open).toBe(1);
    await reader?.cancel();
    expect(open).toBe(0);
    await request('HEAD');
    await request('GET');
    expect(open).toBe(0);
    files.get = get;
  });
});

test('what is stored, and what may be, is shown to operators', async () => {
  const { status, body } = await call('GET', '/storage', operator);
  expect(status).toBe(200);
  expect(body).toMatchObject({ retentionDays: 30, quotaBytes: 1e9, unfinishedTasks: 0 });
  expect(body.files).toBeGreaterThan(0);
  expect((await call('GET', '/storage', dealer)).status).toBe(403);
});
