import { setTimeout as wait } from 'node:timers/promises';
import type { VehicleId } from '@outrider/domain';
import type { Access } from './access.ts';
import { violations, type Watched } from './invariants.ts';
import { Listener } from './listener.ts';
import { furnish, Load } from './load.ts';

/** Longer than a member of a group is missed after, and a connection that only one side knows of. */
export const RECOVERS_WITHIN_MS = 150_000;
const LOOK_EVERY_MS = 400;
/** Interval of log lines about what is still awaited. */
const LOG_EVERY_MS = 20_000;
const FURNISHED_WITHIN_MS = 30_000;

export const say = (line: string) => process.stdout.write(`${line}\n`);

/**
 * Furnishes a system, and connects terminals and live clients to it.
 *
 * @param ends gets what ends them
 */
export async function watch(
  access: Access,
  ports: { terminals: number; clients: number },
  { vehicleCount, seed }: { vehicleCount: number; seed: number },
  ends: (() => Promise<unknown> | unknown)[],
): Promise<Watched> {
  const furnished = await eventually(() => furnish(access, vehicleCount));
  // A change is in force within a second. The oracle and the service could differ about earlier events.
  await wait(2000);
  const listeners = [new Listener(ports.clients, access), new Listener(ports.clients, access)];
  const load = new Load(seed, furnished, ports.terminals);
  ends.push(
    () => load.close(),
    () => {
      for (const listener of listeners) listener.close();
    },
  );
  for (;;) {
    if (listeners.every(({ resumed }) => resumed)) break;
    await wait(50);
  }
  return { access, load, listeners, geofences: furnished.geofences };
}

async function eventually<T>(work: () => Promise<T>): Promise<T> {
  const untilMs = performance.now() + FURNISHED_WITHIN_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > untilMs) throw error;
      await wait(500);
    }
  }
}

/**
 * Resolves once all is as promised, or it is too late, with what is not.
 *
 * @param since by vehicle, the first fix to be checked
 */
export async function caughtUp(system: Watched, since: ReadonlyMap<VehicleId, number>): Promise<string[]> {
  const untilMs = performance.now() + RECOVERS_WITHIN_MS;
  let logAtMs = performance.now() + LOG_EVERY_MS;
  for (;;) {
    const found = await violations(system, since);
    if (found.length > 0 && performance.now() > logAtMs) {
      say(`  still: ${found.map((each) => each.slice(0, 160)).join('\n         ')}`);
      logAtMs += LOG_EVERY_MS;
    }
    if (found.length === 0 || performance.now() > untilMs) return found;
    await wait(LOOK_EVERY_MS);
  }
}
