import { type DefinitionChange, Directory, type UserId, type Vehicle, type VehicleId } from '@outrider/domain';
import { sampleUser, sampleVehicle } from '@outrider/domain/samples';
import { expect, test, vi } from 'vitest';
import type { LiveClient } from '../client.ts';
import { DefinitionFeed } from './definition-feed.ts';

const OPERATOR = 'operator' as UserId;

/** A client that takes nothing until it is drained. */
class SlowClient {
  userId = OPERATOR;
  subscription = { definitions: true, unread: false };
  catchingUp = false;
  open = true;
  slow = false;
  grant = null;
  readonly messages: { changes: { id: string; change: string }[] }[] = [];
  #drain = Promise.withResolvers<void>();

  callerIn(directory: Directory) {
    return directory.userOf(this);
  }

  send(frame: Buffer): void {
    this.messages.push(JSON.parse(frame.subarray(frame.indexOf('{')).toString()));
  }

  drained(): Promise<void> {
    return this.#drain.promise;
  }

  drain(): void {
    this.slow = false;
    this.#drain.resolve();
  }
}

function scene() {
  const directory = new Directory();
  const added: VehicleId[] = [];
  const inc = vi.fn();
  const feed = new DefinitionFeed({
    directory,
    connections: { of: () => [] },
    metrics: { sent: { definition: { inc } } as never },
    onVehiclesAdded: (_, ids) => added.push(...ids),
    onRights() {},
  });
  const apply = (change: Omit<DefinitionChange, 'changedAtMs'>) => {
    const notify = feed.prepare({ ...change, changedAtMs: 0 });
    directory.apply({ ...change, changedAtMs: 0 });
    notify();
  };
  const define = (vehicle: Vehicle) =>
    apply({ kind: 'vehicle', id: vehicle.id, version: vehicle.version, definition: vehicle });
  apply({ kind: 'user', id: OPERATOR, version: 1, definition: sampleUser({ id: OPERATOR, role: 'operator' }) });
  const client = new SlowClient();
  feed.update(client as unknown as LiveClient);
  return { feed, client, apply, define, added };
}

const vehicle = (id: string, version: number) => sampleVehicle({ id: id as VehicleId, version });
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('what a slow client has not taken is conflated to the last change of each thing, and comes when it is drained', async () => {
  const { client, apply, define, added } = scene();
  define(vehicle('known', 1));
  await settled();
  client.slow = true;
  define(vehicle('known', 2));
  define(vehicle('known', 3));
  define(vehicle('new', 1));
  define(vehicle('new', 2));
  define(vehicle('short-lived', 1));
  apply({ kind: 'vehicle', id: 'short-lived', version: 2, definition: null });
  await settled();
  expect(client.messages).toHaveLength(1);
  client.drain();
  await settled();
  expect(client.messages.slice(1)).toEqual([
    {
      type: 'definition',
      changes: [
        { kind: 'vehicle', id: 'known', change: 'changed', version: 3 },
        { kind: 'vehicle', id: 'new', change: 'added', version: 2 },
        { kind: 'vehicle', id: 'short-lived', change: 'removed', version: null },
      ],
    },
  ]);
  expect(added).toEqual(['known', 'new']);
});

test('many changes come in messages of at most 1000', async () => {
  const { client, define } = scene();
  for (let nth = 0; nth < 2500; nth++) define(vehicle(`vehicle-${nth}`, 1));
  await settled();
  expect(client.messages.map(({ changes }) => changes.length)).toEqual([1000, 1000, 500]);
});

test('a client that catches up gets the changes afterwards, and one that left gets none', async () => {
  const { feed, client, define } = scene();
  client.catchingUp = true;
  define(vehicle('van', 1));
  await settled();
  expect(client.messages).toEqual([]);
  client.catchingUp = false;
  feed.flush(client as unknown as LiveClient);
  expect(client.messages.map(({ changes }) => changes.map(({ id }) => id))).toEqual([['van']]);
  feed.remove(client as unknown as LiveClient);
  define(vehicle('van', 2));
  await settled();
  expect(client.messages).toHaveLength(1);
});
