import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const STEP_MS = 30_000;
const DIGITS = 6;
/**
 * Time steps before and after the current one that are also accepted: phone clocks are inaccurate, and people type
 * slowly.
 */
const TOLERATED_STEPS = 1;
/** As recommended by RFC 4226, section 4: the output size of SHA-1. */
const SECRET_BYTES = 20;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const RECOVERY_CODE_BYTES = 10;

/** A new secret for an authenticator app, in base32 (RFC 4648, section 6), as these apps expect. */
export function newTotpSecret(): string {
  return base32(randomBytes(SECRET_BYTES));
}

/**
 * The code of a secret at a time (RFC 6238 with SHA-1, 30 s and 6 digits, which every app supports).
 *
 * @param secret base32
 * @throws {Error} when the secret is not base32
 */
export function totpCode(secret: string, atMs: number): string {
  return codeOf(bytesOf(secret), Math.floor(atMs / STEP_MS));
}

/**
 * The time step to which a code belongs; null if it matches none of the accepted ones. Steps grow, so a caller that
 * stores the last used one can refuse replayed codes.
 *
 * @throws {Error} when the secret is not base32
 */
export function totpStep(secret: string, code: string, nowMs: number): number | null {
  if (!isTotpCode(code)) return null;
  const key = bytesOf(secret);
  const present = Math.floor(nowMs / STEP_MS);
  let found: number | null = null;
  for (let step = present - TOLERATED_STEPS; step <= present + TOLERATED_STEPS; step++)
    if (timingSafeEqual(Buffer.from(codeOf(key, step)), Buffer.from(code))) found = step;
  return found;
}

/** Whether it looks like a code of an app. Anything else may be a recovery code. */
export function isTotpCode(code: string): boolean {
  return /^\d{6}$/.test(code);
}

/**
 * URI for a QR code (the key URI format that all apps accept).
 *
 * @param account name shown by the app, beside the name of this service
 */
export function totpUri(secret: string, account: string): string {
  const query = `secret=${secret}&issuer=Outrider&algorithm=SHA1&digits=${DIGITS}&period=${STEP_MS / 1000}`;
  return `otpauth://totp/Outrider:${encodeURIComponent(account)}?${query}`;
}

/** Recovery codes for a lost phone: 80 random bits each, in groups of four letters and digits. */
export function newRecoveryCodes(count: number): string[] {
  return Array.from({ length: count }, () => {
    const code = base32(randomBytes(RECOVERY_CODE_BYTES)).toLowerCase();
    return (code.match(/.{4}/g) ?? []).join('-');
  });
}

function codeOf(key: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', key).update(counter).digest();
  // RFC 4226, section 5.3: four bytes at the offset given by the last half byte.
  const truncated = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fff_ffff;
  return String(truncated % 10 ** DIGITS).padStart(DIGITS, '0');
}

function base32(bytes: Uint8Array): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join('');
}

function bytesOf(secret: string): Buffer {
  let bits = '';
  for (const letter of secret) {
    const value = BASE32.indexOf(letter);
    if (value < 0) throw new Error('a secret of codes is not base32');
    bits += value.toString(2).padStart(5, '0');
  }
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
