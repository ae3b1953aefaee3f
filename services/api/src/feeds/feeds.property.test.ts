import type { GroupId, VehicleId } from '@outrider/domain';
import { correctionsTopic, eventsTopic, type Topic, telemetryTopic } from '@outrider/log';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';

import {
  addVehicle,
  anna,
  closeFeeds,
  EVENTS,
  event,
  from,
  log,
  north,
  openFeeds,
  POSITIONS,
  packet,
  read,
  restart,
  south,
  T0,
  world,
} from './feeds.fixture.ts';

beforeEach(openFeeds);
afterEach(closeFeeds);

test('whatever is written when, and wherever a consumer goes on: nothing is missed, and nothing comes twice', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('events' as const), count: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ kind: fc.constant('corrections' as const), count: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ kind: fc.constant('positions' as const), count: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ kind: fc.constant('read' as const), count: fc.integer({ min: 1, max: 12 }) }),
    fc.record({ kind: fc.constant('restart' as const), count: fc.constant(0) }),
  );
  let second = 0;
  const groups: GroupId[][] = [[north], [south], [north, south]];
  const fleet = await Promise.all(groups.map(async (groupIds) => (await addVehicle(groupIds)).id));
  const isNorthern = (id: VehicleId) => (world.directory.vehicles.get(id)?.groupIds ?? []).includes(north);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 20 }), async (steps) => {
      // A minute's limits, and the life of a token, count by the clock of the test.
      world.nowMs += 120_000;
      const jwt = await world.tokenOf(anna.user);
      let cursors = {
        events: (await read(EVENTS, jwt)).nextCursor,
        positions: (await read(POSITIONS, jwt)).nextCursor,
      };
      const wanted = { events: [] as string[], positions: [] as string[] };
      const got = { events: [] as string[], positions: [] as string[] };
      const append = async <T>(topic: Topic<T>, record: T) => log.append(topic, [record]);
      const take = async (limit: number) => {
        world.nowMs += 2000;
        const events = await read(from(EVENTS, cursors.events, `&limit=${limit}`), jwt);
        const positions = await read(from(POSITIONS, cursors.positions, `&limit=${limit}`), jwt);
        got.events.push(...events.items.map(({ id, phase }: { id: string; phase: string }) => `${id} ${phase}`));
        got.positions.push(
          ...positions.items.map(
            ({ vehicleId, fixTime }: { vehicleId: string; fixTime: string }) => `${vehicleId} ${Date.parse(fixTime)}`,
          ),
        );
        cursors = { events: events.nextCursor, positions: positions.nextCursor };
        return events.items.length + positions.items.length > 0;
      };
      for (const { kind, count } of steps) {
        for (let nth = 0; nth < count && kind !== 'read'; nth++) {
          const vehicleId = fleet[(nth * 7 + count) % 3] as VehicleId;
          const visible = isNorthern(vehicleId);
          const one = event(vehicleId);
          if (kind === 'events') await append(eventsTopic, one);
          if (kind === 'corrections') await append(correctionsTopic, { event: one, removed: nth % 2 === 0 });
          const phase = kind === 'corrections' && nth % 2 === 0 ? 'removed' : 'begin';
          if (visible && kind !== 'positions') wanted.events.push(`${one.id} ${phase}`);
          if (kind !== 'positions') continue;
          const seconds = [++second, ++second, ++second];
          await append(telemetryTopic, packet(vehicleId, seconds));
          if (visible) wanted.positions.push(...seconds.map((second) => `${vehicleId} ${T0 + second * 1000}`));
        }
        if (kind === 'read') await take(count);
        if (kind === 'restart') await restart();
      }
      while (await take(7)) {
        // Until there is no more.
      }
      expect(got.events.toSorted()).toEqual(wanted.events.toSorted());
      expect(got.positions.toSorted()).toEqual(wanted.positions.toSorted());
      // Those of a vehicle in the order in which they came.
      for (const vehicleId of fleet) {
        const of = (all: string[]) => all.filter((each) => each.startsWith(vehicleId));
        expect(of(got.positions)).toEqual(of(wanted.positions));
      }
    }),
    { numRuns: runs(60) },
  );
}, 120_000);
