import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { DriverState } from '@outrider/simulator';

/** State that the demo saves in its folder, so that its next start continues from there. */
export interface DemoMemory {
  /** Password of all accounts of the demo. */
  password: string;
  /** State of each vehicle's driver, by terminal. */
  drivers: Record<string, DriverState>;
}

/** Reads the file. Returns a new memory if the file does not exist or can't be read. */
export function readMemory(file: string): DemoMemory {
  if (existsSync(file)) {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as DemoMemory;
    } catch {
      // An incomplete or foreign file: the fleet starts from the beginning.
    }
  }
  return { password: randomBytes(9).toString('base64url'), drivers: {} };
}

export function writeMemory(file: string, memory: DemoMemory): void {
  writeFileSync(`${file}.new`, JSON.stringify(memory), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
