import type { TelemetryPacket } from '@outrider/domain';
import { treeCpuSecondsOf } from '@outrider/testing/process-tree';
import { openWarehouse } from '@outrider/warehouse';
import { decodePackets, loadTerminalId, loadVehicleId, recordPackets } from '../drives.ts';
import { timed } from '../measure.ts';
import { awaitTask } from './child.ts';

/** The rows of a generator's run, inserted alone. */
export interface InsertAloneTask {
  folder: string;
  vehicles: number;
  positionsPerVehicle: number;
  perPacket: number;
  endMs: number;
  /** Positions of an insert. */
  batchPositions: number;
}

export type InsertAloneMessage = { type: 'inserted'; positions: number; seconds: number; cpuSeconds: number };

const { task, send } = await awaitTask<InsertAloneTask, InsertAloneMessage>();
const drives = Array.from({ length: task.vehicles }, (_, vehicle) =>
  decodePackets(recordPackets(vehicle, task.positionsPerVehicle, task.perPacket, task.endMs)),
);
// In the order in which a log has them: a packet of each vehicle in turn.
const batches: { offset: number; value: TelemetryPacket }[][] = [];
let batch: { offset: number; value: TelemetryPacket }[] = [];
let waiting = 0;
let offset = 0;
for (let packet = 0; packet < Math.ceil(task.positionsPerVehicle / task.perPacket); packet++)
  for (let vehicle = 0; vehicle < task.vehicles; vehicle++) {
    const positions = drives[vehicle]?.[packet] ?? [];
    batch.push({
      offset: offset++,
      value: {
        vehicleId: loadVehicleId(vehicle),
        terminalId: loadTerminalId(vehicle),
        protocol: 'teltonika',
        receivedAtMs: task.endMs,
        positions,
      },
    });
    waiting += positions.length;
    if (waiting < task.batchPositions) continue;
    batches.push(batch);
    batch = [];
    waiting = 0;
  }
if (batch.length > 0) batches.push(batch);

const warehouse = await openWarehouse({ path: task.folder });
let positions = 0;
const cpuBefore = await treeCpuSecondsOf(process.pid);
const { seconds } = await timed(async () => {
  for (const packets of batches) positions += await warehouse.insertPositions(packets);
});
const cpuSeconds = ((await treeCpuSecondsOf(process.pid)) ?? 0) - (cpuBefore ?? 0);
await warehouse.close();
send({ type: 'inserted', positions, seconds, cpuSeconds });
