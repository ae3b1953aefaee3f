import { hash } from 'node:crypto';
import type { Hub } from '@outrider/hub';
import { Problem } from '../problem.ts';

/** Counters are kept in the hub, so that all instances share them. */
type Counters = Pick<Hub, 'hit' | 'unhit' | 'resetCount'>;

export interface LoginBrakeParts {
  hub: Counters;
  /** Unix milliseconds. */
  now(): number;
  /** Resolves after the given number of milliseconds. */
  wait(ms: number): Promise<void>;
}

const WINDOW_MS = 15 * 60_000;
/** Failures without delay: mistakes of the rightful owner. */
const FREE_FAILURES = 5;
const FIRST_DELAY_MS = 1000;
/**
 * Bounded, because a client waits for it. So does the rightful owner who logs in from a new address during an attack.
 */
const MAX_DELAY_MS = 10_000;
/** Most waiting attempts in this process, for all accounts. */
const MAX_WAITING = 500;
/**
 * Time allowed for checking a password. If a process crashes during the check, other attempts are refused for no longer
 * than this.
 */
const CHECKED_WITHIN_MS = 5000;

/** Target and source of an attempt to log in. */
export interface Attempt {
  /** The account as named in the attempt: whether it exists must make no difference. */
  account: string;
  /** Key by which the address is counted. */
  source: string;
  /** Whether the account was used from this address before. If so, failures from elsewhere do not slow it down. */
  isKnownSource: boolean;
  /** Number of failures from which attempts are refused until they expire. Default: attempts are only delayed. */
  maxFailures?: number;
}

/**
 * Slows down password guessing at one account, from any number of addresses. After a few failures, each further attempt
 * waits before its password is checked, longer with each failure, up to 10 s. Only one attempt waits at a time; others
 * are refused meanwhile. So after ten failures, an account gets at most one guess every 10 s. Failures of others do not
 * delay attempts from addresses where the account was used before.
 */
export class LoginBrake {
  readonly #parts: LoginBrakeParts;
  /** Attempts waiting in this process. */
  #waiting = 0;

  constructor(parts: LoginBrakeParts) {
    this.#parts = parts;
  }

  /**
   * Checks a password, after the wait that earlier failures demand.
   *
   * @param check resolves with null where the password is wrong
   * @throws {Problem} `too-many-requests` while another attempt at the account waits, or after `maxFailures`
   */
  async pass<T>(attempt: Attempt, check: () => Promise<T | null>): Promise<T | null> {
    const { hub, now } = this.#parts;
    const key = keyOf(attempt);
    // Counted as a failure until it succeeds, so that concurrent attempts are slowed down as well.
    const { hits } = await hub.hit(key, WINDOW_MS, now());
    let isGood = false;
    try {
      if (hits > (attempt.maxFailures ?? Number.POSITIVE_INFINITY)) throw tooManyFailures();
      await this.#wait(delayOf(hits - 1), `${key} waits`);
      const found = await check();
      isGood = found !== null;
      return found;
    } catch (error) {
      await hub.unhit(key);
      throw error;
    } finally {
      if (isGood) await (attempt.isKnownSource ? hub.resetCount(key) : hub.unhit(key));
    }
  }

  async #wait(delayMs: number, place: string): Promise<void> {
    if (delayMs === 0) return;
    const { hub, now, wait } = this.#parts;
    // Prevents an attacker from running many guesses in parallel.
    const isFull = this.#waiting >= MAX_WAITING;
    if (isFull || (await hub.hit(place, delayMs + CHECKED_WITHIN_MS, now())).hits > 1)
      throw new Problem('too-many-requests', 'Another attempt is waiting to be checked. Try again later.', {
        headers: { 'retry-after': String(MAX_DELAY_MS / 1000) },
      });
    this.#waiting++;
    try {
      await wait(delayMs);
    } finally {
      this.#waiting--;
      await hub.resetCount(place);
    }
  }
}

function tooManyFailures(): Problem {
  return new Problem('too-many-requests', 'Too many wrong codes were tried. Wait before you try again.', {
    headers: { 'retry-after': String(WINDOW_MS / 1000) },
  });
}

/** Delay of an attempt after the given number of failures. */
export function delayOf(failures: number): number {
  if (failures < FREE_FAILURES) return 0;
  return Math.min(FIRST_DELAY_MS * 2 ** (failures - FREE_FAILURES), MAX_DELAY_MS);
}

/** Uses a hash, because a login may be long and contain any characters. */
function keyOf({ account, source, isKnownSource }: Attempt): string {
  const name = hash('sha256', account.normalize('NFKC').toLowerCase(), 'base64url');
  return isKnownSource ? `login:${name}:${source}` : `login:${name}`;
}
