import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Access } from './access.ts';

const PAUSE_MS = 30;
/** A report is asked for after so many other writes. */
const REPORT_EVERY = 20;
const LOOK_EVERY_MS = 50;

interface Vehicle {
  id: string;
  /** Of the last name that was acknowledged; a later one may be stored as well. */
  number: number;
}

/** Writes by REST, one after the other, and knows what was acknowledged: definitions, and reports that were made. */
export class AcknowledgedWrites {
  readonly #access: Access;
  readonly #vehicles: Vehicle[] = [];
  /** Hashes of files by the ids of their jobs. */
  readonly #files = new Map<string, string>();
  #writing: Promise<void> | null = null;
  #isDone = false;
  #count = 0;

  constructor(access: Access) {
    this.#access = access;
  }

  /** Definitions and files that were acknowledged. */
  get acknowledged(): { vehicles: number; files: number } {
    return { vehicles: this.#vehicles.length, files: this.#files.size };
  }

  go(): void {
    this.#isDone = false;
    this.#writing ??= this.#write();
  }

  async pause(): Promise<void> {
    this.#isDone = true;
    await this.#writing;
    this.#writing = null;
  }

  async #write(): Promise<void> {
    while (!this.#isDone) {
      const number = ++this.#count;
      try {
        if (number % REPORT_EVERY === 0) await this.#report();
        else if (number % 2 === 0) await this.#rename(number);
        else await this.#create(number);
      } catch {
        // Nothing was acknowledged: the service is not there, or starts.
        await wait(LOOK_EVERY_MS);
      }
      await wait(PAUSE_MS);
    }
  }

  async #create(number: number): Promise<void> {
    const body = { name: `Write ${number}` };
    const { id } = await this.#access.call<{ id: string }>('POST', '/api/v1/vehicles', body);
    this.#vehicles.push({ id, number });
  }

  async #rename(number: number): Promise<void> {
    const vehicle = this.#vehicles[number % this.#vehicles.length];
    if (vehicle === undefined) return;
    await this.#access.call('PATCH', `/api/v1/vehicles/${vehicle.id}`, { name: `Write ${number}` });
    vehicle.number = number;
  }

  async #report(): Promise<void> {
    const body = { kind: 'current-state', format: 'csv' };
    const { id } = await this.#access.call<{ id: string }>('POST', '/api/v1/report-jobs', body);
    while (!this.#isDone) {
      const { state } = await this.#access.call<{ state: string }>('GET', `/api/v1/jobs/${id}`);
      if (state === 'done') {
        this.#files.set(id, await this.#hashOf(id));
        return;
      }
      await wait(LOOK_EVERY_MS);
    }
  }

  async #hashOf(jobId: string): Promise<string> {
    const bytes = await this.#access.bytes(`/api/v1/report-jobs/${jobId}/file`);
    return createHash('sha256').update(bytes).digest('hex');
  }

  /** What of it is not there any more, or not as it was. */
  async violations(): Promise<string[]> {
    const found: string[] = [];
    for (const { id, number } of this.#vehicles) {
      const name = await this.#access.call<{ name: string }>('GET', `/api/v1/vehicles/${id}`).then(
        (vehicle) => vehicle.name,
        (error: Error) => error.message,
      );
      if (!(Number(/^Write (\d+)$/.exec(name)?.[1]) >= number))
        found.push(`vehicle ${id}: ${name}, not Write ${number}`);
    }
    for (const [id, hash] of this.#files) {
      const now = await this.#hashOf(id).catch((error: Error) => error.message);
      if (now !== hash) found.push(`file of job ${id}: ${now}, not ${hash}`);
    }
    return found;
  }
}
