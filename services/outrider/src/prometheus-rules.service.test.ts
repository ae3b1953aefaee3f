import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const RULES = join(import.meta.dirname, '../../../deploy/prometheus');
const run = promisify(execFile);
/** Part of Prometheus: `npm run services -- --install` installs it. */
const isThere = spawnSync('promtool', ['--version']).status === 0;
if (!isThere) console.warn('promtool is not installed: the rules of Prometheus are not tried');

test.skipIf(!isThere)('Prometheus takes its configuration and the rules', async () => {
  // The file of the token is there in the container alone.
  await run('promtool', ['check', 'config', '--syntax-only', join(RULES, 'prometheus.yml')]);
  const { stdout } = await run('promtool', ['check', 'rules', join(RULES, 'alerts.yml'), join(RULES, 'slo.yml')]);
  expect(stdout.match(/SUCCESS/g)).toHaveLength(2);
});

test.skipIf(!isThere)('the rules raise alerts where they should, and no others', async () => {
  await run('promtool', ['test', 'rules', join(RULES, 'rules.test.yml')], { cwd: RULES });
});
