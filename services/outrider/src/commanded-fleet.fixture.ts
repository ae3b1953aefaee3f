import { abilitiesOf } from '@outrider/protocols';
import { connectTerminal } from '@outrider/simulator';
import { expect, vi } from 'vitest';
import type { Driven, Fleet, Reached } from './end-to-end.fixture.ts';

const PATIENCE = { timeout: 60_000, interval: 200 };
const AFTER_THE_DRIVE_MS = 60_000;

/** Queclink takes nothing else: a question for its position, with the password that a new device has. */
const QUECLINK_COMMAND = 'AT+GTRTO=gv300,1,,,,,,0001$';

interface ShownCommand {
  id: string;
  state: string;
  reason: string | null;
}

/**
 * Sends a command to a terminal of each protocol that takes some, before it is connected and while it is: the first is
 * done, the second refused by a terminal that can say so.
 */
export async function expectCommandsDone(reached: Reached, { vehicles }: Fleet): Promise<void> {
  const commanded = new Map<string, Driven>();
  for (const vehicle of vehicles)
    if (!vehicle.udp && !commanded.has(vehicle.protocol) && abilitiesOf(vehicle.protocol).length > 0)
      commanded.set(vehicle.protocol, vehicle);
  expect(commanded.size).toBeGreaterThan(3);
  await Promise.all([...commanded.values()].map((vehicle) => expectDoneAndRefused(reached, vehicle, vehicles)));
}

async function expectDoneAndRefused({ call, terminalPort }: Reached, vehicle: Driven, all: readonly Driven[]) {
  const { vehicleId, protocol, terminalId, createSimulator, sent } = vehicle;
  const path = `/api/v1/vehicles/${vehicleId}/commands`;
  const give = (text: string) =>
    call<ShownCommand>('POST', path, {
      ...(abilitiesOf(protocol).some(({ type }) => type === 'text')
        ? { type: 'text', parameters: { text: protocol === 'queclink' ? QUECLINK_COMMAND : text } }
        : { type: 'position-request' }),
      expiresInSeconds: 600,
    });
  const comesTo = (id: string, state: string) =>
    vi.waitFor(
      async () => expect(await call('GET', `${path}/${id}`), `${protocol}: ${path}`).toMatchObject({ state }),
      PATIENCE,
    );

  // A Queclink terminal does not answer what it does not do.
  const saysNo = protocol !== 'queclink';
  const first = await give('first');
  expect(first.state).toBe('queued');
  const newest = sent.reduce((a, b) => (a.fixTimeMs > b.fixTimeMs ? a : b));
  const received: string[] = [];
  const terminal = connectTerminal({
    protocol,
    host: '127.0.0.1',
    port: terminalPort(protocol, all.indexOf(vehicle)),
    terminalId,
    ...(createSimulator && { createSimulator }),
    onCommand(text) {
      received.push(text);
      return received.length === 1 || !saysNo;
    },
  });
  try {
    terminal.record([{ ...newest, fixTimeMs: newest.fixTimeMs + AFTER_THE_DRIVE_MS }]);
    await comesTo(first.id, 'acknowledged');
    await comesTo((await give('second')).id, saysNo ? 'refused' : 'acknowledged');
    expect(received, protocol).toHaveLength(2);
  } finally {
    await terminal.close();
  }
}
