import {
  type Directory,
  type Sensor,
  type SensorFields,
  type SensorId,
  sensorNameKey,
  type TerminalId,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import type { BulkOutcome, VehicleWrite } from '@outrider/registry';
import type { Faults } from '../faults.ts';

/** A sensor as a row of a CSV. A field without a column is left out. */
export interface SensorLine {
  /** Row number as in a spreadsheet: 1 is the header. */
  row: number;
  /** Identifies the vehicle; the first of these that is not null is used. */
  vehicle: { id: VehicleId | null; terminalId: TerminalId | null; plate: string | null; name: string | null };
  name: string;
  fields: Partial<SensorFields>;
  /** Whether the row has a fault that is already reported. */
  isWrong: boolean;
}

/** The API's defaults, checks and limits for sensors. */
export interface SensorTerms {
  /** Defaults for fields that the row of a new sensor leaves out. */
  defaults: Omit<SensorFields, 'name' | 'kind' | 'source'>;
  /** Returns the faults of a vehicle's sensors, by their index in its list. */
  check: (sensors: readonly SensorFields[]) => readonly { path: PropertyKey[]; message: string }[];
  /** Limit for the sensors of all changed vehicles as JSON: each vehicle's copy is stored and sent separately. */
  maxCharacters: number;
}

/** A vehicle whose sensors change, with the rows that change them. */
export interface SensorWrite {
  vehicle: Vehicle;
  lines: SensorLine[];
  sensors: SensorFields[];
}

/** The sensor of a row, with its outcome. */
export interface ImportedSensor {
  from: SensorLine & { vehicleId: VehicleId };
  became: BulkOutcome<{ id: SensorId }>;
}

/** Finds the vehicle that a row names, among those that the caller may change. */
export class NamedVehicles {
  readonly #directory: Directory;
  readonly #mayChange: (vehicle: Vehicle) => boolean;
  #byText: { plate: Map<string, Vehicle[]>; name: Map<string, Vehicle[]> } | null = null;

  constructor(directory: Directory, mayChange: (vehicle: Vehicle) => boolean) {
    this.#directory = directory;
    this.#mayChange = mayChange;
  }

  /** @returns the vehicle, or the column that names none or several, with the reason */
  find({ id, terminalId, plate, name }: SensorLine['vehicle']): Vehicle | { column: string; detail: string } {
    if (id !== null) return this.#one('vehicleId', [this.#directory.vehicles.get(id)]);
    if (terminalId !== null) return this.#one('terminalId', [this.#directory.vehicleOfTerminal(terminalId)]);
    this.#byText ??= this.#indexed();
    if (plate !== null) return this.#one('plate', this.#byText.plate.get(plate) ?? []);
    return this.#one('vehicleName', this.#byText.name.get(name ?? '') ?? []);
  }

  #one(column: string, found: readonly (Vehicle | undefined)[]): Vehicle | { column: string; detail: string } {
    const own = found.filter((vehicle) => vehicle !== undefined && this.#mayChange(vehicle));
    const [vehicle] = own;
    if (vehicle === undefined) return { column, detail: 'There is no such vehicle.' };
    return own.length === 1 ? vehicle : { column, detail: `${own.length} vehicles have this value: use vehicleId.` };
  }

  #indexed() {
    const plate = new Map<string, Vehicle[]>();
    const name = new Map<string, Vehicle[]>();
    const add = (index: Map<string, Vehicle[]>, key: string, vehicle: Vehicle) => {
      const known = index.get(key);
      if (known === undefined) index.set(key, [vehicle]);
      else known.push(vehicle);
    };
    for (const vehicle of this.#directory.vehicles.values()) {
      if (!this.#mayChange(vehicle)) continue;
      add(name, vehicle.name, vehicle);
      if (vehicle.plate !== null) add(plate, vehicle.plate, vehicle);
    }
    return { plate, name };
  }
}

/** New sensor lists of vehicles: a row's sensor replaces the one of the same name, or is appended. */
export function sensorWrites(
  lines: readonly SensorLine[],
  vehicles: NamedVehicles,
  { defaults, check, maxCharacters }: SensorTerms,
  faults: Faults,
): SensorWrite[] {
  const writes = new Map<VehicleId, SensorWrite>();
  for (const line of lines) {
    if (line.isWrong) continue;
    const { row, name, fields } = line;
    const vehicle = vehicles.find(line.vehicle);
    if ('detail' in vehicle) {
      faults.add({ row, ...vehicle });
      continue;
    }
    const write = writes.get(vehicle.id) ?? { vehicle, lines: [], sensors: [...vehicle.sensors] };
    writes.set(vehicle.id, write);
    const key = sensorNameKey(name);
    const earlier = write.lines.find((other) => sensorNameKey(other.name) === key);
    if (earlier !== undefined) {
      faults.add({ row, column: 'name', detail: `Row ${earlier.row} is about the same sensor.` });
      continue;
    }
    write.lines.push(line);
    const at = write.sensors.findIndex((sensor) => sensorNameKey(sensor.name) === key);
    const known = at < 0 ? undefined : write.sensors[at];
    for (const column of ['kind', 'source'] as const)
      if (known === undefined && fields[column] === undefined)
        faults.add({ row, column, detail: `A new sensor needs a ${column}.` });
    const next = { ...defaults, ...known, ...fields, name } as SensorFields;
    if (at < 0) write.sensors.push(next);
    else write.sensors[at] = next;
  }
  let characters = 0;
  for (const write of writes.values()) {
    for (const fault of faultsOf(write, check(write.sensors))) faults.add(fault);
    characters += JSON.stringify(write.sensors).length;
    if (characters <= maxCharacters) continue;
    const { row } = write.lines[0] as SensorLine;
    faults.add({
      row,
      detail: `All sensors of these vehicles together must have at most ${maxCharacters} characters as JSON.`,
    });
    break;
  }
  return [...writes.values()];
}

function* faultsOf({ lines, sensors }: SensorWrite, issues: ReturnType<SensorTerms['check']>) {
  for (const { path, message } of issues) {
    const [nth, column, ...rest] = path;
    const name = typeof nth === 'number' ? sensorNameKey(sensors[nth]?.name ?? '') : '';
    const line = lines.find((each) => sensorNameKey(each.name) === name);
    const row = (line ?? (lines[0] as SensorLine)).row;
    const isOfLine = line !== undefined && typeof column === 'string';
    const place =
      rest.length === 0
        ? ''
        : `${rest.map((part) => (typeof part === 'number' ? part + 1 : String(part))).join(', ')}: `;
    yield { row, ...(isOfLine ? { column } : {}), detail: `${place}${message}` };
  }
}

export function vehicleWriteOf({ vehicle, sensors }: SensorWrite): VehicleWrite {
  return { id: vehicle.id, expectedVersion: vehicle.version, patch: { sensors } };
}

/** Outcome of each row, in the order of the rows. */
export function importedSensors(
  writes: readonly SensorWrite[],
  outcomes: readonly BulkOutcome<Vehicle>[],
): ImportedSensor[] {
  return writes
    .flatMap(({ vehicle, lines }, nth) => {
      const after = outcomes[nth]?.definition.sensors ?? [];
      return lines.map((line): ImportedSensor => {
        const isNamed = ({ name }: Sensor) => sensorNameKey(name) === sensorNameKey(line.name);
        const before = vehicle.sensors.find(isNamed);
        const sensor = after.find(isNamed);
        const isSame = JSON.stringify(before) === JSON.stringify(sensor);
        const outcome = before === undefined ? 'created' : isSame ? 'unchanged' : 'updated';
        const id = sensor?.id ?? ('' as SensorId);
        return { from: { ...line, vehicleId: vehicle.id }, became: { outcome, definition: { id } } };
      });
    })
    .sort((a, b) => a.from.row - b.from.row);
}
