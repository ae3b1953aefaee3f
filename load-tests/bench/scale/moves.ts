import { openRedisHub } from '@outrider/hub';
import type { Cluster, Instance } from '../../../services/outrider/src/distributed.fixture.ts';
import { startChild } from '../road/child.ts';
import type { PacerMessage, PacerTask } from '../road/pacer.ts';

/** Terminals that report while partitions move. */
export const TERMINALS = 200;
const STEADY_MS = 5000;
/** What a change of the group may take to be seen to its end. */
const SETTLE_MS = 8000;

/** The longest time that a client saw any vehicle stand still, while its terminal reported once a second. */
export interface Moves {
  /** Nothing happens. */
  steadyMs: number;
  /** A second instance of the rules joins: every partition is given up and taken anew. */
  joinMs: number;
  /** It leaves in order. */
  leaveMs: number;
}

/**
 * @param firstTerminal the number of the first of {@link TERMINALS} that sent nothing yet: one that a load left
 * elsewhere a moment ago would
 *   seem to have jumped
 * @param startRules starts one more of the rules beside the one that runs
 */
export async function measureMoves(
  cluster: Cluster,
  port: number,
  firstTerminal: number,
  startRules: () => Promise<Instance>,
): Promise<Moves> {
  const hub = await openRedisHub({ url: cluster.addresses.redisUrl, onError: () => {} });
  const seenAt = new Map<string, number>();
  let longest = 0;
  const unsubscribe = await hub.onLatest((entries) => {
    const now = performance.now();
    for (const { vehicleId } of entries) {
      longest = Math.max(longest, now - (seenAt.get(vehicleId) ?? now));
      seenAt.set(vehicleId, now);
    }
  });
  /** Those that stand still yet count as well. */
  const longestNow = () =>
    Math.round([...seenAt.values()].reduce((most, at) => Math.max(most, performance.now() - at), longest));
  const during = async (work: () => Promise<unknown>, restMs: number): Promise<number> => {
    longest = 0;
    await work();
    await new Promise((resolve) => setTimeout(resolve, restMs));
    return longestNow();
  };
  const pacer = await startChild<PacerTask, PacerMessage>('./pacer.ts', {
    host: '127.0.0.1',
    port,
    terminals: TERMINALS,
    firstTerminal,
    perPacket: 1,
    connectAtATime: 20,
    live: null,
  });
  try {
    await pacer.next('connected');
    pacer.say('begin');
    await pacer.next('begun');
    await new Promise((resolve) => setTimeout(resolve, STEADY_MS));
    if (seenAt.size !== TERMINALS) throw new Error(`${seenAt.size} of ${TERMINALS} vehicles are seen`);
    const steadyMs = await during(async () => {}, STEADY_MS);
    let second: Instance | null = null;
    const joinMs = await during(async () => {
      second = await startRules();
    }, SETTLE_MS);
    const leaveMs = await during(async () => second?.terminate(), SETTLE_MS);
    return { steadyMs, joinMs, leaveMs };
  } finally {
    await pacer.stop();
    await unsubscribe();
    await hub.close();
  }
}
