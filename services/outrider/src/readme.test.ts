import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { variables } from './config.ts';
import { startService } from './service.fixture.ts';
import { settingsTable } from './settings-table.ts';

const ROOT = join(import.meta.dirname, '../../..');
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** The commands that stand under `<!-- example: name -->`. */
function example(name: string): string {
  const [, commands] = new RegExp(`<!-- example: ${name} -->\\n\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(readme) ?? [];
  if (commands === undefined) throw new Error(`the README has no example ${name}`);
  return commands;
}

test('the first five minutes work as pasted', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-readme-'));
  const [, password = ''] = /ADMIN_PASSWORD='([^']*)'/.exec(example('start')) ?? [];
  const service = await startService(join(folder, 'data'), undefined, { ADMIN_PASSWORD: password });
  try {
    const heard = join(folder, 'heard');
    const script = [
      'set -euo pipefail',
      example('login')
        .replace('http://localhost:8080', `http://127.0.0.1:${service.ports.http}`)
        .replace('http://localhost:5055', `http://127.0.0.1:${service.ports.osmand}`),
      example('vehicle'),
      example('geozone'),
      'sleep 1',
      `( ${example('watch').trimEnd()} ) > ${heard} 2>/dev/null &`,
      `until grep -q resumed ${heard} 2>/dev/null; do sleep 0.1; done`,
      example('drive'),
      example('ask'),
      `until grep -q '"kind":"speeding"' ${heard} && grep -q '"kind":"geofence-visit"' ${heard}; do sleep 0.1; done`,
      // The client is not waited for: it ends when its server does.
    ].join('\n');
    const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: ROOT, timeout: 50_000 });

    const lines = stdout.trim().split('\n');
    expect(lines.filter((line) => line === '200')).toHaveLength(3);
    const [state, track] = lines.slice(-2).map((line) => JSON.parse(line));
    expect(state.position).toMatchObject({ latitude: 52.5199, longitude: 13.405 });
    expect(track.items).toHaveLength(3);
    const messages = readFileSync(heard, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(messages.filter(({ type }) => type === 'position')).toHaveLength(3);
    expect(
      messages
        .filter(({ type }) => type === 'event')
        .map(({ kind, phase }) => `${kind} ${phase}`)
        .toSorted(),
    ).toEqual(['geofence-visit begin', 'speeding begin']);
  } finally {
    await service.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the table of settings is that of the code', () => {
  expect(readme).toContain(`|---|---|---|\n${settingsTable(variables)}\n`);
});
