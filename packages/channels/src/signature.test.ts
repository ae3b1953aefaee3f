import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkWebhookSecret, createWebhookSecret, signWebhook, verifyWebhook } from './signature.ts';

const secret = 'whsec_b3V0cmlkZXIta25vd24tYW5zd2VyLWtleS0wMDAwMDE=';
const id = '018f2f6e-7c1a-7000-8000-00000000a001';
const timestampS = 1_767_225_600;
const body = '{"type":"geofence-visit.begin","data":{"vehicle":"Łódź 7"}}';
/** The known answer: made with `openssl dgst -sha256 -mac HMAC`, away from this code. */
const signature = 'v1,kh1TADCOW5j0iJoc1uvj4I+9/G/JirpSI5SJBN8FyZ8=';

function request(changes: Record<string, string | string[] | undefined> = {}, content: string | Uint8Array = body) {
  return {
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(timestampS),
      'webhook-signature': signature,
      ...changes,
    },
    body: content,
  };
}

describe('signing', () => {
  test('gives the known answer, for text and for bytes', () => {
    expect(signWebhook(secret, id, timestampS, body)).toBe(signature);
    expect(signWebhook(secret, id, timestampS, Buffer.from(body))).toBe(signature);
  });

  test('agrees with HMAC as it is defined (RFC 2104)', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 24, maxLength: 64 }), fc.string({ unit: 'binary' }), (key, content) => {
        const padded = Buffer.alloc(64);
        padded.set(key);
        const pad = (value: number) => padded.map((byte) => byte ^ value);
        const inner = createHash('sha256').update(pad(0x36)).update(`${id}.${timestampS}.${content}`).digest();
        const mac = createHash('sha256').update(pad(0x5c)).update(inner).digest('base64');
        expect(signWebhook(createSecretOf(key), id, timestampS, content)).toBe(`v1,${mac}`);
      }),
    );
  });

  test('refuses an id that could move text between the signed parts', () => {
    expect(() => signWebhook(secret, 'a.1', timestampS, body)).toThrow(TypeError);
    expect(() => signWebhook(secret, 'a\r\nx', timestampS, body)).toThrow(TypeError);
    expect(() => signWebhook(secret, '', timestampS, body)).toThrow(TypeError);
  });
});

describe('verifying', () => {
  test('believes what is signed and fresh', () => {
    expect(verifyWebhook(request(), secret, timestampS * 1000)).toBeNull();
    expect(verifyWebhook(request(), secret, (timestampS + 300) * 1000)).toBeNull();
    expect(verifyWebhook(request(), secret, (timestampS - 300) * 1000)).toBeNull();
  });

  test('refuses what is too old or from the future', () => {
    expect(verifyWebhook(request(), secret, (timestampS + 301) * 1000)).toMatch(/300 seconds/);
    expect(verifyWebhook(request(), secret, (timestampS - 301) * 1000)).toMatch(/300 seconds/);
    expect(verifyWebhook(request({ 'webhook-timestamp': '-1e9' }), secret, 0)).toMatch(/Unix seconds/);
  });

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
    'refuses a request without %s, or with two',
    (name) => {
      expect(verifyWebhook(request({ [name]: undefined }), secret, timestampS * 1000)).toMatch(/must each occur/);
      expect(verifyWebhook(request({ [name]: ['a', 'b'] }), secret, timestampS * 1000)).toMatch(/must each occur/);
    },
  );

  test('takes any of several signatures and secrets', () => {
    const other = createWebhookSecret(randomBytes);
    const both = `${signWebhook(other, id, timestampS, body)} v1a,AAAA ${signature}`;
    expect(verifyWebhook(request({ 'webhook-signature': both }), secret, timestampS * 1000)).toBeNull();
    expect(verifyWebhook(request(), [other, secret], timestampS * 1000)).toBeNull();
    expect(verifyWebhook(request(), other, timestampS * 1000)).toBe('No signature fits.');
  });

  test('a change of any byte of the body, the id, the time or the signature is noticed', () => {
    const bytes = Buffer.from(body);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const forged = Buffer.from(bytes);
        forged[at] = (forged[at] ?? 0) ^ change;
        expect(verifyWebhook(request({}, forged), secret, timestampS * 1000)).toBe('No signature fits.');
      }),
    );
    for (const changes of [
      { 'webhook-id': `${id}0` },
      { 'webhook-timestamp': String(timestampS + 1) },
      { 'webhook-signature': signature.replace('kh1', 'kh2') },
      { 'webhook-signature': signature.slice(0, 20) },
      { 'webhook-signature': signature.replace('v1,', 'v2,') },
      { 'webhook-signature': '' },
    ])
      expect(verifyWebhook(request(changes), secret, timestampS * 1000)).toBe('No signature fits.');
  });
});

describe('secrets', () => {
  test('a new one is made of 32 bytes and is valid', () => {
    expect(createWebhookSecret((bytes) => new Uint8Array(bytes).fill(255))).toBe(`whsec_${'/'.repeat(42)}8=`);
    expect(checkWebhookSecret(createWebhookSecret(randomBytes))).toBeNull();
  });

  test('of 24 to 64 bytes are taken, others are not', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (key) => {
        expect(checkWebhookSecret(createSecretOf(key)) === null).toBe(key.length >= 24 && key.length <= 64);
      }),
    );
  });

  test.each(['', 'whsec_', secret.slice(6), `${secret} `, secret.replace('=', ''), secret.replace('b3', 'b*')])(
    'refuses %j',
    (text) => {
      expect(checkWebhookSecret(text)).not.toBeNull();
      expect(() => signWebhook(text, id, timestampS, body)).toThrow(TypeError);
    },
  );
});

function createSecretOf(key: Uint8Array): string {
  return `whsec_${Buffer.from(key).toString('base64')}`;
}
