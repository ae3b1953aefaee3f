import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';

/** OWASP Password Storage Cheat Sheet, argon2id: 19 MiB, 2 passes, 1 lane. */
const MEMORY_KIB = 19_456;
const PASSES = 2;
const LANES = 1;
const TAG_BYTES = 32;
const NONCE_BYTES = 16;

/**
 * Each derivation occupies {@link MEMORY_KIB} and a thread of the pool that files and DNS share. Two at a time leave
 * two threads.
 */
const MAX_RUNNING = 2;
const MAX_WAITING = 128;

/** Too many passwords are being checked at once: the caller must retry later. */
export class PasswordsBusyError extends Error {
  override name = 'PasswordsBusyError';
}

let running = 0;
const waiting: (() => void)[] = [];

/** @throws {PasswordsBusyError} when the queue is full */
async function derive(password: string, nonce: Buffer, phc: Parameters): Promise<Buffer> {
  if (running >= MAX_RUNNING) {
    if (waiting.length >= MAX_WAITING) throw new PasswordsBusyError('too many passwords are being checked');
    // A finished check hands its slot over, so `running` stays unchanged.
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running += 1;
  try {
    return await new Promise((resolve, reject) => {
      argon2(
        'argon2id',
        {
          message: password.normalize('NFKC'),
          nonce,
          memory: phc.memoryKib,
          passes: phc.passes,
          parallelism: phc.lanes,
          tagLength: phc.tagBytes,
        },
        (error, tag) => (error ? reject(error) : resolve(tag)),
      );
    });
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

interface Parameters {
  memoryKib: number;
  passes: number;
  lanes: number;
  tagBytes: number;
}
const CURRENT: Parameters = { memoryKib: MEMORY_KIB, passes: PASSES, lanes: LANES, tagBytes: TAG_BYTES };

/**
 * The password as a PHC string (`$argon2id$v=19$m=…,t=…,p=…$salt$hash`): everything that is needed to check it later,
 * also after the parameters were raised.
 *
 * @throws {PasswordsBusyError} when too many are being worked on
 */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(NONCE_BYTES);
  const tag = await derive(password, nonce, CURRENT);
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${base64(nonce)}$${base64(tag)}`;
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/**
 * Whether the password matches the PHC string.
 *
 * @throws {Error} when the string is no PHC string of argon2id
 * @throws {PasswordsBusyError} when too many are being worked on
 */
export async function verifyPassword(password: string, phc: string): Promise<boolean> {
  const [, memory, passes, lanes, salt, hash] = PHC.exec(phc) ?? [];
  if (salt === undefined || hash === undefined) throw new Error('not a PHC string of argon2id');
  const expected = Buffer.from(hash, 'base64');
  const tag = await derive(password, Buffer.from(salt, 'base64'), {
    memoryKib: Number(memory),
    passes: Number(passes),
    lanes: Number(lanes),
    tagBytes: expected.length,
  });
  return timingSafeEqual(tag, expected);
}

/** Takes as long as checking a real password, and returns false. For logins that do not exist. */
export async function verifyNothing(password: string): Promise<false> {
  await derive(password, randomBytes(NONCE_BYTES), CURRENT);
  return false;
}

/** Whether the string was made with other parameters than the current ones. */
export function isOutdated(phc: string): boolean {
  return !phc.startsWith(`$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$`);
}

/** Base64 without padding, as PHC strings have it. */
function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
