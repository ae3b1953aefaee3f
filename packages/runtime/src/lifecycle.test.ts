import { VirtualClock } from '@outrider/testing/clock';
import { expect, test } from 'vitest';
import { Lifecycle, type Part } from './lifecycle.ts';
import { createLogger } from './logger.ts';

const silent = createLogger('silent', 'json');

function recorded(name: string, journal: string[], faults: { start?: boolean; stop?: boolean } = {}): Part {
  return {
    name,
    async start() {
      if (faults.start) throw new Error(`${name} cannot start`);
      journal.push(`+${name}`);
    },
    async stop() {
      journal.push(`-${name}`);
      if (faults.stop) throw new Error(`${name} cannot stop`);
    },
  };
}

test('parts stop in the reverse order of their start, once', async () => {
  const journal: string[] = [];
  const lifecycle = new Lifecycle(silent);
  await lifecycle.start(recorded('log', journal));
  await lifecycle.start(recorded('gateway', journal));
  await Promise.all([lifecycle.stop(), lifecycle.stop()]);
  expect(journal).toEqual(['+log', '+gateway', '-gateway', '-log']);
});

test('what was open already is closed in its turn', async () => {
  const journal: string[] = [];
  const lifecycle = new Lifecycle(silent);
  lifecycle.own('folder', () => void journal.push('-folder'));
  await lifecycle.start(recorded('log', journal));
  await lifecycle.stop();
  expect(journal).toEqual(['+log', '-log', '-folder']);
});

test('a start that fails stops what had started, and says why', async () => {
  const journal: string[] = [];
  const lifecycle = new Lifecycle(silent);
  await lifecycle.start(recorded('log', journal));
  await expect(lifecycle.start(recorded('gateway', journal, { start: true }))).rejects.toThrow('gateway cannot start');
  expect(journal).toEqual(['+log', '-log']);
});

test('a part that fails to stop does not keep the others from stopping', async () => {
  const journal: string[] = [];
  const lifecycle = new Lifecycle(silent);
  await lifecycle.start(recorded('log', journal));
  await lifecycle.start(recorded('gateway', journal, { stop: true }));
  await expect(lifecycle.stop()).rejects.toThrow('cleanly');
  expect(journal).toEqual(['+log', '+gateway', '-gateway', '-log']);
});

test('the failure of one part is the failure of all', async () => {
  const lifecycle = new Lifecycle(silent);
  await lifecycle.start({ ...recorded('rules', []), failed: Promise.reject(new Error('poison')) });
  await expect(lifecycle.failed).rejects.toThrow('poison');
});

test('a part that takes long to start is named in the log every five seconds, and no more once it has started', async () => {
  const clock = new VirtualClock();
  const said: unknown[] = [];
  const warn = (facts: unknown, message: string) => said.push([facts, message]);
  const lifecycle = new Lifecycle({ ...silent, warn } as never, clock);
  const { promise, resolve } = Promise.withResolvers<{ close(): void }>();
  const opened = lifecycle.open('registry', () => promise);
  await clock.advance(4999);
  expect(said).toEqual([]);
  await clock.advance(5001);
  expect(said).toEqual([5, 10].map((seconds) => [{ part: 'registry', seconds }, 'waiting for a part to start']));
  let closed = 0;
  resolve({ close: () => void closed++ });
  await opened;
  await clock.advance(60_000);
  expect(said).toHaveLength(2);
  await lifecycle.stop();
  expect(closed).toBe(1);
});
