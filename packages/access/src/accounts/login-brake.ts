import { hash } from 'node:crypto';
import type { Hub } from '@outrider/hub';
import { Problem } from '../problem.ts';

/** Counted in the hub, so that all instances count as one. */
type Counters = Pick<Hub, 'hit' | 'unhit' | 'resetCount'>;

export interface LoginBrakeParts {
  hub: Counters;
  /** Unix milliseconds. */
  now(): number;
  /** Resolves after so many milliseconds. */
  wait(ms: number): Promise<void>;
}

const WINDOW_MS = 15 * 60_000;
/** Slips of the rightful owner. */
const FREE_FAILURES = 5;
const FIRST_DELAY_MS = 1000;
/** A client waits for it, and so does the rightful owner who logs in from a new place while somebody guesses. */
const MAX_DELAY_MS = 10_000;
/** Of all accounts in this process. */
const MAX_WAITING = 500;
/** A password is checked within this time; a process that died over it holds up the others for no longer. */
const CHECKED_WITHIN_MS = 5000;

/** What is guessed at, and from where. */
export interface Attempt {
  /** The account, by what the guesser named: whether it exists must make no difference. */
  account: string;
  /** What the address is counted by. */
  source: string;
  /** Was the account used from there before? Then failures from elsewhere do not slow it down. */
  isKnownSource: boolean;
  /** From so many failures on nothing is checked until they are old. Default: it is checked after a wait. */
  maxFailures?: number;
}

/**
 * Slows down guesses at one account, from however many addresses: after a few failures each further attempt waits
 * before its password is checked, longer with each failure, up to 10 s. One attempt waits at a time, others are refused
 * meanwhile: after ten failures an account is guessed at no more often than every 10 s. From where the account was used
 * before, the failures of others hold up nobody.
 */
export class LoginBrake {
  readonly #parts: LoginBrakeParts;
  /** Attempts that wait here. */
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
    // Counted as a failure until it turns out to be none, so that many at once are slowed down as well.
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
    // Guessers can not have many guesses wait side by side.
    const isFull = this.#waiting >= MAX_WAITING;
    if (isFull || (await hub.hit(place, delayMs + CHECKED_WITHIN_MS, now())).hits > 1)
      throw new Problem('too-many-requests', 'Another login waits to be checked; try again.', {
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
  return new Problem('too-many-requests', 'Too many wrong codes were tried: wait until they are old.', {
    headers: { 'retry-after': String(WINDOW_MS / 1000) },
  });
}

/** How long an attempt waits after so many failures. */
export function delayOf(failures: number): number {
  if (failures < FREE_FAILURES) return 0;
  return Math.min(FIRST_DELAY_MS * 2 ** (failures - FREE_FAILURES), MAX_DELAY_MS);
}

/** A login may be long, and anything: its hash is neither. */
function keyOf({ account, source, isKnownSource }: Attempt): string {
  const name = hash('sha256', account.normalize('NFKC').toLowerCase(), 'base64url');
  return isKnownSource ? `login:${name}:${source}` : `login:${name}`;
}
