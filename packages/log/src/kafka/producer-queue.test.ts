import { setImmediate as nextTurn } from 'node:timers/promises';
import { VirtualClock } from '@outrider/testing/clock';
import type { ProducerBatch } from 'kafkajs';
import { expect, test } from 'vitest';
import type { KafkaClients } from './clients.ts';
import { ProducerQueue } from './producer-queue.ts';

/** Producers that hand each request to the test, to take or to refuse. */
function brokers() {
  const requests: { values: string[]; take(): void; refuse(): void }[] = [];
  let connected = 0;
  const producer = {
    connect: async () => void connected++,
    disconnect: async () => {},
    sendBatch: ({ topicMessages = [] }: ProducerBatch) =>
      new Promise<void>((resolve, reject) => {
        const values = topicMessages.flatMap(({ messages }) => messages.map(({ value }) => String(value)));
        requests.push({ values, take: resolve, refuse: () => reject(new Error('not now')) });
      }),
  };
  return { requests, connected: () => connected, clients: { producer: () => producer } as unknown as KafkaClients };
}

async function turns(): Promise<void> {
  for (let i = 0; i < 5; i++) await nextTurn();
}

test('where a request fails, all that waits behind it does, and what is sent after that goes out again in order', async () => {
  const { requests, connected, clients } = brokers();
  const queue = new ProducerQueue(clients, 0);
  const reported: string[] = [];
  const send = (value: string) =>
    queue.send({
      topic: 'texts',
      key: 'k',
      value: Buffer.from(value),
      bytes: value.length,
      settle: (error) => reported.push(`${value} ${error?.message ?? 'taken'}`),
    });
  send('1');
  await turns();
  send('2');
  send('3');
  await turns();
  expect(requests.map(({ values }) => values)).toEqual([['1']]);
  requests[0]?.refuse();
  await turns();
  const refused = 'Kafka did not take the records: not now';
  expect(reported).toEqual([`1 ${refused}`, `2 ${refused}`, `3 ${refused}`]);
  for (const value of ['1', '2', '3']) send(value);
  await turns();
  expect(requests.slice(1).map(({ values }) => values)).toEqual([['1', '2', '3']]);
  requests[1]?.take();
  await queue.close();
  expect(reported.slice(3)).toEqual(['1 taken', '2 taken', '3 taken']);
  expect(connected()).toBe(2);
});

test('many small records go in requests of a thousand, few large ones in requests that a broker takes, in their order', async () => {
  const { requests, clients } = brokers();
  const queue = new ProducerQueue(clients, 0);
  const send = (value: string, bytes: number) =>
    queue.send({ topic: 'texts', key: 'k', value: Buffer.from(value), bytes, settle: () => {} });
  for (let i = 0; i < 2500; i++) send(`small ${i}`, 100);
  for (let i = 0; i < 4; i++) send(`large ${i}`, 400_000);
  for (let taken = 0; taken < 4; taken++) {
    await turns();
    requests[taken]?.take();
  }
  await queue.close();
  const sent = requests.map(({ values }) => values);
  expect(sent.map(({ length }) => length)).toEqual([1000, 1000, 502, 2]);
  expect(sent.flat()).toEqual([
    ...Array.from({ length: 2500 }, (_, i) => `small ${i}`),
    ...Array.from({ length: 4 }, (_, i) => `large ${i}`),
  ]);
});

test('what comes right behind a request waits a little for more, but for a full request', async () => {
  const clock = new VirtualClock();
  const { requests, clients } = brokers();
  const queue = new ProducerQueue(clients, 50, clock);
  const send = (value: string) =>
    queue.send({ topic: 'texts', key: 'k', value: Buffer.from(value), bytes: 100, settle: () => {} });
  const sizes = () => requests.map(({ values }) => values.length);
  send('at once');
  await turns();
  requests[0]?.take();
  send('soon');
  await turns();
  await clock.advance(30);
  send('soon as well');
  await turns();
  expect(sizes()).toEqual([1]);
  await clock.advance(20);
  await turns();
  expect(sizes()).toEqual([1, 2]);
  for (let i = 0; i < 1000; i++) send(`many ${i}`);
  requests[1]?.take();
  await turns();
  expect(sizes()).toEqual([1, 2, 1000]);
  requests[2]?.take();
  await queue.close();
});
