import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { example, ROOT } from './readme.fixture.ts';
import { startService } from './service.fixture.ts';

test('reports work as pasted: by the call, as a job, on a schedule', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-readme-'));
  const service = await startService(join(folder, 'data'));
  try {
    const inFolder = (commands: string) =>
      commands.replaceAll(/(?<= )(van-7\.gpx|track\.xlsx|digest\.pdf)/g, (name) => join(folder, name));
    const part = (name: string) => `{ ${inFolder(example(name)).trimEnd()}\n} > ${join(folder, name)}`;
    const script = [
      'set -euo pipefail',
      `BASE='http://127.0.0.1:${service.ports.http}'; PHONES='http://127.0.0.1:${service.ports.osmand}'; JWT='${service.jwt}'`,
      part('vehicle'),
      'sleep 3',
      part('drive'),
      // A step back: a report ends before the second in which it is asked for.
      'sleep 3',
      ...['reports', 'reports-for-reading', 'report-job', 'report-schedule'].map(part),
    ].join('\n');
    await promisify(execFile)('bash', ['-c', script], { cwd: ROOT, timeout: 100_000 });
    const printed = (name: string) => readFileSync(join(folder, name), 'utf8');

    expect(JSON.parse(printed('reports')).items).toMatchObject([{ vehicleName: 'Van 7', limitKmh: 50 }]);
    expect(printed('van-7.gpx').match(/<trkpt /g)).toHaveLength(3);
    expect(readFileSync(join(folder, 'track.xlsx')).subarray(0, 2).toString()).toBe('PK');
    const [worked = '', ...violations] = printed('reports-for-reading').split('\n');
    expect(JSON.parse(worked)).toMatchObject({ totals: { rows: 1, groups: [{ key: 'Van 7', rows: 1 }] } });
    expect(violations.join('\n')).toMatch(/^vehicleName,kind,count,startPlace\r\nVan 7,speeding,1,/);
    expect(readFileSync(join(folder, 'digest.pdf')).subarray(0, 5).toString()).toBe('%PDF-');
    const { items } = await service.call<{ items: object[] }>('GET', '/api/v1/jobs?kind=report');
    expect(items).toMatchObject([{ kind: 'report', report: 'track', format: 'xlsx', state: 'done', rows: 3 }]);
    expect(JSON.parse(printed('report-schedule'))).toMatchObject({
      name: 'Mileage of the week',
      active: true,
      nextAt: expect.stringMatching(/T0[45]:00:00.000Z$/),
    });
  } finally {
    await service.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});
