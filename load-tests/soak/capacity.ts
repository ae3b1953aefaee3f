import { setTimeout as wait } from 'node:timers/promises';
import { startGenerator } from '../bench/road/generators.ts';
import type { Service } from '../bench/road/service.ts';

const POSITIONS_PER_TERMINAL = 300;
/** What comes through before this share of all did warms up, and is not measured. */
const WARM_SHARE = 0.2;
const LOOK_MS = 100;
const STUCK_MS = 120_000;

export interface Capacity {
  /** Positions that were sent, and acknowledged, for it. */
  positions: number;
  positionsPerSecond: number;
}

/**
 * What the service can take of so many terminals, each of which sends its next packet when the last is acknowledged,
 * until all is through the rules and in the archive. Who sends shares the machine with it, as in the soak itself.
 *
 * @param terminals whose vehicles there must be
 * @returns positions a second by whatever is slowest
 */
export async function measureCapacity(service: Service, terminals: number, perPacket: number): Promise<Capacity> {
  const generator = await startGenerator({
    host: service.host,
    port: service.ports.teltonika,
    connections: terminals,
    positionsPerConnection: POSITIONS_PER_TERMINAL,
    perPacket,
    windowPackets: 1,
    endMs: Date.now(),
  });
  try {
    const { positions } = await generator.next('ready');
    generator.say('go');
    const done = generator.next('done');
    let warm: { through: number; at: number } | null = null;
    let last = { through: 0, at: performance.now() };
    for (;;) {
      const metrics = await service.metrics();
      const at = performance.now();
      const through = Math.min(
        metrics.get('outrider_rules_positions_total') ?? 0,
        metrics.get('outrider_archived_rows_total{topic="telemetry"}') ?? 0,
      );
      if (through > last.through) last = { through, at };
      else if (at - last.at > STUCK_MS) throw new Error(`${through} of ${positions} positions came through`);
      if (through >= positions && warm) {
        await done;
        return { positions, positionsPerSecond: (through - warm.through) / ((at - warm.at) / 1000) };
      }
      if (through >= positions * WARM_SHARE) warm ??= { through, at };
      await wait(LOOK_MS);
    }
  } finally {
    await generator.stop();
  }
}
