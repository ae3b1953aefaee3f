import { expect, test } from 'vitest';
import { parseMetrics } from './prometheus.ts';

test('samples are there by name with labels, and summed by name', () => {
  const text = `# HELP outrider_events_total Events
# TYPE outrider_events_total counter
outrider_events_total{kind="speeding",phase="begin"} 3
outrider_events_total{kind="geofence-visit",phase="a } b"} 4.5
outrider_positions_received_total 1e6
`;
  expect(Object.fromEntries(parseMetrics(text))).toEqual({
    outrider_events_total: 7.5,
    'outrider_events_total{kind="speeding",phase="begin"}': 3,
    'outrider_events_total{kind="geofence-visit",phase="a } b"}': 4.5,
    outrider_positions_received_total: 1_000_000,
  });
});
