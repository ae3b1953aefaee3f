import { verifyWebhook } from '@outrider/channels';
import type { EventKind, FleetEvent, Trip } from '@outrider/domain';
import { comparable, inOrder } from '@outrider/engine/oracle';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectNone } from './complaints.fixture.ts';
import { type Aftermath, crash, LISTENERS, type Notification } from './crash.fixture.ts';
import type { KillableService } from './killable-service.fixture.ts';
import { engineEvents, oracleEvents } from './log-reader.fixture.ts';

/** Made of the levels of tanks, which the oracle does not know …*/
const OF_TANKS: ReadonlySet<EventKind> = new Set(['refuelling', 'fuel-drain']);
/** … nor what trips and stops have of them. */
function withoutFuel(event: FleetEvent): FleetEvent {
  const { fuelStartL: _, fuelEndL: __, fuelUsedL: ___, ...rest } = event as Trip;
  return rest as FleetEvent;
}

const phaseOf = ({ id, phase }: Pick<FleetEvent, 'id' | 'phase'> | Notification['event']) => `${id} ${phase}`;

/** Tests the promises of delivery with a service that is killed at random moments while it works. */
export function describePromises(
  name: string,
  { seed, kills }: { seed: number; kills: number },
  born: (environment: Record<string, string>) => Promise<KillableService>,
): void {
  describe(`${name}, killed with -9 at ${kills} random moments (CRASH_SEED=${seed})`, () => {
    let after: Aftermath;
    let expected: FleetEvent[];

    beforeAll(
      async () => {
        after = await crash(seed, kills, born);
        expected = oracleEvents(after.log);
        const positions = after.fleet.reduce((sum, { sent }) => sum + sent.length, 0);
        console.info(
          `CRASH_SEED=${seed}: ${after.kills.whileStarting} kills while starting, ${after.kills.whileRunning} while running, ${after.kills.inOrder} replaced in order, ready after ${after.kills.fastestStartMs} ms at best; ` +
            `${positions} positions, ${after.log.events.length} events, ` +
            `${LISTENERS.map((name) => after.listeners[name].inbox.length).join(' + ')} notifications, ${after.deliveries.length} deliveries`,
        );
      },
      600_000 + kills * 20_000,
    );

    test('it was killed while it started and while it worked, and logged no error', () => {
      expect(after.kills.whileStarting).toBeGreaterThan(kills / 10);
      expect(after.kills.whileRunning).toBeGreaterThan(kills / 10);
      expectNone(after.complaints);
      expect(after.exitCodes).toEqual(after.exitCodes.map(() => 0));
    });

    test('1. An acknowledged position is never lost: each is stored, once', () => {
      for (const { sent, acknowledged, archived } of after.fleet) {
        expect(acknowledged).toBe(sent.length);
        expect(archived.map(({ fixTime }) => fixTime)).toEqual(
          sent.map(({ fixTimeMs }) => new Date(fixTimeMs).toISOString()),
        );
        for (const [nth, { latitude, longitude }] of archived.entries()) {
          // Some protocols count in parts of a minute.
          expect(Math.abs(latitude - (sent[nth]?.latitude ?? 0))).toBeLessThan(1e-5);
          expect(Math.abs(longitude - (sent[nth]?.longitude ?? 0))).toBeLessThan(1e-5);
        }
      }
    });

    test('2. Each event happens once: they are those of the oracle', () => {
      expect(new Set(after.log.events.map(phaseOf)).size).toBe(after.log.events.length);
      expect(after.log.events.length).toBeGreaterThan(kills * 10);
      const byOracle = after.log.events.filter(({ kind }) => !OF_TANKS.has(kind)).map(withoutFuel);
      expect(inOrder(byOracle)).toEqual(comparable(inOrder(expected)));
      for (const kind of ['driver-shift', 'sensor-threshold'] as const)
        expect(byOracle.map((event) => event.kind)).toContain(kind);
    });

    test('2. Each event happens once, fuel too: they are those of rules that never stopped', () => {
      const { events } = after.log;
      expect(inOrder(events)).toEqual(comparable(inOrder(engineEvents(after.log))));
      for (const kind of OF_TANKS) expect(events.map((event) => event.kind)).toContain(kind);
    });

    test('5. A notification reaches a client that comes back: each once, and so does each event', () => {
      const groupOf = new Map(after.fleet.map(({ vehicleId, group }) => [vehicleId, group]));
      const about = (event: FleetEvent) => ('geofenceId' in event ? event.geofenceId : null);
      const mine = (event: FleetEvent, owner: keyof Aftermath['geofenceIds']) =>
        after.geofenceIds[owner].includes(about(event) ?? '');
      const visits = expected.filter(({ kind }) => kind === 'geofence-visit');
      const speeding = expected.filter(({ kind }) => kind === 'speeding');
      const [sender] = after.fleet;
      const wanted: Record<(typeof LISTENERS)[number], string[]> = {
        anna: [
          ...visits.filter((event) => mine(event, 'anna')).map((event) => `Visits ${phaseOf(event)}`),
          ...visits
            .filter(
              (event) =>
                event.phase === 'begin' &&
                event.vehicleId === sender?.vehicleId &&
                about(event) === after.geofenceIds.anna[0],
            )
            .map((event) => `Sent ${phaseOf(event)}`),
        ],
        ben: apart(
          speeding.filter(
            (event) =>
              event.phase === 'begin' &&
              groupOf.get(event.vehicleId) === 'south' &&
              (about(event) === null || mine(event, 'ben')),
          ),
          10 * 60_000,
        ).map((event) => `Too fast ${phaseOf(event)}`),
        admin: [...visits, ...speeding]
          .filter((event) => about(event) === null || mine(event, 'admin'))
          .map((event) => `All ${phaseOf(event)}`),
      };
      for (const name of LISTENERS) {
        const { received, undescribed, inbox, connections } = after.listeners[name];
        expect(connections).toBeGreaterThan(kills / 10);
        expect(undescribed).toEqual([]);
        expect(received.filter(({ type }) => type === 'gap')).toEqual([]);
        expect(inbox.map(({ ruleName, event }) => `${ruleName} ${phaseOf(event)}`).toSorted()).toEqual(
          wanted[name].toSorted(),
        );
        const live = received.filter(({ type }) => type === 'notification') as unknown as Notification[];
        expect(live.map(({ number }) => number)).toEqual(inbox.map((_, nth) => nth + 1));
        expect(live.map(({ id }) => id)).toEqual(inbox.map(({ id }) => id));

        const events = received.filter(({ type }) => type === 'event') as unknown as FleetEvent[];
        const visible = { anna: 'north', ben: 'south', admin: null }[name];
        // Events of one vehicle are in the order of the log. Between vehicles there is no order if the log has several
        // partitions.
        expect(byVehicle(events)).toEqual(
          byVehicle(
            after.log.events.filter(
              (event) =>
                visible === null ||
                (groupOf.get(event.vehicleId) === visible && (about(event) === null || mine(event, name))),
            ),
          ),
        );
      }
    });

    test('an e-mail is one file, a webhook and a call the same id however often they come, for each notification of their rule', () => {
      const sent = after.listeners.anna.inbox.filter(({ ruleName }) => ruleName === 'Sent').map(({ id }) => id);
      expect(sent.length).toBeGreaterThan(0);
      const of = (wanted: string) => after.deliveries.filter(({ channel }) => channel === wanted);
      for (const channel of ['email', 'webhook', 'http'])
        expect(
          of(channel)
            .map(({ notificationId }) => notificationId)
            .toSorted(),
        ).toEqual(sent.toSorted());
      expect(after.deliveries.filter(({ state }) => state !== 'delivered')).toEqual([]);
      expect(after.mails.toSorted()).toEqual(
        of('email')
          .map(({ id }) => `${id}.eml`)
          .toSorted(),
      );
      const bodies = Map.groupBy(after.webhooks, ({ id }) => id);
      expect([...bodies.keys()].toSorted()).toEqual([...of('webhook'), ...of('http')].map(({ id }) => id).toSorted());
      for (const [id, requests] of bodies) {
        expect(new Set(requests.map(({ body }) => body)).size, id).toBe(1);
        for (const request of requests.filter(({ headers }) => headers['call-id'] === undefined))
          expect(
            verifyWebhook(request, after.webhookSecret, Number(request.headers['webhook-timestamp']) * 1000),
          ).toBeNull();
      }
    });
  });
}

function byVehicle(events: readonly FleetEvent[]): Record<string, string[]> {
  const groups = Map.groupBy(events, ({ vehicleId }) => vehicleId);
  return Object.fromEntries([...groups].map(([vehicleId, of]) => [vehicleId, of.map(phaseOf)]));
}

/** Leaves out events of a vehicle that begin within this interval of the one before. */
function apart(events: readonly FleetEvent[], intervalMs: number): FleetEvent[] {
  const last = new Map<string, number>();
  return events.filter(({ vehicleId, fixTimeMs }) => {
    if (fixTimeMs < (last.get(vehicleId) ?? Number.NEGATIVE_INFINITY) + intervalMs) return false;
    last.set(vehicleId, fixTimeMs);
    return true;
  });
}
