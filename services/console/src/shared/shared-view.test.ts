import type { Shared } from '@outrider/client';
import { afterEach, expect, test, vi } from 'vitest';
import { pauseMs, SharedView } from './shared-view.ts';

afterEach(() => vi.unstubAllGlobals());

const SHARED: Shared = {
  name: 'Delivery',
  expiresAt: '2026-01-16T12:00:00.000Z',
  track: null,
  vehicles: [{ name: 'Van 7', state: 'moving', position: null, points: null }],
};
type Answer = { status: number; headers?: Record<string, string>; body?: unknown } | 'unreachable';

/** A view of a service that gives these answers, and the requests that it got. */
function viewOf(...answers: Answer[]) {
  const asked: { url: string; tag: string | null }[] = [];
  vi.stubGlobal('fetch', async (url: string, { headers }: { headers: Record<string, string> }) => {
    asked.push({ url, tag: headers['if-none-match'] ?? null });
    const answer = answers.shift() ?? 'unreachable';
    if (answer === 'unreachable') throw new TypeError('failed');
    const { status, body } = answer;
    return new Response(body === undefined ? null : JSON.stringify(body), {
      status,
      headers: { ...answer.headers },
    });
  });
  return { view: new SharedView('/s/abc/'), asked };
}

test('it asks again with the tag of the last answer, and keeps what it shows when nothing changed', async () => {
  const { view, asked } = viewOf({ status: 200, headers: { etag: '"1"' }, body: SHARED }, { status: 304 });
  const waitMs = await view.read();
  expect(view.shared.value).toEqual(SHARED);
  expect(await view.read()).toBe(waitMs);
  expect(view.shared.value).toEqual(SHARED);
  expect(asked).toEqual([
    { url: '/s/abc/data', tag: null },
    { url: '/s/abc/data', tag: '"1"' },
  ]);
});

test('a link that is gone has ended: nothing is shown, and nothing asked any more', async () => {
  const { view } = viewOf({ status: 200, headers: { etag: '"1"' }, body: SHARED }, { status: 404 });
  await view.read();
  expect(await view.read()).toBeNull();
  expect([view.hasEnded.value, view.shared.value]).toEqual([true, null]);
});

test('without a connection it keeps what it shows, says so, and tries again', async () => {
  const answer = { status: 200, headers: { etag: '"1"' }, body: SHARED };
  const { view } = viewOf(answer, 'unreachable', { status: 503 }, { status: 304 });
  await view.read();
  for (let nth = 0; nth < 2; nth += 1) {
    expect(await view.read()).toBeGreaterThan(0);
    expect([view.trouble.value, view.shared.value]).toEqual(['connection', SHARED]);
  }
  await view.read();
  expect(view.trouble.value).toBeNull();
});

test('over the limit it waits for the time of Retry-After', async () => {
  const { view } = viewOf({ status: 429, headers: { 'retry-after': '17' } });
  expect(await view.read()).toBe(17_000);
  expect(view.trouble.value).toBe('too-many');
});

test('what moves is asked for more often than what stands, and a track rarely', () => {
  const parked = { ...SHARED, vehicles: [{ ...SHARED.vehicles[0], state: 'parking' }] } as Shared;
  const track = { ...SHARED, track: { from: SHARED.expiresAt, to: SHARED.expiresAt } };
  expect(pauseMs(SHARED)).toBeLessThan(pauseMs(parked));
  expect(pauseMs(parked)).toBeLessThan(pauseMs(track));
});
