import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { writeCsvLine } from '@outrider/reports';
import { StartError } from '@outrider/runtime';

/** How far the past of a device has come. */
export interface DeviceProgress {
  /** Unix milliseconds that the import began with. */
  fromMs: number;
  /** Positions before this are imported. */
  reachedMs: number;
  /** Imported, but its events not recalculated yet; ISO 8601. */
  pending: { from: string; to: string } | null;
}

interface Stored {
  source: string;
  target: string;
  devices: Record<string, DeviceProgress>;
}

/** How far an import of history has come, in a file: an import that was interrupted goes on by it. */
export class ImportProgress {
  readonly #file: string | null;
  readonly #stored: Stored;

  /**
   * @param file null: nothing is kept
   * @throws {StartError} for a file of another import, or none of an import
   */
  constructor(file: string | null, source: string, target: string) {
    this.#file = file;
    this.#stored = (file === null ? null : readStored(file)) ?? { source, target, devices: {} };
    if (this.#stored.source !== source || this.#stored.target !== target)
      throw new StartError(`${file} is the progress from ${this.#stored.source} to ${this.#stored.target}`);
  }

  /** Of a device, by its unique id. Another begin of the history starts it anew. */
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
    // Said below.
  }
  throw new StartError(`${file} is no progress of an import`);
}

/** What became of each thing, as lines of CSV in a file. */
export class ImportReport {
  readonly #file: number | null = null;

  /** @throws {StartError} where the file can't be written */
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
