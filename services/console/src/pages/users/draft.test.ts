import type { User } from '@outrider/client';
import { expect, test } from 'vitest';
import { draftOf, newDraft, newUserBody, suggestedPassword, userPatch, withService } from './draft.ts';

const USER: User = {
  id: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
  login: 'anna',
  name: 'Anna',
  role: 'user',
  dealerId: null,
  blocked: false,
  apiAccess: true,
  services: ['video'],
  rights: ['edit-geofences'],
  externalId: null,
  customAttributes: {},
  groupIds: ['01961f3c-8b21-7d4f-8c2e-3a7b1d5f9e68'],
};

test('a new account has what its maker may grant', () => {
  const draft = {
    ...newDraft('secret words'),
    login: 'anna',
    apiAccess: true,
    services: ['video' as const],
    groupIds: ['g'],
  };
  expect(newUserBody(draft, true)).toEqual({
    externalId: null,
    customAttributes: {},
    login: 'anna',
    name: 'anna',
    password: 'secret words',
    role: 'user',
    dealerId: null,
    apiAccess: true,
    services: ['video'],
    rights: ['edit-geofences', 'edit-notifications', 'share'],
    groupIds: ['g'],
  });
  const invited = newUserBody({ ...draft, email: ' anna@example.com ' }, true);
  expect([invited.email, invited.password]).toEqual(['anna@example.com', undefined]);
  const ofDealer = newUserBody(draft, false);
  expect([ofDealer.apiAccess, ofDealer.dealerId]).toEqual([undefined, undefined]);
});

test('a dealer has all services and no groups', () => {
  const draft = { ...draftOf(USER), role: 'dealer' as const, name: 'Garage' };
  expect(newUserBody(draft, true)).toMatchObject({ name: 'Garage', role: 'dealer', services: [], groupIds: [] });
  expect(newUserBody(draft, true).dealerId).toBeUndefined();
});

test('a patch has the fields that changed', () => {
  expect(userPatch({}, { name: 'Anna P' })).toEqual({ name: 'Anna P' });
  expect(userPatch({}, { services: [], dealerId: null })).toEqual({ services: [], dealerId: null });
  expect(userPatch({}, { rights: [] })).toEqual({ rights: [] });
  expect(userPatch({}, { apiAccess: false })).toEqual({});
  expect(userPatch({ a: 1 }, { customAttributes: { b: 2 } })).toEqual({ customAttributes: { a: null, b: 2 } });
});

test('text commands need the right to commands, in both directions', () => {
  expect(withService(['video'], 'command-text', true)).toEqual(['video', 'commands', 'command-text']);
  expect(withService(['commands', 'command-text'], 'commands', false)).toEqual([]);
  expect(withService(['commands', 'command-text'], 'command-text', false)).toEqual(['commands']);
  expect(withService(['commands'], 'video', true)).toEqual(['video', 'commands']);
});

test('a suggested password is read out easily, and each is another', () => {
  const some = Array.from({ length: 50 }, () => suggestedPassword());
  for (const one of some) expect(one).toMatch(/^([a-km-np-zA-HJ-NP-Z2-9]{4}-){3}[a-km-np-zA-HJ-NP-Z2-9]{4}$/);
  expect(new Set(some).size).toBe(50);
  const bytes = [255, 0, 1];
  let at = 0;
  const first = suggestedPassword((into) => {
    into[0] = bytes[at++ % bytes.length] ?? 0;
  });
  expect(first).toBe('abab-abab-abab-abab');
});
