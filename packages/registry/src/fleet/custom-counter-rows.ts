import type {
  CounterSource,
  CounterTerms,
  CustomCounter,
  CustomCounterId,
  SensorId,
  VehicleId,
} from '@outrider/domain';
import type { CustomCounterRow } from '../store/schema.ts';
import { inChunks, type Reader } from '../store/store.ts';

/** Custom counters in the order of their creation, by vehicle; vehicles without any are left out. */
export async function customCountersOf(
  db: Reader,
  vehicleIds: readonly VehicleId[],
): Promise<Map<VehicleId, CustomCounter[]>> {
  const counters = new Map<VehicleId, CustomCounter[]>();
  for (const some of inChunks(vehicleIds)) {
    const query = db.selectFrom('customCounters').selectAll().where('vehicleId', 'in', some).orderBy('id');
    for (const counter of (await query.execute()).map(fromCustomRow)) {
      const ofVehicle = counters.get(counter.vehicleId);
      if (ofVehicle === undefined) counters.set(counter.vehicleId, [counter]);
      else ofVehicle.push(counter);
    }
  }
  return counters;
}

export function customRow(counter: CustomCounter): CustomCounterRow {
  return { ...counter, terms: JSON.stringify(counter.terms) };
}

function fromCustomRow(row: CustomCounterRow): CustomCounter {
  return {
    id: row.id as CustomCounterId,
    version: row.version,
    vehicleId: row.vehicleId as VehicleId,
    name: row.name,
    unit: row.unit,
    source: row.source as CounterSource,
    sensorId: row.sensorId as SensorId | null,
    startsAtMs: Number(row.startsAtMs),
    terms: JSON.parse(row.terms) as CounterTerms[],
    createdAtMs: Number(row.createdAtMs),
  };
}
