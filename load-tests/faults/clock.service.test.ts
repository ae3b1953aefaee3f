import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { createClock, faketimeLibrary } from './clock.ts';

const library = faketimeLibrary();
const DAY_SECONDS = 86_400;
/** Says what time it is, and how long it runs. */
const SAY = 'setInterval(() => console.log(Date.now() / 1000, performance.now() / 1000), 100)';

test.skipIf(library === null)(
  'a running process sees its clock jump, both ways, and time passes as before',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'outrider-clock-'));
    const clock = createClock(library ?? '', join(folder, 'clock'));
    const child = spawn(process.execPath, ['-e', SAY], {
      env: { PATH: process.env.PATH, ...clock.environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const jumps: number[] = [];
    const steps: number[] = [];
    const wanted = [0, 3 * DAY_SECONDS, -3 * DAY_SECONDS, 0];
    let lastRan: number | null = null;
    for await (const line of createInterface(child.stdout)) {
      const [said = 0, ran = 0] = line.split(' ').map(Number);
      if (lastRan !== null) steps.push(ran - lastRan);
      lastRan = ran;
      // Within a minute, and without a sign where it is right.
      const off = Math.round((said - Date.now() / 1000) / 60) * 60 + 0;
      const next = wanted[jumps.length];
      if (off !== next) continue;
      jumps.push(off);
      const after = wanted[jumps.length];
      if (after === undefined) break;
      clock.set(after);
    }
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
    expect(jumps).toEqual(wanted);
    for (const step of steps) expect(step).toBeGreaterThan(0);
    expect(Math.max(...steps)).toBeLessThan(DAY_SECONDS);
  },
);
