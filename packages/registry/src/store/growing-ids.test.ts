import { isUuid } from '@outrider/domain';
import { expect, test } from 'vitest';
import { growingIds } from './growing-ids.ts';

test('each id is above the one before, however fast they are made', () => {
  const newId = growingIds();
  const ids = Array.from({ length: 20_000 }, () => newId());
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => isUuid(id) && id[14] === '7')).toBe(true);
});

test('a clock that is set back makes no id that is below another', () => {
  const given = ['0190ffff-0000-7000-8000-000000000fff', '01900000-0000-7000-8000-000000000000', '0191'];
  const newId = growingIds(() => given.shift() ?? '');
  expect([newId(), newId(), newId()]).toEqual([
    '0190ffff-0000-7000-8000-000000000fff',
    '0190ffff-0000-7000-8000-000000001000',
    '0191',
  ]);
});
