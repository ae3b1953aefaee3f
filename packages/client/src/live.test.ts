import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LiveConnection, type LiveOptions, type LiveStatus, reconnectDelayMs } from './live.ts';
import type { LiveMessage } from './live-messages.ts';

/** A socket whose server is the test. */
class TestSocket extends EventTarget {
  readyState = 0;
  binaryType = 'blob';
  readonly protocols: string[];
  constructor(protocols: string[]) {
    super();
    this.protocols = protocols;
  }
  readonly sent: Record<string, unknown>[] = [];
  send(text: string) {
    this.sent.push(JSON.parse(text));
  }
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
  end(code: number) {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event('close'), { code }));
  }
}

let sockets: TestSocket[];
let messages: LiveMessage[];
let statuses: LiveStatus[];
beforeEach(() => {
  vi.useFakeTimers();
  sockets = [];
  messages = [];
  statuses = [];
});
afterEach(() => {
  vi.useRealTimers();
});

function connect(options: Partial<LiveOptions> = {}) {
  return new LiveConnection({
    url: 'wss://fleet.test/live',
    subscription: { states: true },
    onMessage: (message) => messages.push(message),
    onStatus: (status) => statuses.push(status),
    open: (_url, protocols) => {
      const socket = new TestSocket(protocols);
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
    random: () => 1,
    ...options,
  });
}
const socket = (index: number) => sockets[index] as TestSocket;
const SNAPSHOT = { type: 'snapshot', positions: [], complete: true };

test('subscribes to everything once open, with a token where there is one', () => {
  connect({ token: () => 'a.b.c' });
  socket(0).accept();
  expect(socket(0).sent).toEqual([
    { type: 'authorize', jwt: 'a.b.c' },
    { type: 'subscribe', all: true, states: true },
  ]);
  socket(0).say(SNAPSHOT);
  expect(statuses).toEqual(['open']);
});

test('after a break it goes on from its cursor', () => {
  const live = connect();
  socket(0).accept();
  socket(0).say(SNAPSHOT);
  socket(0).say({ type: 'event', id: '1', cursor: '0:7' });
  socket(0).end(1006);
  expect(live.status).toBe('waiting');
  vi.advanceTimersByTime(500);
  socket(1).accept();
  expect(socket(1).sent).toEqual([{ type: 'subscribe', all: true, states: true, since: '0:7' }]);
  socket(1).say({ type: 'gap', stream: 'events', from: 7, to: 9, detail: 'too old' });
  socket(1).say({ type: 'resumed', missed: 2, missedNotifications: 0, cursor: '0:9' });
  expect(messages.map(({ type }) => type)).toEqual(['snapshot', 'event', 'gap', 'resumed']);
  expect([live.cursor, live.status]).toEqual(['0:9', 'open']);
});

test('the cursor moves on only after the message was taken', () => {
  const seen: (string | null)[] = [];
  const live = connect({ since: '0:1', onMessage: () => seen.push(live.cursor) });
  socket(0).accept();
  socket(0).say({ type: 'event', id: '1', cursor: '0:2' });
  expect([...seen, live.cursor]).toEqual(['0:1', '0:2']);
});

test('attempts grow apart while none succeeds, and begin anew after one did', () => {
  connect();
  for (const delayMs of [500, 1000, 2000]) {
    sockets.at(-1)?.end(1006);
    const before = sockets.length;
    vi.advanceTimersByTime(delayMs - 1);
    expect(sockets.length).toBe(before);
    vi.advanceTimersByTime(1);
    expect(sockets.length).toBe(before + 1);
  }
  sockets.at(-1)?.accept();
  sockets.at(-1)?.say(SNAPSHOT);
  sockets.at(-1)?.end(1006);
  const before = sockets.length;
  vi.advanceTimersByTime(500);
  expect(sockets.length).toBe(before + 1);
});

test('a server that accepts and closes at once is not asked faster', () => {
  connect();
  socket(0).accept();
  socket(0).end(1001);
  vi.advanceTimersByTime(500);
  socket(1).accept();
  socket(1).end(1001);
  vi.advanceTimersByTime(999);
  expect(sockets.length).toBe(2);
  vi.advanceTimersByTime(1);
  expect(sockets.length).toBe(3);
});

test('delays are half at random and at most half a minute', () => {
  expect(reconnectDelayMs(0, () => 0)).toBe(250);
  expect(reconnectDelayMs(50, () => 0)).toBe(15_000);
  expect(reconnectDelayMs(50, () => 1)).toBe(30_000);
});

test('an ended session or a blocked account is final', () => {
  const live = connect();
  socket(0).end(4401);
  vi.advanceTimersByTime(60_000);
  expect([live.status, sockets.length]).toEqual(['unauthorized', 1]);
});

test('a connection that stays silent is asked, and given up without a reply', () => {
  connect();
  socket(0).accept();
  socket(0).say(SNAPSHOT);
  vi.advanceTimersByTime(60_000);
  expect(socket(0).sent.length).toBe(2);
  socket(0).say(SNAPSHOT);
  vi.advanceTimersByTime(60_000 + 15_000);
  expect(statuses).toEqual(['open', 'waiting']);
  vi.advanceTimersByTime(500);
  expect(sockets.length).toBe(2);
});

describe('a server that sends heartbeats', () => {
  const RESUMED = { type: 'resumed', missed: 0, missedNotifications: 0, cursor: '0:1', heartbeatSeconds: 5 };
  const open = (more: Partial<LiveOptions> = {}) => {
    const live = connect(more);
    socket(0).accept();
    socket(0).say(RESUMED);
    return live;
  };

  test('is lost after two that did not come, and is not asked first', () => {
    const live = open();
    vi.advanceTimersByTime(10_999);
    expect(live.status).toBe('open');
    vi.advanceTimersByTime(1);
    expect([live.status, socket(0).readyState, socket(0).sent.length]).toEqual(['waiting', 3, 1]);
    vi.advanceTimersByTime(500);
    expect(sockets.length).toBe(2);
  });

  test('is there while anything comes; heartbeats are not given on', () => {
    const live = open();
    for (const message of [{ type: 'heartbeat' }, { type: 'unread', count: 1 }, { type: 'heartbeat' }]) {
      vi.advanceTimersByTime(9000);
      socket(0).say(message);
    }
    expect([live.status, sockets.length]).toEqual(['open', 1]);
    expect(messages.map(({ type }) => type)).toEqual(['resumed', 'unread']);
  });

  test('is not lost by a timer that is late: messages that wait are taken first', () => {
    const live = open();
    // A tab that was hidden, or a computer that slept: its clock goes on, its timers come late.
    const sleep = (ms: number) => {
      const startMs = performance.now();
      const now = vi.spyOn(performance, 'now').mockImplementation(() => startMs + ms);
      vi.advanceTimersByTime(11_000);
      now.mockRestore();
    };
    sleep(60_000);
    expect(live.status).toBe('open');
    socket(0).say({ type: 'heartbeat' });
    vi.advanceTimersByTime(10_999);
    expect(live.status).toBe('open');
    socket(0).say({ type: 'heartbeat' });
    sleep(60_000);
    // Nothing waited: even where the next timer is late as well.
    sleep(120_000);
    expect(live.status).toBe('waiting');
  });

  test('may be followed by an older one, which is asked after its silence as before', () => {
    open();
    socket(0).end(1006);
    vi.advanceTimersByTime(500);
    socket(1).accept();
    socket(1).say(SNAPSHOT);
    vi.advanceTimersByTime(59_999);
    expect(socket(1).sent.length).toBe(1);
    vi.advanceTimersByTime(1);
    expect(socket(1).sent.length).toBe(2);
  });
});

test('a network that is gone ends an open connection at once, and attempts go on', () => {
  const live = connect();
  live.networkLost();
  expect([live.status, statuses]).toEqual(['connecting', []]);
  socket(0).accept();
  socket(0).say(SNAPSHOT);
  live.networkLost();
  expect(statuses).toEqual(['open', 'waiting']);
  live.networkLost();
  vi.advanceTimersByTime(500);
  expect(sockets.length).toBe(2);
});

test('an attempt that nothing answers is given up', () => {
  connect();
  vi.advanceTimersByTime(15_000);
  expect(statuses).toEqual(['waiting']);
  vi.advanceTimersByTime(500);
  expect(sockets.length).toBe(2);
});

test('a new subscription goes over the same connection, with the cursor', () => {
  const live = connect({ since: '0:3' });
  socket(0).accept();
  live.subscribe({ vehicles: ['v'], positions: false });
  expect(socket(0).sent.at(-1)).toEqual({ type: 'subscribe', vehicles: ['v'], positions: false, since: '0:3' });
});

test('the network’s return ends the wait; closing ends everything', () => {
  const live = connect();
  socket(0).end(1006);
  live.retryNow();
  expect(sockets.length).toBe(2);
  live.close();
  socket(1).end(1006);
  vi.advanceTimersByTime(60_000);
  expect([live.status, sockets.length]).toEqual(['closed', 2]);
});

test('offers the binary subprotocol where asked to, and reads what comes in it', () => {
  connect({ isBinary: true });
  expect(socket(0).protocols).toEqual(['outrider.live.v1+binary', 'outrider.live.v1']);
  expect(socket(0).binaryType).toBe('arraybuffer');
  socket(0).accept();
  const empty = new Uint8Array(16);
  empty.set([1, 3]);
  socket(0).dispatchEvent(new MessageEvent('message', { data: empty.buffer }));
  expect(messages).toEqual([
    {
      ...{ type: 'records', about: 'vehicles', isSnapshot: true, isComplete: true },
      ...{ serverTimeMs: 0, records: [], delaysMs: null },
    },
  ]);
  expect(statuses).toEqual(['open']);
  connect();
  expect(socket(1).protocols).toEqual([]);
});

describe('the way to the server and back', () => {
  test('is measured by a message and its answer, which is not given on', async () => {
    const live = connect();
    expect(await live.roundTripMs()).toBeNull();
    socket(0).accept();
    socket(0).say(SNAPSHOT);
    const measured = live.roundTripMs();
    expect(socket(0).sent.at(-1)).toEqual({ type: 'ping' });
    // One at a time: pongs do not say what they answer.
    expect(await live.roundTripMs()).toBeNull();
    vi.advanceTimersByTime(37);
    socket(0).say({ type: 'pong' });
    expect(await measured).toBe(37);
    expect(messages.map(({ type }) => type)).toEqual(['snapshot']);
    // One that nobody asked for.
    socket(0).say({ type: 'pong' });
    expect(live.status).toBe('open');
  });

  test('is not known of a connection that ends before, and is measured again on the next', async () => {
    const live = connect();
    socket(0).accept();
    socket(0).say(SNAPSHOT);
    const measured = live.roundTripMs();
    socket(0).end(1006);
    expect(await measured).toBeNull();
    expect(await live.roundTripMs()).toBeNull();
    vi.advanceTimersByTime(500);
    socket(1).accept();
    socket(1).say(SNAPSHOT);
    const again = live.roundTripMs();
    socket(1).say({ type: 'pong' });
    expect(await again).toBe(0);
  });
});

test('an API key is said first, in place of a token', () => {
  connect({ apiKey: 'outrider_1_2', token: () => 'a.b.c' });
  sockets[0]?.accept();
  expect(sockets[0]?.sent[0]).toEqual({ type: 'authorize', jwt: 'outrider_1_2' });
});
