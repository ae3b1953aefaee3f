import type { MaintenanceSpan, TerminalId, VehicleGroup, VehicleId } from '@outrider/domain';
import type { Faults } from '../faults.ts';
import type { NamedVehicles, SensorLine } from '../fleet/sensor-import.ts';

/** A maintenance plan as a row of a CSV says it. */
export interface PlanLine {
  /** As a spreadsheet counts: 1 is the header. */
  row: number;
  /** Null: the row names no vehicle. */
  vehicle: SensorLine['vehicle'] | null;
  /** Name or id; null: the row names none. */
  group: string | null;
  name: string;
  description: string | null;
  /** The custom counter that it goes by. */
  counterName: string | null;
  every: MaintenanceSpan;
  warning: MaintenanceSpan;
  startsAtMs: number | null;
}

/** What a counter showed, as a row of a CSV says it. */
export interface ReadingLine {
  row: number;
  vehicle: { id: VehicleId | null; terminalId: TerminalId | null; plate: string | null; name: string | null };
  /** One that every vehicle has, or the name of one that people made. */
  counter: string;
  /** Metres, or milliseconds; of a custom counter in its unit. */
  value: number;
  atMs: number | null;
  note: string | null;
}

/** The vehicle that a row is about; null, with a fault, where it names none or several. */
export function vehicleOfLine(
  { row, vehicle }: Pick<ReadingLine, 'row' | 'vehicle'>,
  named: NamedVehicles,
  faults: Faults,
) {
  const found = named.find(vehicle);
  if (!('detail' in found)) return found;
  faults.add({ row, ...found });
  return null;
}

/** The group that a row names, among those that the caller sees; null, with a fault, without one or with several. */
export function groupOfLine(
  { row, group }: Pick<PlanLine, 'row' | 'group'>,
  visible: readonly VehicleGroup[],
  faults: Faults,
): VehicleGroup | null {
  const found = visible.filter(({ id, name }) => id === group || name === group);
  if (found.length === 1) return found[0] as VehicleGroup;
  const detail = found.length === 0 ? 'There is no such group.' : `${found.length} groups have this name: use the id.`;
  faults.add({ row, column: 'group', detail });
  return null;
}
