import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connectLive, live } from './live.ts';

const toast = vi.hoisted(() => vi.fn());
vi.mock('../parts/toast.tsx', () => ({ toast }));
vi.mock('../session.ts', () => ({ refreshUser: vi.fn(), user: { peek: () => null }, api: {} }));
const loadDefinitions = vi.hoisted(() => vi.fn());
vi.mock('../fleet/store.ts', async () => ({
  fleet: {},
  forgetDefinitions: vi.fn(),
  hasStates: (await import('@preact/signals')).signal(false),
  loadDefinitions,
  takeRecord: vi.fn(),
}));

/** A socket whose server is the test. */
class TestSocket extends EventTarget {
  static readonly all: TestSocket[] = [];
  readyState = 0;
  constructor() {
    super();
    TestSocket.all.push(this);
  }
  send() {}
  close() {
    this.readyState = 3;
  }
  accept() {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
  }
  say(message: object) {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }));
  }
}
const socket = () => TestSocket.all.at(-1) as TestSocket;

const page = new EventTarget();
let disconnect: () => void;
const status = () => live.status.peek();
beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('WebSocket', TestSocket);
  vi.stubGlobal('location', { protocol: 'http:', host: 'fleet.test' });
  vi.stubGlobal('document', Object.assign(new EventTarget(), { hidden: false }));
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
  disconnect = connectLive();
});
afterEach(() => {
  disconnect();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  TestSocket.all.length = 0;
  toast.mockReset();
  loadDefinitions.mockReset();
});

const resumed = (missed: number, missedNotifications = 0) =>
  socket().say({ type: 'resumed', missed, missedNotifications, cursor: '0:1', heartbeatSeconds: 5 });

test('a subscription that replaces another says of nothing that it was caught up, as after the first load', () => {
  socket().accept();
  resumed(0);
  // As it is asked for once more while the vehicles load.
  resumed(7);
  resumed(7, 2);
  expect(toast).not.toHaveBeenCalled();
});

test('after a break it says what was caught up, once', () => {
  socket().accept();
  resumed(0);
  page.dispatchEvent(new Event('offline'));
  page.dispatchEvent(new Event('online'));
  socket().accept();
  resumed(7);
  expect(toast).toHaveBeenCalledTimes(1);
  resumed(7);
  expect(toast).toHaveBeenCalledTimes(1);
});

test('the browser’s events offline and online end the connection and begin another at once', () => {
  socket().accept();
  resumed(0);
  expect(status()).toBe('open');
  page.dispatchEvent(new Event('offline'));
  expect(status()).toBe('waiting');
  page.dispatchEvent(new Event('online'));
  expect(TestSocket.all.length).toBe(2);
  socket().accept();
  resumed(0);
  expect(status()).toBe('open');
});

test('who logs in next waits for the live API as the first one did, so that the fleet is read once', () => {
  socket().accept();
  resumed(0);
  expect(loadDefinitions).toHaveBeenCalledTimes(1);
  disconnect();
  disconnect = connectLive();
  expect(status()).toBe('connecting');
  vi.advanceTimersByTime(1000);
  expect(loadDefinitions).toHaveBeenCalledTimes(1);
  socket().accept();
  resumed(0);
  vi.advanceTimersByTime(10_000);
  expect(loadDefinitions).toHaveBeenCalledTimes(2);
});
