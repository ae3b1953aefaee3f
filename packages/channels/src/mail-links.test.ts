import { expect, test } from 'vitest';
import { addressIdOf, isMailLinkValid, mailLinkToken } from './mail-links.ts';

const ADDRESS = { id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57', secret: 'secret of this one', generation: 3 };
const NOW_MS = Date.UTC(2026, 0, 15, 12);
const LATER_MS = NOW_MS + 60_000;
const token = mailLinkToken(ADDRESS, 'confirm', LATER_MS);

test('a token is good for its address, its purpose and its time', () => {
  expect(addressIdOf(token)).toBe(ADDRESS.id);
  expect(isMailLinkValid(token, ADDRESS, 'confirm', NOW_MS)).toBe(true);
  expect(isMailLinkValid(token, ADDRESS, 'unsubscribe', NOW_MS)).toBe(false);
  expect(isMailLinkValid(token, { ...ADDRESS, secret: 'another' }, 'confirm', NOW_MS)).toBe(false);
  expect(isMailLinkValid(token, { ...ADDRESS, id: ADDRESS.id.replace('0', '1') }, 'confirm', NOW_MS)).toBe(false);
  expect(isMailLinkValid(token, ADDRESS, 'confirm', LATER_MS)).toBe(false);
});

test('what confirms works once, what unsubscribes as long as it has not expired', () => {
  const later = { ...ADDRESS, generation: 4 };
  expect(isMailLinkValid(token, later, 'confirm', NOW_MS)).toBe(false);
  expect(isMailLinkValid(mailLinkToken(ADDRESS, 'unsubscribe', LATER_MS), later, 'unsubscribe', NOW_MS)).toBe(true);
});

test('no character of a token can be another one', () => {
  for (let at = 0; at < token.length; at += 1)
    for (const character of ['0', 'a', 'A', '.', '-']) {
      const forged = token.slice(0, at) + character + token.slice(at + 1);
      // The last characters of base64 may stand for the same bytes: those are the same token.
      if (forged === token) continue;
      expect(isMailLinkValid(forged, ADDRESS, 'confirm', NOW_MS)).toBe(false);
    }
  for (const nonsense of ['', '.', token.slice(1), `${token}x`, token.replace('confirm', 'unsubscribe')])
    expect(isMailLinkValid(nonsense, ADDRESS, 'confirm', NOW_MS)).toBe(false);
});
