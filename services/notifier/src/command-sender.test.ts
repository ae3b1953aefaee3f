import {
  type AddressedCommand,
  blankPosition,
  type CommandOrder,
  type CommandOutcome,
  type Directory,
  type TerminalId,
  type User,
  type VehicleCommand,
  type VehicleId,
} from '@outrider/domain';
import { sampleStatus, sampleVehicleFields } from '@outrider/domain/samples';
import { MemoryHub, serveTerminalCommands, type TerminalPresence } from '@outrider/hub';
import { teltonika } from '@outrider/protocols';
import { followRegistry, type Registry } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { createLogger, Metrics, type Part } from '@outrider/runtime';
import { clockAt } from '@outrider/testing/clock';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createCommandSender } from './command-sender.ts';

const PATIENCE = { timeout: 60_000, interval: 10 };
const TERMINAL = '356307042441013' as TerminalId;
const HOUR_MS = 3_600_000;
const REQUEST: CommandOrder = { type: 'position-request', parameters: {} };
const BLOCK: CommandOrder = { type: 'engine-block', parameters: {} };
const done = (text: string): CommandOutcome => ({
  outcome: 'answered',
  answer: { type: 'acknowledged', result: 'done', text },
});

let nowMs: number;
let hub: MemoryHub;
let registry: Registry;
let directory: Directory;
let owner: User;
let van: VehicleId;
const closing: (() => unknown)[] = [];

beforeEach(async () => {
  nowMs = Date.UTC(2026, 0, 15, 12);
  hub = new MemoryHub();
  registry = await openTestRegistry({ now: () => nowMs });
  closing.push(() => registry.close());
  const fields = { login: 'anna', name: 'Anna', role: 'operator', dealerId: null } as const;
  const rights = { blocked: false, apiAccess: true, services: [], groupIds: [] };
  owner = await registry.users.create({ ...fields, ...rights }, 'a long password of a test');
  van = (await registry.vehicles.create(sampleVehicleFields({ name: 'Van', terminalId: TERMINAL }))).id;
  const followed = await followRegistry(registry);
  closing.push(() => followed.stop());
  directory = followed.directory;
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const config = { maxSpeedKmh: 20, positionMaxAgeMs: 120_000, retentionDays: 90, answerMs: 500 };
async function startSender(): Promise<Part> {
  const sender = createCommandSender({
    config,
    registry,
    directory,
    hub,
    abilitiesOf: (protocol) => (protocol === 'teltonika' ? (teltonika.commands ?? []) : []),
    logger: createLogger('silent', 'text'),
    metrics: new Metrics(),
    clock: clockAt(() => nowMs),
  });
  await sender.start();
  closing.push(() => sender.stop());
  return sender;
}

/** A gateway with the terminal. */
async function connect(answer: (addressed: AddressedCommand) => Promise<CommandOutcome>): Promise<TerminalPresence> {
  const presence = await serveTerminalCommands(
    hub,
    { online: () => [TERMINAL], has: (id) => id === TERMINAL, deliver: answer },
    (error) => {
      throw error;
    },
  );
  const connection = { protocol: 'teltonika', address: '203.0.113.7', sinceMs: nowMs };
  await hub.noteConnections('gateway', [{ terminalId: TERMINAL, connection }]);
  presence.came(TERMINAL);
  closing.push(() => presence.close());
  return presence;
}

async function ask(order: CommandOrder, more: { maxSpeedKmh?: number; createdBy?: User } = {}) {
  const { maxSpeedKmh = null, createdBy = owner } = more;
  const wish = { vehicleId: van, order, maxSpeedKmh, createdBy: createdBy.id, expiresAtMs: nowMs + HOUR_MS };
  return (await registry.vehicleCommands.create(wish, 1000)).command;
}

async function becomes({ id }: VehicleCommand, state: VehicleCommand['state']): Promise<VehicleCommand> {
  await vi.waitFor(async () => expect((await registry.vehicleCommands.get(id))?.state).toBe(state), PATIENCE);
  return (await registry.vehicleCommands.get(id)) as VehicleCommand;
}

async function drives(speedKmh: number): Promise<void> {
  const position = { ...blankPosition(nowMs, 52, 4), speedKmh };
  await hub.updateLatest([sampleStatus(van, position, nowMs)]);
}

describe('a queued command', () => {
  test('is sent when the terminal connects, and has its answer', async () => {
    await startSender();
    const command = await ask(REQUEST);
    const delivered: unknown[] = [];
    await connect(async (addressed) => {
      delivered.push(addressed.command);
      return done('GPS:1');
    });
    expect(await becomes(command, 'acknowledged')).toMatchObject({ answer: 'GPS:1', reason: null });
    expect(delivered).toEqual([REQUEST]);
  });

  test('is sent in the order of asking, one at a time', async () => {
    await startSender();
    const orders: CommandOrder[] = [1, 2, 3].map((seconds) => ({ type: 'interval-set', parameters: { seconds } }));
    const asked: VehicleCommand[] = [];
    for (const order of orders) asked.push(await ask(order));
    const delivered: unknown[] = [];
    let underWay = 0;
    await connect(async ({ command }) => {
      underWay += 1;
      expect(underWay).toBe(1);
      delivered.push(command);
      await Promise.resolve();
      underWay -= 1;
      return done('ok');
    });
    for (const command of asked) await becomes(command, 'acknowledged');
    expect(delivered).toEqual(orders);
  });

  test.each([
    ['refused', 'terminal-refused', { outcome: 'answered', answer: { type: 'acknowledged', result: 'failed' } }],
    ['refused', 'not-supported', { outcome: 'unsupported' }],
    ['unanswered', 'no-answer', { outcome: 'unanswered' }],
    ['unanswered', 'connection-lost', { outcome: 'offline', maybeSent: true }],
  ] as const)('is %s: %s', async (state, reason, outcome) => {
    await startSender();
    await connect(async () => outcome);
    expect(await becomes(await ask(REQUEST), state)).toMatchObject({ reason });
  });

  test('is queued again where it certainly was not sent', async () => {
    await startSender();
    const outcomes: CommandOutcome[] = [{ outcome: 'overloaded' }, done('ok')];
    await connect(async () => outcomes.shift() ?? done('more than once'));
    expect(await becomes(await ask(REQUEST), 'acknowledged')).toMatchObject({ answer: 'ok' });
  });

  test('is refused where who asked for it lost the right, and where the protocol lacks it', async () => {
    const group = await registry.groups.create({ name: 'North', dealerId: null });
    await registry.vehicles.update(van, null, { groupIds: [group.id] });
    const fields = {
      login: 'ben',
      name: 'Ben',
      role: 'user',
      dealerId: null,
      blocked: false,
      apiAccess: true,
    } as const;
    const rights = { services: ['commands' as const], groupIds: [group.id] };
    const ben = await registry.users.create({ ...fields, ...rights }, 'a long password of a test');
    const asked = await ask(REQUEST, { createdBy: ben });
    const tooMuch = await ask({ type: 'output-set', parameters: { output: 9, on: true } });
    await registry.users.update(ben.id, null, { services: [] });
    await startSender();
    await connect(async () => done('it was sent'));
    expect(await becomes(asked, 'refused')).toMatchObject({ reason: 'rights-lost' });
    expect(await becomes(tooMuch, 'refused')).toMatchObject({ reason: 'not-supported' });
  });

  test('expires unsent, and a sent one without an answer is unanswered', async () => {
    const unsent = await ask(REQUEST);
    nowMs += HOUR_MS;
    await startSender();
    await becomes(unsent, 'expired');
  });
});

describe('a crash', () => {
  test('between marking and sending: it is never sent again, and ends as unanswered', async () => {
    const command = await ask(BLOCK, { maxSpeedKmh: 20 });
    // The instance that marked it was killed before it gave it to the gateway.
    const { sent } = await registry.vehicleCommands.begin(van, () => 'send');
    expect(sent?.id).toBe(command.id);
    await drives(0);
    await startSender();
    const delivered: unknown[] = [];
    await connect(async (addressed) => {
      delivered.push(addressed.command);
      return done('ok');
    });
    const next = await ask(REQUEST);
    nowMs += 60_000;
    expect(await becomes(command, 'unanswered')).toMatchObject({ reason: 'no-answer' });
    await becomes(next, 'acknowledged');
    expect(delivered).toEqual([REQUEST]);
  });

  test('before marking: the next instance sends it', async () => {
    const first = await startSender();
    const command = await ask(REQUEST);
    await first.stop();
    await startSender();
    await connect(async () => done('ok'));
    await becomes(command, 'acknowledged');
  });
});

describe('blocking the engine', () => {
  test('waits for a fresh position, and lets others pass', async () => {
    await startSender();
    const delivered: string[] = [];
    await connect(async ({ command }) => {
      delivered.push(command.type);
      return done('ok');
    });
    const block = await ask(BLOCK, { maxSpeedKmh: 20 });
    await becomes(await ask(REQUEST), 'acknowledged');
    expect((await registry.vehicleCommands.get(block.id))?.state).toBe('queued');
    await drives(3);
    await becomes(block, 'acknowledged');
    expect(delivered).toEqual(['position-request', 'engine-block']);
  });

  test('is refused above the speed, also by an output that blocks it', async () => {
    await drives(31);
    const delivered: string[] = [];
    const blocked = await ask(BLOCK, { maxSpeedKmh: 20 });
    const output = await ask({ type: 'output-set', parameters: { output: 1, on: true } });
    const other = await ask({ type: 'output-set', parameters: { output: 2, on: true } });
    await startSender();
    await connect(async ({ command }) => {
      delivered.push(JSON.stringify(command));
      return done('ok');
    });
    expect(await becomes(blocked, 'refused')).toMatchObject({ reason: 'too-fast' });
    expect(await becomes(output, 'refused')).toMatchObject({ reason: 'too-fast' });
    await becomes(other, 'acknowledged');
    expect(delivered).toEqual([JSON.stringify(other.order)]);
  });

  test('is taken back by resuming it', async () => {
    const block = await ask(BLOCK, { maxSpeedKmh: 20 });
    const resume = await ask({ type: 'engine-resume', parameters: {} });
    expect(await registry.vehicleCommands.get(block.id)).toMatchObject({ state: 'cancelled', reason: 'superseded' });
    await startSender();
    await connect(async () => done('ok'));
    await becomes(resume, 'acknowledged');
  });
});
