import { MessageChannel } from 'node:worker_threads';
import type { AddressedCommand, CommandOutcome, TerminalCommand, TerminalId } from '@outrider/domain';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { connectHub, serveHub } from './bridge.ts';
import type { Hub } from './hub.ts';
import { MemoryHub } from './memory.ts';
import {
  openTerminalCommands,
  outranks,
  serveTerminalCommands,
  type TerminalCommands,
  type TerminalPresence,
} from './terminal-commands.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };

const CAR = '13900000001' as TerminalId;
const END: TerminalCommand = { type: 'control-playback', channel: 1, action: 'end', seekToMs: null };
const DONE: CommandOutcome = { outcome: 'answered', answer: { type: 'acknowledged', result: 'done' } };

let hub: MemoryHub;
let distant: Hub;
const closing: (() => Promise<void>)[] = [];

beforeEach(() => {
  hub = new MemoryHub();
  const { port1, port2 } = new MessageChannel();
  serveHub(hub, port1);
  distant = connectHub(port2);
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await distant.close();
});

function fail(error: unknown): never {
  throw error;
}

describe('a terminal that is connected to two gateways', () => {
  const link = (sinceMs: number, isProven: boolean, isInUse: boolean) => ({ sinceMs, isProven, isInUse });

  test.each([
    ['one that has proven itself comes first', link(1, true, false), link(2, false, true)],
    ['of two that have, the one that came again', link(2, true, true), link(1, true, true)],
    ['of two that have not, the one in use', link(2, false, true), link(1, false, false)],
    ['of two in use, the one that was there before', link(1, false, true), link(2, false, true)],
    ['of two that are silent, the one that came again', link(2, false, false), link(1, false, false)],
  ])('%s', async (_, first, second) => {
    expect(outranks(first, second)).toBe(true);
    expect(outranks(second, first)).toBe(false);
    const delivered: string[] = [];
    const commands = await openTerminalCommands(hub);
    closing.push(() => commands.close());
    const open = async (name: string, facts: typeof first) => {
      const presence = await serveTerminalCommands(
        hub,
        {
          online: () => [CAR],
          link: () => facts,
          has: () => true,
          async deliver() {
            delivered.push(name);
            return DONE;
          },
        },
        fail,
      );
      closing.push(() => presence.close());
      return presence;
    };
    const [one, other] = [await open('first', first), await open('second', second)];
    one.came(CAR);
    await vi.waitFor(() => expect(commands.isOnline(CAR)).toBe(true), PATIENCE);
    other.came(CAR);
    await vi.waitFor(async () => {
      delivered.length = 0;
      await commands.send(CAR, END, { timeoutMs: 1000 });
      expect(delivered).toEqual(['first']);
    }, PATIENCE);
  });
});

/** Lets time pass, faster than it does, until a promise is settled. */
async function passTime<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  void promise.finally(() => {
    isSettled = true;
  });
  while (!isSettled) await clock.advance(20);
  return promise;
}

/** A gateway in another thread, with the terminals it is given. */
async function gateway(
  online: Set<TerminalId>,
  answer: (addressed: AddressedCommand) => Promise<CommandOutcome> = async () => DONE,
  at: Hub = distant,
): Promise<TerminalPresence & { delivered: AddressedCommand[] }> {
  const delivered: AddressedCommand[] = [];
  const presence = await serveTerminalCommands(
    at,
    {
      online: () => online,
      has: (terminalId) => online.has(terminalId),
      deliver(addressed) {
        if (!online.has(addressed.terminalId)) return null;
        delivered.push(addressed);
        return answer(addressed);
      },
    },
    fail,
  );
  closing.push(() => presence.close());
  return { ...presence, delivered };
}

async function commands(clock?: VirtualClock): Promise<TerminalCommands> {
  const open = await openTerminalCommands(hub, { onError: fail, ...(clock && { clock }) });
  closing.push(() => open.close());
  return open;
}

describe('commands to terminals', () => {
  test('reach the gateway that has the terminal, and its answer comes back', async () => {
    const has = await gateway(new Set([CAR]));
    const hasNot = await gateway(new Set(), undefined, hub);
    const open = await commands();
    expect(await open.send(CAR, END, { timeoutMs: 1000 })).toEqual(DONE);
    expect(has.delivered).toMatchObject([{ terminalId: CAR, command: END, timeoutMs: 1000 }]);
    expect(hasNot.delivered).toEqual([]);
  });

  test('of several senders are told apart', async () => {
    await gateway(new Set([CAR]), async ({ command }) => ({
      outcome: 'answered',
      answer: {
        type: 'recordings',
        recordings: [{ channel: 'channel' in command && command.channel } as never],
      },
    }));
    const senders = await Promise.all([commands(), commands()]);
    const asked = senders.flatMap((open, i) =>
      [0, 1, 2].map((j) => open.send(CAR, { ...END, channel: i * 10 + j }, { timeoutMs: 1000 })),
    );
    const channels = (await Promise.all(asked)).map(
      (come) => come.outcome === 'answered' && come.answer.type === 'recordings' && come.answer.recordings[0]?.channel,
    );
    expect(channels).toEqual([0, 1, 2, 10, 11, 12]);
  });

  test('go to one gateway only, where two have the terminal', async () => {
    const first = await gateway(new Set([CAR]));
    const second = await gateway(new Set([CAR]), undefined, hub);
    const open = await commands();
    await vi.waitFor(() => expect(open.isOnline(CAR)).toBe(true), PATIENCE);
    await open.send(CAR, END, { timeoutMs: 1000 });
    expect(first.delivered.length + second.delivered.length).toBe(1);
  });

  test('that nobody takes were not given, and the terminal is off-line then', async () => {
    const online = new Set([CAR]);
    await gateway(online);
    const clock = new VirtualClock();
    const open = await commands(clock);
    await vi.waitFor(() => expect(open.isOnline(CAR)).toBe(true), PATIENCE);
    online.clear();
    const received: [TerminalId, boolean][] = [];
    open.onPresence((...news) => received.push(news));
    expect(await passTime(clock, open.send(CAR, END, { timeoutMs: 1000 }))).toEqual({ outcome: 'offline' });
    expect(open.isOnline(CAR)).toBe(false);
    expect(received).toEqual([[CAR, false]]);
  });

  test('are asked for first where they must not be sent in vain', async () => {
    const online = new Set([CAR]);
    const { delivered } = await gateway(online);
    const open = await commands();
    expect(await open.isReachable(CAR)).toBe(false);
    await vi.waitFor(async () => expect(await open.isReachable(CAR)).toBe(true), PATIENCE);
    online.clear();
    expect(await open.isReachable(CAR)).toBe(false);
    expect(open.isOnline(CAR)).toBe(false);
    expect(delivered).toEqual([]);
    // Calls of a hub are answered in their order: the gateway has finished its own.
    await distant.publish('any', '');
  });

  test('may have been sent where no gateway confirms', async () => {
    const clock = new VirtualClock();
    const open = await commands(clock);
    const outcome = await passTime(clock, open.send(CAR, END, { timeoutMs: 1000 }));
    expect(outcome).toEqual({ outcome: 'offline', maybeSent: true });
  });

  test('that a gateway took and never tells of are unanswered', async () => {
    await gateway(new Set([CAR]), () => new Promise(() => {}));
    const clock = new VirtualClock();
    const open = await commands(clock);
    expect(await passTime(clock, open.send(CAR, END, { timeoutMs: 10 }))).toEqual({ outcome: 'unanswered' });
  });

  test('can be given up, before and after they are sent', async () => {
    await gateway(new Set([CAR]), () => new Promise(() => {}));
    const open = await commands();
    expect(await open.send(CAR, END, { timeoutMs: 1000, signal: AbortSignal.abort() })).toEqual({ outcome: 'aborted' });
    const giveUp = new AbortController();
    const sent = open.send(CAR, END, { timeoutMs: 1000, signal: giveUp.signal });
    giveUp.abort();
    expect(await sent).toEqual({ outcome: 'aborted' });
  });

  test('under way are bounded', async () => {
    await gateway(new Set([CAR]), () => new Promise(() => {}));
    const open = await commands();
    const giveUp = new AbortController();
    const sent = Array.from({ length: 1000 }, () => open.send(CAR, END, { timeoutMs: 1000, signal: giveUp.signal }));
    expect(await open.send(CAR, END, { timeoutMs: 1000 })).toEqual({ outcome: 'overloaded' });
    giveUp.abort();
    expect(new Set((await Promise.all(sent)).map(({ outcome }) => outcome))).toEqual(new Set(['aborted']));
  });
});

describe('presence', () => {
  test('of terminals that were there before is told by the roll-call, and then as they come and go', async () => {
    const online = new Set([CAR]);
    const other = '13900000002' as TerminalId;
    const presence = await gateway(online);
    const open = await commands();
    const received: [TerminalId, boolean][] = [];
    open.onPresence((...news) => received.push(news));
    await vi.waitFor(() => expect(open.isOnline(CAR)).toBe(true), PATIENCE);
    online.add(other);
    presence.came(other);
    await vi.waitFor(() => expect(open.isOnline(other)).toBe(true), PATIENCE);
    online.delete(CAR);
    presence.went(CAR);
    await vi.waitFor(() => expect(open.isOnline(CAR)).toBe(false), PATIENCE);
    expect(received.filter(([id]) => id === other)).toEqual([[other, true]]);
    expect(received.at(-1)).toEqual([CAR, false]);
  });

  test('that moved to another gateway stays, whatever the first one says later', async () => {
    const first = await gateway(new Set());
    const second = await gateway(new Set(), undefined, hub);
    const open = await commands();
    first.came(CAR);
    await vi.waitFor(() => expect(open.isOnline(CAR)).toBe(true), PATIENCE);
    const received: boolean[] = [];
    open.onPresence((_, online) => received.push(online));
    // What a gateway says is received in its order: once another terminal of its is known, so is what it said before.
    const saysAfter = async (presence: TerminalPresence, other: TerminalId) => {
      presence.came(other);
      await vi.waitFor(() => expect(open.isOnline(other)).toBe(true), PATIENCE);
    };
    second.came(CAR);
    await saysAfter(second, '13900000008' as TerminalId);
    first.went(CAR);
    await saysAfter(first, '13900000009' as TerminalId);
    expect(received).toContain(true);
    expect(open.isOnline(CAR)).toBe(true);
    expect(received).not.toContain(false);
  });

  test('ends with its gateway, told or not', async () => {
    const online = new Set([CAR]);
    const presence = await gateway(online);
    const clock = new VirtualClock();
    const open = await commands(clock);
    await vi.waitFor(() => expect(open.isOnline(CAR)).toBe(true), PATIENCE);
    await presence.close();
    await vi.waitFor(() => expect(open.isOnline(CAR)).toBe(false), PATIENCE);

    // As a gateway that was killed: it once said that it has the terminal, and never again.
    await hub.publish('terminal-presence', JSON.stringify({ gateway: 'killed', online: [CAR], offline: [] }));
    expect(open.isOnline(CAR)).toBe(true);
    // The roll is called every minute.
    await clock.advance(179_999);
    expect(open.isOnline(CAR)).toBe(true);
    await clock.advance(1);
    expect(open.isOnline(CAR)).toBe(false);
  });

  test('of a terminal whose gateway was too slow to take a command comes back soon', async () => {
    const online = new Set([CAR]);
    await gateway(online);
    const clock = new VirtualClock();
    const open = await commands(clock);
    await vi.waitFor(() => expect(open.isOnline(CAR)).toBe(true), PATIENCE);
    online.clear();
    expect(await passTime(clock, open.send(CAR, END, { timeoutMs: 1000 }))).toEqual({ outcome: 'offline' });
    online.add(CAR);
    await clock.advance(1000);
    await vi.waitFor(() => expect(open.isOnline(CAR)).toBe(true), PATIENCE);
  });

  test('is not disturbed by what is no message', async () => {
    const open = await commands();
    await gateway(new Set([CAR]), undefined, hub);
    for (const channel of ['terminal-presence', 'terminal-commands', 'terminal-roll-call'])
      for (const text of ['', 'null', '7', '{', '"x"', '{}']) await hub.publish(channel, text);
    expect(await open.send(CAR, END, { timeoutMs: 1000 })).toEqual(DONE);
  });
});
