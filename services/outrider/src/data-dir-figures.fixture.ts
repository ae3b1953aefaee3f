import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { call, logIn, type Ports, spawnService } from './service.fixture.ts';

export interface TimeRange {
  from: string;
  to: string;
}

export interface Figures {
  vehicles: number;
  positions: number;
  trips: number;
  speeding: number;
}

/** A service on a copy of a golden `DATA_DIR`, and what it reports of it. */
export class GoldenService {
  readonly folder: string;
  readonly #process: ReturnType<typeof spawnService>;
  readonly #ports: Ports;
  readonly jwt: string;

  private constructor(folder: string, process: ReturnType<typeof spawnService>, ports: Ports, jwt: string) {
    this.folder = folder;
    this.#process = process;
    this.#ports = ports;
    this.jwt = jwt;
  }

  /** @param password of the account `demo` */
  static async start(folder: string, password: string): Promise<GoldenService> {
    // Retention must not remove data that was written years ago.
    const process = spawnService(folder, undefined, { TELEMETRY_RETENTION_HOURS: '87600' });
    const ports = await process.ready;
    if (ports === null) throw new Error(`the service did not start:\n${process.stderrText()}`);
    try {
      return new GoldenService(folder, process, ports, await logIn(ports.http, 'demo', password));
    } catch (error) {
      await process.kill();
      throw error;
    }
  }

  call<T>(method: string, path: string, body?: unknown): Promise<T> {
    return call<T>(this.#ports.http, this.jwt, method, path, body);
  }

  async figures({ from, to }: TimeRange): Promise<Figures> {
    const range = `from=${from}&to=${to}&limit=1000`;
    const vehicles = await this.items('/api/v1/vehicles?limit=1000');
    const tracks = vehicles.map(({ id }) => this.items(`/api/v1/reports/track?vehicleId=${id}&${range}`));
    return {
      vehicles: vehicles.length,
      positions: (await Promise.all(tracks)).flat().length,
      trips: (await this.items(`/api/v1/reports/trips?${range}`)).length,
      speeding: (await this.items(`/api/v1/reports/speeding?${range}`)).length,
    };
  }

  /** All items of a list, page by page. */
  async items(path: string): Promise<{ id: string }[]> {
    const found: { id: string }[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page: { items: { id: string }[]; nextCursor: string | null } = await this.call('GET', `${path}${more}`);
      found.push(...page.items);
      cursor = page.nextCursor;
    }
    return found;
  }

  errors(): string[] {
    return this.#process
      .stderrText()
      .split('\n')
      .filter((line) => line.includes('"level":50'));
  }

  /** Stops in order. @returns the exit code */
  stop(): Promise<number | null> {
    return this.#process.interrupt();
  }

  kill(): Promise<void> {
    return this.#process.kill();
  }
}

export function unpack(archive: string, folder: string): void {
  execFileSync('tar', ['-xzf', archive, '-C', folder]);
}

/** What this release reports of an archived `DATA_DIR`, once it has processed what was in its log. */
export async function dataDirFigures(archive: string, password: string, range: TimeRange): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-golden-'));
  unpack(archive, folder);
  const service = await GoldenService.start(folder, password);
  try {
    let figures = await service.figures(range);
    for (let before = ''; before !== JSON.stringify(figures); figures = await service.figures(range)) {
      before = JSON.stringify(figures);
      await wait(5000);
    }
    return figures;
  } finally {
    await service.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}
