import { blankPosition, type TerminalId, type VehicleId } from '@outrider/domain';
import { openWarehouse } from '../warehouse.ts';

/*
 * Archives for ever, and prints after each insert the last record that was reported durable. Tests run it as a process
 * and kill it.
 */
const [path, vehicleId] = process.argv.slice(2) as [string, VehicleId];
const warehouse = await openWarehouse({ path });
process.stdout.write('open\n');
for (let offset = 0; ; ) {
  const packets = Array.from({ length: 2000 }, () => ({
    offset,
    value: {
      vehicleId,
      terminalId: '356307042441013' as TerminalId,
      protocol: 'teltonika' as const,
      receivedAtMs: Date.UTC(2026, 0, 1),
      positions: [blankPosition(Date.UTC(2025, 0, 1) + offset++ * 1000, 50, 10)],
    },
  }));
  await warehouse.insertPositions(packets);
  process.stdout.write(`${offset}\n`);
}
