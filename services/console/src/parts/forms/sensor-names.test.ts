import { expect, test } from 'vitest';
import { namesToChoose } from './sensor-names.ts';

test('sensors are offered once, and what is chosen beside them', () => {
  const items = [
    { id: 'Cargo', name: 'Cargo' },
    { id: 'Door', name: 'Door' },
  ];
  expect(namesToChoose(items, [])).toEqual(items);
  expect(namesToChoose(items, ['DOOR', 'gone'])).toEqual([
    { id: 'Cargo', name: 'Cargo' },
    { id: 'DOOR', name: 'Door' },
    { id: 'gone', name: 'gone' },
  ]);
});
