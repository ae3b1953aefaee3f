import type { UserId, VehicleGroup } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { NotFoundError, StaleError } from './errors.ts';
import { asExpected, revised } from './resource.ts';

const group = { kind: 'group', id: 'g', version: 3, name: 'Vans', dealerId: null } as unknown as VehicleGroup;

describe('what is about to be changed', () => {
  test('is handed on in the version expected, or in any where none is', () => {
    expect(asExpected(group, 'group', 'g', 3)).toBe(group);
    expect(asExpected(group, 'group', 'g', null)).toBe(group);
  });

  test('has to be there, and as the caller saw it', () => {
    for (const nothing of [null, undefined])
      expect(() => asExpected<VehicleGroup>(nothing, 'group', 'g', null)).toThrow(NotFoundError);
    for (const version of [2, 4]) expect(() => asExpected(group, 'group', 'g', version)).toThrow(StaleError);
  });
});

describe('a patch', () => {
  test('that changes something makes the next version, and leaves the one before as it was', () => {
    const dealerId = 'dealer' as UserId;
    expect(revised(group, { name: 'Lorries' })).toEqual({ ...group, version: 4, name: 'Lorries' });
    expect(revised(group, { name: 'Vans', dealerId })).toEqual({ ...group, version: 4, dealerId });
    expect(group).toMatchObject({ version: 3, name: 'Vans' });
  });

  test('that changes nothing gives the definition itself; undefined counts as not given', () => {
    expect(revised(group, {})).toBe(group);
    expect(revised(group, { name: 'Vans', dealerId: null })).toBe(group);
    expect(revised(group, { name: undefined })).toBe(group);
  });

  test('keeps the very lists that it leaves as they are', () => {
    const current = { version: 1, name: 'a', groupIds: ['x', 'y'] };
    const next = revised(current, { name: 'b', groupIds: ['x', 'y'] });
    expect(next).toEqual({ ...current, version: 2, name: 'b' });
    expect(next.groupIds).toBe(current.groupIds);
  });
});
