import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { VehicleId } from '@outrider/domain';
import { createRandom } from '@outrider/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reservedPorts } from '../../services/outrider/src/service.fixture.ts';
import { Access } from './access.ts';
import { AcknowledgedWrites } from './acknowledged-writes.ts';
import { unreadyParts } from './distributed.ts';
import type { Watched } from './invariants.ts';
import { type Lone, openLone } from './lone.ts';
import { type LoopDisk, openLoopDisk } from './loop-disk.ts';
import { caughtUp, RECOVERS_WITHIN_MS, say, watch } from './watching.ts';

/** Half of the rounds of other faults: each starts the service. */
const ROUNDS = Math.ceil(Number(process.env.FAULT_ROUNDS ?? 20) / 2);
const SEED = Number(process.env.FAULT_SEED ?? randomInt(2 ** 31));
const VEHICLES = 2;
/** Includes space for ClickHouse's logs and merges. */
const DISK_MIB = 1024;
const UNREADY_LOOK_MS = 200;

const random = createRandom(SEED);
const ends: (() => Promise<unknown> | unknown)[] = [];
/** By vehicle, the first fix that was not found in the archive after an earlier round. */
const since = new Map<VehicleId, number>();
let lone: Lone<LoopDisk> | null = null;
let whyNot = '';
let watched: Watched;
let writes: AcknowledgedWrites;
let unwrittenPages = 0;

beforeAll(async () => {
  say(`\nFAULT_SEED=${SEED}: ${ROUNDS} power cuts`);
  try {
    lone = await openLone(await reservedPorts(), (base) => openLoopDisk(base, DISK_MIB));
  } catch (error) {
    whyNot = (error as Error).message.trim();
    say(`skipped: ${whyNot}`);
    return;
  }
  const opened = lone;
  ends.push(() => opened.close());
  const { http, teltonika } = opened.ports;
  const access = new Access(http);
  watched = await watch(access, { terminals: teltonika, clients: http }, { vehicleCount: VEHICLES, seed: SEED }, ends);
  writes = new AcknowledgedWrites(access);
  ends.push(() => writes.pause());
}, 300_000);

afterAll(async () => {
  for (const end of ends.reverse()) await end();
}, 120_000);

test.for(Array.from({ length: ROUNDS }, (_, nth) => nth + 1))(
  'power cut %i: nothing acknowledged is lost, everything is published once, all catches up',
  { timeout: 60_000 + 2 * RECOVERS_WITHIN_MS },
  async (number, context) => {
    if (lone === null) return context.skip(whyNot);
    const { disk, ports } = lone;
    watched.load.go();
    writes.go();
    await wait(random.between(500, 5000));
    // From disks that lose every unsynced page to those that keep parts of most.
    const tornShare = number % 3 === 0 ? 0 : random.next();
    const cut = await lone.whileHeld((kill) => disk.cutPower(random, tornShare, kill));
    unwrittenPages += cut.unwrittenPages;
    const startedMs = performance.now();
    while ((await unreadyParts(ports.http)).length > 0) {
      if (performance.now() > startedMs + RECOVERS_WITHIN_MS) break;
      await wait(UNREADY_LOOK_MS);
    }
    const readySeconds = (performance.now() - startedMs) / 1000;
    watched.load.pause();
    await writes.pause();
    const wrong = [...(await caughtUp(watched, since)), ...(await writes.violations())];
    for (const { vehicleId, sent } of watched.load.driven) since.set(vehicleId, sent.at(-1)?.fixTimeMs ?? 0);
    const { vehicles, files } = writes.acknowledged;
    say(
      `power cut ${number}/${ROUNDS}: ${cut.unwrittenPages} pages were not written, of them ${cut.tornPages} torn, ` +
        `${cut.lostFiles} files lost; ready after ${readySeconds.toFixed(1)} s; ${watched.load.sent} positions, ` +
        `${vehicles} vehicles, ${files} files${wrong.length === 0 ? '' : ': NOT as promised'}`,
    );
    if (wrong.length > 0) say(lone.said().slice(-4000));
    expect(wrong, `FAULT_SEED=${SEED}, power cut ${number}`).toEqual([]);
  },
);

test('the cuts did take something', (context) => {
  if (lone === null) return context.skip(whyNot);
  expect(unwrittenPages).toBeGreaterThan(0);
});
