import { expect, test } from 'vitest';
import { Directory } from './directory.ts';
import type { TerminalId, VehicleId } from './ids.ts';
import type { DefinitionChange } from './resources/definitions.ts';
import type { Vehicle } from './resources/vehicle.ts';
import { sampleVehicle } from './samples.fixture.ts';

function vehicle(id: string, version: number, terminalId: string | null): DefinitionChange {
  const definition: Vehicle = sampleVehicle({
    id: id as VehicleId,
    version,
    name: id,
    terminalId: terminalId as TerminalId | null,
  });
  return { kind: 'vehicle', id, version, changedAtMs: version, definition };
}

function deleted(id: string, version: number): DefinitionChange {
  return { kind: 'vehicle', id, version, changedAtMs: version, definition: null };
}

test('a terminal leads to the vehicle it is fitted to', () => {
  const directory = new Directory();
  expect(directory.apply(vehicle('car', 1, '7001'))).toBeNull();
  expect(directory.vehicleOfTerminal('7001' as TerminalId)?.id).toBe('car');
  expect(directory.vehicleOfTerminal('7002' as TerminalId)).toBeUndefined();
});

test('a terminal that moves to another vehicle leads there, whichever change comes first', () => {
  for (const changes of [
    [vehicle('car', 2, null), vehicle('van', 1, '7001')],
    [vehicle('van', 1, '7001'), vehicle('car', 2, null)],
  ]) {
    const directory = new Directory();
    directory.apply(vehicle('car', 1, '7001'));
    for (const change of changes) directory.apply(change);
    expect(directory.vehicleOfTerminal('7001' as TerminalId)?.id).toBe('van');
  }
});

test('a deleted vehicle is gone, and its terminal unknown', () => {
  const directory = new Directory();
  directory.apply(vehicle('car', 1, '7001'));
  expect(directory.apply(deleted('car', 2))).toMatchObject({ id: 'car', version: 1 });
  expect(directory.vehicles.size).toBe(0);
  expect(directory.vehicleOfTerminal('7001' as TerminalId)).toBeUndefined();
});

test('a change seen before, or overtaken by a newer one, changes nothing', () => {
  const directory = new Directory();
  directory.apply(vehicle('car', 2, '7001'));
  expect(directory.apply(vehicle('car', 2, '7002'))).toBeUndefined();
  expect(directory.apply(vehicle('car', 1, '7003'))).toBeUndefined();
  expect(directory.vehicleOfTerminal('7001' as TerminalId)?.id).toBe('car');
  directory.apply(deleted('car', 3));
  expect(directory.apply(vehicle('car', 2, '7001'))).toBeUndefined();
  expect(directory.vehicles.size).toBe(0);
});
