import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { protocols } from '@outrider/protocols';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type RunningService, startService } from './service.fixture.ts';

let folder: string;
let service: RunningService | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-start-'));
});
afterEach(async () => {
  await service?.kill().catch(() => {});
  service = null;
  rmSync(folder, { recursive: true, force: true });
});

test('it makes its folder, listens, answers, and stops cleanly on Ctrl-C', async () => {
  const dataDir = join(folder, 'new', 'data');
  service = await startService(dataDir);
  const listeners = ['http', 'video', ...protocols.map(({ name }) => name)];
  expect(Object.keys(service.ports).toSorted()).toEqual(listeners.toSorted());
  const ready = await fetch(`http://127.0.0.1:${service.ports.http}/health/ready`);
  expect(await ready.json()).toMatchObject({ status: 'ok', parts: { log: { status: 'ok' }, rules: { status: 'ok' } } });
  expect(await service.interrupt()).toBe(0);
  expect(existsSync(join(dataDir, 'log.sqlite'))).toBe(true);
  service = null;
});
