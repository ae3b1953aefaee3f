import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { DriverState } from '@outrider/simulator';

/** What the demo keeps in its folder, so that its next start goes on where this one ended. */
export interface DemoMemory {
  /** Of all accounts of the demo. */
  password: string;
  /** Where each vehicle is, by its terminal. */
  drivers: Record<string, DriverState>;
}

/** Reads the file. Returns a new memory if the file does not exist or can't be read. */
export function readMemory(file: string): DemoMemory {
  if (existsSync(file)) {
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as DemoMemory;
    } catch {
      // Half a file, or somebody else's: the fleet begins anew.
    }
  }
  return { password: randomBytes(9).toString('base64url'), drivers: {} };
}

export function writeMemory(file: string, memory: DemoMemory): void {
  writeFileSync(`${file}.new`, JSON.stringify(memory), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
