import { VirtualClock } from '@outrider/testing/clock';
import { expect, test, vi } from 'vitest';
import { createLogger } from '../logger.ts';
import { Metrics } from '../prometheus.ts';
import { createDescriptorWatch, type Descriptors } from './descriptor-watch.ts';

test('few descriptors, and none, are logged once, shown by readiness and counted', async () => {
  const answers: (Descriptors | 'EMFILE')[] = [
    { open: 50, limit: 1000 },
    { open: 900, limit: 1000 },
    'EMFILE',
    'EMFILE',
    { open: 50, limit: 1000 },
  ];
  const lines: string[] = [];
  const logger = createLogger('silent', 'json');
  for (const level of ['info', 'warn', 'error'] as const)
    vi.spyOn(logger, level).mockImplementation(((_: object, line: string) => lines.push(line)) as never);
  const metrics = new Metrics();
  const warnings: string[] = [];
  const clock = new VirtualClock();
  const watch = createDescriptorWatch({
    logger,
    metrics,
    allowed: { MAX_CONNECTIONS: 1000 },
    clock,
    async read() {
      warnings.push(...watch.warnings());
      const answer = answers.shift() ?? { open: 50, limit: 1000 };
      if (answer === 'EMFILE') throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
      return answer;
    },
  });
  await watch.start();
  await clock.advance(4 * 5000);
  expect(answers).toEqual([]);
  expect(watch.warnings()).toEqual([]);
  await watch.stop();
  expect(lines).toEqual([
    'the limit of open files is too low for the settings',
    'few file descriptors are free',
    'no file descriptor is free: new connections are refused',
    'enough file descriptors are free again',
  ]);
  expect(new Set(warnings)).toEqual(new Set(['few file descriptors are free', 'no file descriptor is free']));
  expect(await metrics.metrics()).toMatch(/outrider_file_descriptors_exhausted_total 2\n/);
});

test('the descriptors of this process are counted', async () => {
  const metrics = new Metrics();
  const watch = createDescriptorWatch({ logger: createLogger('silent', 'json'), metrics, allowed: {} });
  await watch.start();
  await watch.stop();
  expect(await metrics.metrics()).toMatch(/outrider_file_descriptors\{kind="open"\} [1-9]/);
});
