import { createRequire } from 'node:module';
import type * as Core from '@zxcvbn-ts/core';
import type * as Common from '@zxcvbn-ts/language-common';
import { badField } from '../problem.ts';

/**
 * Passwords that can be guessed in fewer tries are refused. At the login limit of 10 a minute, this many take 70 days.
 */
const MIN_GUESSES = 1_000_000;
/** Longer passwords are cut before the check: further characters only improve them, but slow down the check. */
const MAX_CHECKED_CHARACTERS = 24;

/** Loaded on first use: the list takes 10 MB and 150 ms. */
let estimator: Core.ZxcvbnFactory | null = null;

function loadEstimator(): Core.ZxcvbnFactory {
  // `import()` cannot be used: a password is checked synchronously within a change of accounts.
  const require = createRequire(import.meta.url);
  const { ZxcvbnFactory } = require('@zxcvbn-ts/core') as typeof Core;
  const { adjacencyGraphs, dictionary } = require('@zxcvbn-ts/language-common') as typeof Common;
  return new ZxcvbnFactory({
    dictionary: { passwords: dictionary['passwords-common'] },
    graphs: adjacencyGraphs,
    maxLength: MAX_CHECKED_CHARACTERS,
    l33tMaxSubstitutions: 8,
  });
}

/**
 * Why attackers would try this password among the first; null if they would not. Recognised are the 49,000 most used
 * passwords of breaches, also with letters replaced by signs, as well as keyboard rows, repetitions, sequences, dates,
 * and the names of the account.
 *
 * @param names the login and the name of the account
 */
export function weaknessOf(password: string, names: readonly string[]): string | null {
  estimator ??= loadEstimator();
  const words = names.flatMap((name) => [name, ...name.split(/[^\p{L}\p{N}]+/u)]).filter((word) => word.length > 2);
  const { guesses } = estimator.check(password.slice(0, MAX_CHECKED_CHARACTERS), words);
  return guesses < MIN_GUESSES
    ? 'It is among the passwords that attackers try first. Choose a longer one, such as several unrelated words.'
    : null;
}

/** @throws {Problem} at the field `/password` when the password is easily guessed */
export function requireStrongPassword(password: string, names: readonly string[]): void {
  const weakness = weaknessOf(password, names);
  if (weakness !== null) throw badField('/password', weakness);
}
