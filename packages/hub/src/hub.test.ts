import { MessageChannel } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { connectHub, serveHub } from './bridge.ts';
import { hubConformance } from './hub.conformance.ts';
import { MemoryHub } from './memory.ts';

hubConformance('memory', async () => new MemoryHub());

hubConformance('memory, from another thread', async () => {
  const { port1, port2 } = new MessageChannel();
  serveHub(new MemoryHub(), port1);
  return connectHub(port2);
});

test('a hub that is away refuses listeners of another thread, who can try again', async () => {
  const hub = new MemoryHub();
  const { port1, port2 } = new MessageChannel();
  let isAway = true;
  const away = async (): Promise<never> => {
    throw new Error('the hub is away');
  };
  const onLatest: MemoryHub['onLatest'] = (listener) => (isAway ? away() : hub.onLatest(listener));
  const subscribe: MemoryHub['subscribe'] = (channel, listener) => (isAway ? away() : hub.subscribe(channel, listener));
  serveHub(Object.assign(Object.create(hub), { onLatest, subscribe }), port1);
  const remote = connectHub(port2);
  try {
    await expect(remote.onLatest(() => {})).rejects.toThrow('the hub is away');
    const refused: string[] = [];
    await expect(remote.subscribe('news', (message) => refused.push(message))).rejects.toThrow('the hub is away');
    isAway = false;
    const received: string[] = [];
    await (await remote.onLatest(() => {}))();
    await remote.subscribe('news', (message) => received.push(message));
    await hub.publish('news', 'here');
    await expect.poll(() => received, { timeout: 20_000 }).toEqual(['here']);
    expect(refused).toEqual([]);
  } finally {
    await remote.close();
  }
});
