import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { writeCsvLine } from '@outrider/reports';
import { StartError } from '@outrider/runtime';

/** Progress of a device's history. */
export interface DeviceProgress {
  /** Beginning of the import in Unix milliseconds. */
  fromMs: number;
  /** Positions before this are imported. */
  reachedMs: number;
  /** Imported range whose events are not recalculated yet; ISO 8601. */
  pending: { from: string; to: string } | null;
}

interface Stored {
  source: string;
  target: string;
  devices: Record<string, DeviceProgress>;
}

/** Progress of a history import, in a file. An interrupted import resumes from it. */
export class ImportProgress {
  readonly #file: string | null;
  readonly #stored: Stored;

  /**
   * @param file null: the progress is not saved
   * @throws {StartError} when the file belongs to another import or is not a progress file
   */
  constructor(file: string | null, source: string, target: string) {
    this.#file = file;
    this.#stored = (file === null ? null : readStored(file)) ?? { source, target, devices: {} };
    if (this.#stored.source !== source || this.#stored.target !== target)
      throw new StartError(`${file} is the progress from ${this.#stored.source} to ${this.#stored.target}`);
  }

  /** Progress of a device, by its unique id. Restarted if the beginning of the history differs. */
  of(device: string, fromMs: number): DeviceProgress {
    const known = this.#stored.devices[device];
    return known?.fromMs === fromMs ? known : { fromMs, reachedMs: fromMs, pending: null };
  }

  save(device: string, progress: DeviceProgress): void {
    if (this.#file === null) return;
    this.#stored.devices[device] = progress;
    try {
      writeFileSync(`${this.#file}.new`, JSON.stringify(this.#stored));
      renameSync(`${this.#file}.new`, this.#file);
    } catch (error) {
      throw new StartError(`cannot write ${this.#file}: ${(error as Error).message}`);
    }
  }
}

function readStored(file: string): Stored | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new StartError(`cannot read ${file}: ${(error as Error).message}`);
  }
  try {
    const { source, target, devices } = JSON.parse(text) as Partial<Stored>;
    if (typeof source === 'string' && typeof target === 'string' && typeof devices === 'object')
      return { source, target, devices };
  } catch {
    // Reported below.
  }
  throw new StartError(`${file} is no progress of an import`);
}

/** Outcome of each imported item, as CSV lines in a file. */
export class ImportReport {
  readonly #file: number | null = null;

  /** @throws {StartError} when the file can't be written */
  constructor(file: string | null) {
    if (file === null) return;
    try {
      this.#file = openSync(file, 'w');
    } catch (error) {
      throw new StartError(`cannot write ${file}: ${(error as Error).message}`);
    }
    this.write('outcome', 'what', 'why');
  }

  write(outcome: string, what: string, why: string): void {
    if (this.#file !== null) writeSync(this.#file, writeCsvLine([outcome, what, why], ','));
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
  }
}
