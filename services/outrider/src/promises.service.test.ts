import { randomInt } from 'node:crypto';
import { comparable, inOrder } from '@outrider/engine/oracle';
import { expect, test } from 'vitest';
import { changeDefinitions } from './definition-changes.fixture.ts';
import { oneProcess } from './killable-service.fixture.ts';
import { oracleEvents } from './log-reader.fixture.ts';
import { describePromises } from './promises.fixture.ts';

/** More of them by `CRASH_KILLS`, and those of an earlier run by its `CRASH_SEED`. */
const KILLS = Number(process.env.CRASH_KILLS ?? 50);
const SEED = Number(process.env.CRASH_SEED ?? randomInt(2 ** 31));

describePromises('one process', { seed: SEED, kills: KILLS }, oneProcess);

/** Each dies half a dozen times. */
const ROUNDS = 2;

test(`3. Definitions are part of the input: what was answered is in force, whatever dies (CRASH_SEED=${SEED})`, async () => {
  const { rounds, log, notifications, vehicles, geofences, rules } = await changeDefinitions(SEED, ROUNDS);
  // Asked for more than once, made once.
  expect(vehicles.map(({ id }) => id)).toEqual(rounds.map(({ vehicleId }) => vehicleId));
  expect(rules.map(({ id }) => id)).toEqual(rounds.map(({ ruleId }) => ruleId));
  expect(geofences).toEqual([]);
  expect(rules.map(({ inactiveReason }) => inactiveReason)).toEqual(rounds.map(() => 'geofences-deleted'));

  expect(inOrder(log.events)).toEqual(comparable(inOrder(oracleEvents(log))));
  for (const { vehicleId, geofenceId, ruleId } of rounds) {
    const visits = log.events.filter(
      (event) => event.kind === 'geofence-visit' && event.vehicleId === vehicleId && event.geofenceId === geofenceId,
    );
    expect(visits.map(({ phase, endReason }) => [phase, endReason])).toEqual([
      ['begin', null],
      ['end', 'left'],
      ['begin', null],
      ['end', 'geofence-deleted'],
    ]);
    // The last visit may end before or after the deletion of its geofence deactivates the rule.
    const certain = notifications.filter(
      (each) => each.ruleId === ruleId && each.event.endReason !== 'geofence-deleted',
    );
    expect(certain.map(({ event }) => [event.vehicleId, event.phase])).toEqual(
      ['begin', 'end', 'begin'].map((phase) => [vehicleId, phase]),
    );
  }
}, 600_000);
