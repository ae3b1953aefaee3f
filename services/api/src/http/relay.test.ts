import { type DefinitionChange, SYSTEM_CLOCK } from '@outrider/domain';
import type { PendingChange } from '@outrider/registry';
import { createLogger, Metrics } from '@outrider/runtime';
import { expect, test, vi } from 'vitest';
import { createRelay } from './relay.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };

const logger = createLogger('silent', 'json');

function change(version: number): DefinitionChange {
  return { kind: 'group', id: 'group', version, changedAtMs: version, definition: null };
}

/** An outbox in memory, a log that can refuse, and everything the log took. */
function world() {
  const pending: PendingChange[] = [];
  const published: DefinitionChange[] = [];
  let listener: () => void = () => {};
  const world = {
    pending,
    published,
    refusing: false,
    /** Another instance is at it. */
    othersTurn: false,
    commit(version: number, notify = true) {
      pending.push({ seq: version, change: change(version) });
      if (notify) listener();
    },
    registry: {
      outbox: {
        inTurn: async <T>(publish: () => Promise<T>) => (world.othersTurn ? null : publish()),
        after: async (seq: number) => pending.filter((each) => each.seq > seq),
        size: async () => pending.length,
        pending: async (limit: number) => pending.slice(0, limit),
        delivered: async (seqs: readonly number[]) => {
          for (const seq of seqs)
            pending.splice(
              pending.findIndex((row) => row.seq === seq),
              1,
            );
        },
      },
      async *definitionVersions() {},
      definitionsOf: async () => [],
      onChange: (onCommit: () => void) => {
        listener = onCommit;
        return () => {
          listener = () => {};
        };
      },
    },
    log: {
      bounds: async () => new Map([[0, { earliest: 0, end: published.length }]]),
      async *read() {
        const records = published.map((change, offset) => ({ offset, value: { change, isCurrent: true } }));
        yield { partition: 0, records };
      },
      append: async (_: unknown, records: readonly unknown[]) => {
        if (world.refusing) throw new Error('disk full');
        published.push(...(records as DefinitionChange[]));
      },
    },
  };
  return world;
}

const relayOf = ({ registry, log }: ReturnType<typeof world>) =>
  createRelay({ registry, log, logger, metrics: new Metrics(), clock: SYSTEM_CLOCK } as never);

test('what an earlier run left is published before the relay counts as started', async () => {
  const its = world();
  its.commit(1, false);
  its.commit(2, false);
  const relay = relayOf(its);
  await relay.start();
  expect(its.published).toEqual([change(1), change(2)]);
  expect(its.pending).toEqual([]);
  await relay.stop();
});

test('changes are published in order as they are committed, and those of other processes are found', async () => {
  const its = world();
  const relay = relayOf(its);
  await relay.start();
  its.commit(1);
  its.commit(2);
  its.commit(3, false);
  await vi.waitFor(() => expect(its.published).toEqual([change(1), change(2), change(3)]), PATIENCE);
  await relay.stop();
});

test('what the log does not take stays in the outbox until it does', async () => {
  const its = world();
  const relay = relayOf(its);
  await relay.start();
  its.refusing = true;
  its.commit(1);
  await vi.waitFor(() => expect(relay.check()).rejects.toThrow('definitions do not reach the log'), PATIENCE);
  expect(its.pending).toHaveLength(1);
  its.refusing = false;
  await vi.waitFor(() => expect(its.published).toEqual([change(1)]), PATIENCE);
  expect(its.pending).toEqual([]);
  await relay.stop();
});

test('nothing is published while another instance publishes; what that one leaves is', async () => {
  const its = world();
  its.othersTurn = true;
  its.commit(1, false);
  const relay = relayOf(its);
  await relay.start();
  its.commit(2);
  expect(its.published).toEqual([]);
  expect(await relay.check()).toEqual({ behind: { definitions: 2 } });
  its.othersTurn = false;
  await vi.waitFor(() => expect(its.published).toEqual([change(1), change(2)]), PATIENCE);
  await relay.stop();
});

test('stopping publishes what was committed until then', async () => {
  const its = world();
  const relay = relayOf(its);
  await relay.start();
  its.commit(1);
  await relay.stop();
  expect(its.published).toEqual([change(1)]);
});
