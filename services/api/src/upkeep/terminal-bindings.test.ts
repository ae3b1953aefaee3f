import { FIRST_CONTACT_CHANNEL, type FirstContact } from '@outrider/domain';
import { MemoryHub } from '@outrider/hub';
import { createLogger } from '@outrider/runtime';
import { VirtualClock } from '@outrider/testing/clock';
import { expect, test } from 'vitest';
import { createTerminalBindings, GATHER_MS } from './terminal-bindings.ts';

test('first packets are written together, the first of a vehicle counts, and a failed write is no end', async () => {
  const hub = new MemoryHub();
  const clock = new VirtualClock();
  const written: FirstContact[][] = [];
  let failures = 1;
  const learn = async (contacts: readonly FirstContact[]) => {
    if (failures-- > 0) throw new Error('the registry is unavailable');
    written.push([...contacts]);
  };
  const bindings = createTerminalBindings({
    hub,
    registry: { vehicles: { learn } as never },
    logger: createLogger('silent', 'json'),
    clock,
  });
  await bindings.start();
  const publish = (vehicleId: string, protocol: FirstContact['protocol']) =>
    hub.publish(
      FIRST_CONTACT_CHANNEL,
      JSON.stringify({ vehicleId, terminalId: 't', protocol, registrationHash: null }),
    );
  await publish('lost', 'jt808');
  await clock.advance(GATHER_MS);
  expect(failures).toBe(0);
  await publish('a', 'teltonika');
  await publish('a', 'osmand');
  await publish('b', 'osmand');
  expect(written).toEqual([]);
  await clock.advance(GATHER_MS);
  expect(written).toHaveLength(1);
  expect(written[0]?.map(({ vehicleId, protocol }) => `${vehicleId} ${protocol}`)).toEqual(['a teltonika', 'b osmand']);
  await bindings.stop();
  await publish('c', 'osmand');
  await clock.advance(GATHER_MS);
  expect(written).toHaveLength(1);
});
