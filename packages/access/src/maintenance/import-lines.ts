import type { MaintenanceSpan, TerminalId, VehicleGroup, VehicleId } from '@outrider/domain';
import type { Faults } from '../faults.ts';
import type { NamedVehicles, SensorLine } from '../fleet/sensor-import.ts';

/** A maintenance plan as a row of a CSV. */
export interface PlanLine {
  /** Row number as in a spreadsheet: 1 is the header. */
  row: number;
  /** Null: the row names no vehicle. */
  vehicle: SensorLine['vehicle'] | null;
  /** Name or id of the group; null: the row names none. */
  group: string | null;
  name: string;
  description: string | null;
  /** Custom counter on which the plan is based. */
  counterName: string | null;
  every: MaintenanceSpan;
  warning: MaintenanceSpan;
  startsAtMs: number | null;
}

/** A counter reading as a row of a CSV. */
export interface ReadingLine {
  row: number;
  vehicle: { id: VehicleId | null; terminalId: TerminalId | null; plate: string | null; name: string | null };
  /** A counter that every vehicle has, or the name of a custom counter. */
  counter: string;
  /** In metres or milliseconds; for a custom counter, in its unit. */
  value: number;
  atMs: number | null;
  note: string | null;
}

/** The vehicle that a row names. Null, with a fault, if it names none or several. */
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

/** The group that a row names, among those that the caller sees. Null, with a fault, if it names none or several. */
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
