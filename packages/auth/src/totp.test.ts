import { describe, expect, test } from 'vitest';
import { isTotpCode, newRecoveryCodes, newTotpSecret, totpCode, totpStep, totpUri } from './totp.ts';

/** `12345678901234567890`, the key of RFC 6238, appendix B. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('the last six digits of RFC 6238, appendix B, at %i s', (seconds, code) => {
  expect(totpCode(SECRET, seconds * 1000)).toBe(code);
  expect(totpStep(SECRET, code, seconds * 1000)).toBe(Math.floor(seconds / 30));
});

describe('a code', () => {
  const atMs = 1_234_567_890_000;
  const code = totpCode(SECRET, atMs);

  test('is good one step early and one step late, and names its own step', () => {
    const step = Math.floor(atMs / 30_000);
    for (const off of [-1, 0, 1]) expect(totpStep(SECRET, code, atMs + off * 30_000)).toBe(step);
    for (const off of [-2, 2]) expect(totpStep(SECRET, code, atMs + off * 30_000)).toBeNull();
  });

  test('of another secret, or of another form, is of no step', () => {
    const other = newTotpSecret();
    expect(totpStep(other, totpCode(other, atMs), atMs)).not.toBeNull();
    for (const wrong of ['', '12345', `${code}0`, ' 05924', 'abcdef', '０05924'])
      expect(totpStep(SECRET, wrong, atMs), wrong).toBeNull();
    expect(() => totpStep('not base32', code, atMs)).toThrow('base32');
  });
});

test('secrets are 160 random bits, as apps read them', () => {
  const secret = newTotpSecret();
  expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(newTotpSecret()).not.toBe(secret);
  const uri = new URL(totpUri(secret, 'anna@example.com: "fleet"'));
  expect(decodeURIComponent(uri.pathname)).toBe('/Outrider:anna@example.com: "fleet"');
  expect(Object.fromEntries(uri.searchParams)).toEqual({
    secret,
    issuer: 'Outrider',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  });
});

test('recovery codes differ, and can not be taken for codes of an app', () => {
  const codes = newRecoveryCodes(10);
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) {
    expect(code).toMatch(/^(?:[a-z2-7]{4}-){3}[a-z2-7]{4}$/);
    expect(isTotpCode(code)).toBe(false);
  }
});
