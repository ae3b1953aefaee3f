import { EVENT_DESCRIPTIONS, type EventDescription, type EventField } from '@outrider/domain';
import { expect, test } from 'vitest';
import { columnSteps, OWN_COLUMNS, ownColumns } from './own-columns.ts';

const field = (type: EventField['type'], facts: Partial<EventField> = {}): EventField => ({
  type,
  isNullable: false,
  isOptional: false,
  ...facts,
});
/** A kind that a later release might have. */
const later: EventDescription = {
  record: 'Later',
  prefix: 'Later',
  about: 'Something else.',
  since: 6,
  kinds: { later: (EVENT_DESCRIPTIONS[0] as EventDescription).kinds['geofence-visit'] as never },
  fields: {
    peakKmh: field('number'),
    manoeuvre: field('choice', { values: ['braking', 'cornering'] }),
    peakMps2: field('number', { isNullable: true }),
    noticedBy: field('id', { since: 7 }),
  },
  endReasons: ['no-longer-watched'],
};

test('what a release adds to events gets its columns by a step of its own; what is there is shared', () => {
  const columns = ownColumns([...EVENT_DESCRIPTIONS, later]);
  expect(columns.find(({ name }) => name === 'peak_kmh')?.fields.get('later')?.name).toBe('peakKmh');
  expect(columnSteps(columns)).toEqual([
    {
      since: 6,
      statement:
        'ALTER TABLE events ADD COLUMN IF NOT EXISTS manoeuvre LowCardinality(String) CODEC(ZSTD(1)), ADD COLUMN IF NOT EXISTS peak_mps2 Nullable(Float64) CODEC(ZSTD(1))',
    },
    { since: 7, statement: 'ALTER TABLE events ADD COLUMN IF NOT EXISTS noticed_by Nullable(UUID) CODEC(ZSTD(1))' },
  ]);
});

test('a column of one type is not shared by fields of another', () => {
  const wrong = { ...later, fields: { peakKmh: field('text') } };
  expect(() => ownColumns([...EVENT_DESCRIPTIONS, wrong])).toThrow('Column peak_kmh of events has two types');
});

test('trips and speeding have their highest speed in one column', () => {
  const { fields } = OWN_COLUMNS.find(({ name }) => name === 'peak_kmh') ?? {};
  expect([...(fields ?? [])].map(([kind, { name }]) => [kind, name])).toEqual([
    ['speeding', 'peakKmh'],
    ['trip', 'maxKmh'],
  ]);
});
