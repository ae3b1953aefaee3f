import { expect, test } from 'vitest';
import { metricValues, ServiceHistory } from './service-history.ts';

const text = (positions: number, delay: number) => `# HELP outrider_positions_received_total Positions taken
# TYPE outrider_positions_received_total counter
outrider_positions_received_total{protocol="wialon"} ${positions}
outrider_positions_received_total{protocol="osmand"} 10
outrider_archive_delay_seconds{topic="telemetry"} ${delay}
outrider_archive_delay_seconds{topic="events"} 1
outrider_terminal_connections{protocol="wialon"} 3
outrider_terminal_connections{protocol="osmand"} Nan
`;

test('values are read whatever the labels', () => {
  const values = metricValues(text(5, 2));
  expect(values.get('outrider_positions_received_total')).toEqual([5, 10]);
  expect(values.get('outrider_terminal_connections')).toEqual([3]);
  expect(metricValues('process_start_time_seconds 17.5e8\n').get('process_start_time_seconds')).toEqual([17.5e8]);
});

test('rates come from two samples, other figures from one; what is not counted is null', () => {
  const history = new ServiceHistory();
  expect(history.isEmpty).toBe(true);
  history.add(text(100, 2), 0, 5);
  history.add(text(400, 7), 15_000, 6);
  expect(history.samples.map(({ sample }) => sample.positionsPerSecond)).toEqual([null, 20]);
  expect(history.samples.at(-1)?.sample).toMatchObject({
    archiveDelaySeconds: 7,
    terminals: 3,
    memoryBytes: 6,
    liveClients: null,
    requestsPerSecond: null,
  });
  expect([history.latest('outrider_terminal_connections'), history.latest('nothing')]).toEqual([3, null]);
  // Another process with smaller counters.
  history.add(text(0, 1), 30_000, 6);
  expect(history.samples.at(-1)?.sample.positionsPerSecond).toBe(0);
});

test('an hour is kept', () => {
  const history = new ServiceHistory();
  for (let n = 0; n < 300; n += 1) history.add(text(n, 0), n * 15_000, 1);
  expect(history.samples).toHaveLength(240);
  expect(history.samples[0]?.atMs).toBe(60 * 15_000);
});
