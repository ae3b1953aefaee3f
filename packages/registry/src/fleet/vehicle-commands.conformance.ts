import type { CommandOrder, EventId, FleetEvent, User, Vehicle } from '@outrider/domain';
import { beforeEach, describe, expect, test } from 'vitest';
import { NotFoundError, TooManyCommandsError } from '../index.ts';
import { type Place, registryPerTest } from '../test-registry.fixture.ts';
import { ABSENT, ALL, PASSWORD, ruleFields, userFields, vehicleFields } from './fields.fixture.ts';
import { MAX_OPEN_COMMANDS_PER_VEHICLE } from './vehicle-commands.ts';

const HOUR_MS = 3_600_000;
const REBOOT: CommandOrder = { type: 'reboot', parameters: {} };

/** What every adapter of the registry promises of commands to terminals. */
export function vehicleCommandsConformance(name: string, newPlace: () => Promise<Place>): void {
  describe(`commands on ${name}`, () => {
    const env = registryPerTest(newPlace);
    let anna: User;
    let van: Vehicle;
    beforeEach(async () => {
      anna = await env.registry.users.create(userFields('anna'), PASSWORD);
      van = await env.registry.vehicles.create(vehicleFields('Van'));
    });
    const ask = async (order: CommandOrder = REBOOT, perMinute = 1000) => {
      const wish = { vehicleId: van.id, order, maxSpeedKmh: 7.5, createdBy: anna.id, expiresAtMs: env.nowMs + HOUR_MS };
      return (await env.registry.vehicleCommands.create(wish, perMinute)).command;
    };

    test('a command is kept whole, and marked, settled and audited', async () => {
      const { vehicleCommands } = env.registry;
      const command = await ask({ type: 'output-set', parameters: { output: 2, on: true } });
      expect(await vehicleCommands.get(command.id)).toEqual(command);
      expect((await vehicleCommands.list({ vehicleId: van.id }, ALL)).items).toEqual([command]);
      const { sent } = await vehicleCommands.begin(van.id, () => 'send');
      expect(sent).toMatchObject({ id: command.id, state: 'sent', sentAtMs: env.nowMs, maxSpeedKmh: 7.5 });
      expect(await vehicleCommands.begin(van.id, () => 'send')).toEqual({ sent: null, ended: [] });
      await vehicleCommands.settle(command.id, { state: 'acknowledged', answer: 'OK' });
      expect(await vehicleCommands.settle(command.id, { state: 'acknowledged', answer: null })).toBeNull();
      expect(await vehicleCommands.get(command.id)).toMatchObject({ state: 'acknowledged', answer: 'OK' });
      const trail = (await env.registry.audit.list({}, ALL)).items.filter(({ subject }) => subject.kind === 'command');
      expect(trail.map(({ before, after }) => [before?.state, after?.state])).toEqual([
        ['sent', 'acknowledged'],
        ['queued', 'sent'],
        [undefined, 'queued'],
      ]);
    });

    test('of parallel senders one marks a command', async () => {
      await ask();
      const { vehicleCommands } = env.registry;
      const begun = await Promise.all([1, 2, 3].map(() => vehicleCommands.begin(van.id, () => 'send')));
      expect(begun.filter(({ sent }) => sent !== null)).toHaveLength(1);
    });

    test('open commands, and those of a minute, are bounded', async () => {
      for (let made = 0; made < MAX_OPEN_COMMANDS_PER_VEHICLE; made++) await ask();
      await expect(ask()).rejects.toBeInstanceOf(TooManyCommandsError);
      await expect(ask(REBOOT, 3)).rejects.toMatchObject({ bound: 'minute', retryAfterMs: 60_000 });
      await expect(env.registry.vehicleCommands.cancel(ABSENT as never)).rejects.toBeInstanceOf(NotFoundError);
    });

    test('they expire, end with their vehicle, and are forgotten', async () => {
      const { vehicleCommands } = env.registry;
      const [sent, queued] = [await ask(), await ask()];
      await vehicleCommands.begin(van.id, () => 'send');
      env.nowMs += 60_000;
      expect(await vehicleCommands.expire(60_000, 10)).toMatchObject([{ id: sent.id, state: 'unanswered' }]);
      await env.registry.vehicles.delete(van.id, null);
      expect(await vehicleCommands.get(queued.id)).toMatchObject({ state: 'cancelled', reason: 'vehicle-deleted' });
      expect(await vehicleCommands.clean(env.nowMs + 1, 10)).toBe(2);
      expect(await vehicleCommands.get(queued.id)).toBeNull();
    });

    test('a rule sends its command once for an event, and none for late data', async () => {
      const command = { type: 'output-set', output: 2, on: true, seconds: null, text: null } as const;
      const rule = await env.registry.notificationRules.create(
        ruleFields('Panic', anna.id, { command: { ...command, maxSpeedKmh: null, expiresInSeconds: 600 } }),
        null,
      );
      expect((await env.registry.notificationRules.get(rule.id))?.command).toEqual(rule.command);
      const event = (id: string, more: Partial<FleetEvent> = {}) =>
        ({
          ...{ id: id as EventId, kind: 'alarm', alarm: 'sos', phase: 'begin', vehicleId: van.id, origin: 'live' },
          ...{
            startedAtMs: env.nowMs,
            endedAtMs: null,
            fromFixTimeMs: env.nowMs,
            fixTimeMs: env.nowMs,
            inferred: false,
          },
          ...{ latitude: 52, longitude: 4, speedKmh: 0, definitionVersion: 1, ...more },
        }) as FleetEvent;
      const saved: string[] = [];
      const record = (offset: number, of: FleetEvent) =>
        env.registry.notifications.record({
          ...{ consumer: 'test', partition: 0, next: offset + 1 },
          drafts: [{ offset, rule, event: of, vehicleName: 'Van', geofenceName: null }],
          onCommands: (commands) => saved.push(...commands.map(({ state }) => state)),
        });
      const first = event('00000000-0000-5000-8000-000000000001');
      await record(0, first);
      await record(0, first);
      await record(1, first);
      await record(2, event('00000000-0000-5000-8000-000000000002', { origin: 'recalculated' }));
      await record(3, event('00000000-0000-5000-8000-000000000003', { fixTimeMs: env.nowMs - HOUR_MS }));
      expect(saved).toEqual(['queued', 'expired']);
      const [late, sent] = (await env.registry.vehicleCommands.list({ vehicleId: van.id }, ALL)).items;
      expect(late).toMatchObject({ state: 'expired' });
      expect(sent).toMatchObject({ state: 'queued', createdBy: anna.id, ruleId: rule.id, eventId: first.id });
      expect(sent?.order).toEqual({ type: 'output-set', parameters: { output: 2, on: true } });
    });
  });
}
