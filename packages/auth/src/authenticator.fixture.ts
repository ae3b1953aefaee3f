import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { PasskeyAnswer, PasskeyRegistration } from './passkeys.ts';

/** What a device says, where a test wants it to be wrong. */
export interface Said {
  origin?: string;
  rpId?: string;
  /** Whether the device verified its user. */
  verified?: boolean;
  challenge?: string;
  /** Of the signatures; default: one more each time. */
  counter?: number;
  attestation?: { format: string; statement: Value };
}

type Value = number | string | Uint8Array | readonly Value[] | ReadonlyMap<number | string, Value>;

const UP = 1;
const UV = 4;
const WITH_KEY = 64;

/** A device in software that makes one passkey (ES256) and signs with it, as WebAuthn level 3 has it. */
export class Authenticator {
  readonly #keys: { publicKey: KeyObject; privateKey: KeyObject };
  readonly #id = randomBytes(16);
  #userHandle = 'AA';
  counter = 0;

  constructor() {
    this.#keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  }

  /** Answers the options of a registration. */
  register(
    { challenge, rp, user }: { challenge: string; rp: { id: string }; user: { id: string } },
    origin: string,
    said: Said = {},
  ): PasskeyRegistration {
    this.#userHandle = user.id;
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    const key = cbor(
      new Map<number, Value>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]),
    );
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.#id.length);
    const data = Buffer.concat([
      this.#data(said.rpId ?? rp.id, flags(said) | WITH_KEY, this.counter),
      Buffer.alloc(16),
      ...[length, this.#id, key],
    ]);
    const { format, statement } = said.attestation ?? { format: 'none', statement: new Map() };
    const object = new Map<string, Value>([
      ['fmt', format],
      ['attStmt', statement],
      ['authData', data],
    ]);
    return this.#credential({
      clientDataJSON: clientData('webauthn.create', said.challenge ?? challenge, said.origin ?? origin),
      attestationObject: cbor(object).toString('base64url'),
    });
  }

  /** Answers the options of a sign-in. */
  answer(
    { challenge, rpId }: { challenge: string; rpId: string },
    origin: string,
    said: Said = {},
  ): PasskeyAnswer & { response: { userHandle: string } } {
    this.counter = said.counter ?? this.counter + 1;
    const data = this.#data(said.rpId ?? rpId, flags(said), this.counter);
    const clientDataJSON = clientData('webauthn.get', said.challenge ?? challenge, said.origin ?? origin);
    const signed = Buffer.concat([data, createHash('sha256').update(clientDataJSON, 'base64url').digest()]);
    return this.#credential({
      clientDataJSON,
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', signed, this.#keys.privateKey).toString('base64url'),
      userHandle: this.#userHandle,
    });
  }

  #credential<T>(response: T) {
    const id = this.#id.toString('base64url');
    return { id, rawId: id, type: 'public-key' as const, response };
  }

  /** Authenticator data: hash of the site, flags, counter. */
  #data(rpId: string, flagBits: number, counter: number): Buffer {
    const head = Buffer.alloc(5);
    head[0] = flagBits;
    head.writeUInt32BE(counter, 1);
    return Buffer.concat([createHash('sha256').update(rpId).digest(), head]);
  }
}

function flags({ verified = true }: Said): number {
  return UP | (verified ? UV : 0);
}

function clientData(type: string, challenge: string, origin: string): string {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false })).toString('base64url');
}

/** CBOR (RFC 8949) of what a device writes. */
function cbor(value: Value): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  if (value instanceof Map)
    return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, of]) => [cbor(key), cbor(of)])]);
  const items = value as readonly Value[];
  return Buffer.concat([head(4, items.length), ...items.map(cbor)]);
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.of((major << 5) | length);
  if (length < 256) return Buffer.of((major << 5) | 24, length);
  return Buffer.of((major << 5) | 25, length >> 8, length & 255);
}
