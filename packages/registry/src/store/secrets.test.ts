import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { keyId, NO_SECRETS, SEALED_BY_CHARACTERS, type SecretPlace, Secrets, SecretsKeyError } from './secrets.ts';

const PLACE: SecretPlace = { table: 'notification_rules', id: '01961f3d-0a10-7c3e-9b1d-2f6a0c4e8d61' };
const SECRET = 'whsec_c2VjcmV0IG9mIGEgd2ViaG9vaw==';
const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const secrets = new Secrets([oldKey]);

describe('a sealed secret', () => {
  test('shows nothing of itself, differs each time and opens at its place', () => {
    const sealed = [secrets.seal(SECRET, PLACE), secrets.seal(SECRET, PLACE)];
    expect(new Set(sealed).size).toBe(2);
    for (const value of sealed) {
      expect(value).not.toContain('whsec');
      expect(Buffer.from(value.slice(SEALED_BY_CHARACTERS), 'base64url').toString()).not.toContain('whsec');
      expect(secrets.open(value, PLACE)).toBe(SECRET);
    }
  });

  test('does not open in another row, in another table, changed or cut', () => {
    const sealed = secrets.seal(SECRET, PLACE);
    const flipped = `${sealed.slice(0, -3)}${sealed.at(-3) === 'A' ? 'B' : 'A'}${sealed.slice(-2)}`;
    for (const [value, place] of [
      [sealed, { ...PLACE, id: '01961f3d-0a10-7c3e-9b1d-2f6a0c4e8d62' }],
      [sealed, { ...PLACE, table: 'video_profiles' }],
      [flipped, PLACE],
      [sealed.slice(0, -4), PLACE],
      [sealed.slice(0, SEALED_BY_CHARACTERS + 8), PLACE],
    ] as const)
      expect(() => secrets.open(value, place)).toThrow(SecretsKeyError);
  });

  test('opens while its key is among the keys, whichever seals', () => {
    const sealed = secrets.seal(SECRET, PLACE);
    const rotating = new Secrets([newKey, oldKey]);
    expect(rotating.open(sealed, PLACE)).toBe(SECRET);
    expect(rotating.canOpen(sealed.slice(0, SEALED_BY_CHARACTERS))).toBe(true);
    expect(rotating.seal(SECRET, PLACE).startsWith(new Secrets([newKey]).sealedBy ?? '?')).toBe(true);
    const rotated = new Secrets([newKey]);
    expect(rotated.canOpen(sealed.slice(0, SEALED_BY_CHARACTERS))).toBe(false);
    expect(() => rotated.open(sealed, PLACE)).toThrow(new RegExp(keyId(oldKey)));
  });
});

test('what was stored in clear stays readable, and without a key nothing is sealed', () => {
  expect(secrets.open(SECRET, PLACE)).toBe(SECRET);
  expect(NO_SECRETS.seal(SECRET, PLACE)).toBe(SECRET);
  expect(() => NO_SECRETS.open(secrets.seal(SECRET, PLACE), PLACE)).toThrow(SecretsKeyError);
});

test('a key of another length is refused', () => {
  expect(() => new Secrets([randomBytes(16)])).toThrow(SecretsKeyError);
});
