import { setTimeout as wait } from 'node:timers/promises';
import { startGenerator } from '../bench/road/generators.ts';
import type { Service } from '../bench/road/service.ts';

const CONNECTIONS = 200;
const PER_PACKET = 10;
const WINDOW_PACKETS = 8;
const STUCK_MS = 120_000;

/**
 * What the service can take: as many positions as it acknowledges, until all are through the rules and in the archive.
 *
 * @param positionsPerConnection of {@link CONNECTIONS} terminals, whose vehicles there must be
 * @returns positions a second by whatever is slowest
 */
export async function measureCapacity(
  service: Service,
  positionsPerConnection: number,
): Promise<{ positions: number; positionsPerSecond: number }> {
  const generator = await startGenerator({
    host: service.host,
    port: service.ports.teltonika,
    connections: CONNECTIONS,
    positionsPerConnection,
    perPacket: PER_PACKET,
    windowPackets: WINDOW_PACKETS,
    endMs: Date.now(),
  });
  try {
    const { positions } = await generator.next('ready');
    generator.say('go');
    const begun = performance.now();
    const done = generator.next('done');
    for (;;) {
      const metrics = await service.metrics();
      const through = Math.min(
        metrics.get('outrider_rules_positions_total') ?? 0,
        metrics.get('outrider_archived_rows_total{topic="telemetry"}') ?? 0,
      );
      if (through >= positions) break;
      if (performance.now() - begun > STUCK_MS) throw new Error(`${through} of ${positions} positions came through`);
      await wait(100);
    }
    await done;
    return { positions, positionsPerSecond: positions / ((performance.now() - begun) / 1000) };
  } finally {
    await generator.stop();
  }
}
