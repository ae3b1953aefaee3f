import { createRequire } from 'node:module';
import type * as Core from '@zxcvbn-ts/core';
import type * as Common from '@zxcvbn-ts/language-common';
import { badField } from '../problem.ts';

/**
 * A password that is guessed within so many tries is refused: 10 a minute, as logins are limited, are as many in 70
 * days.
 */
const MIN_GUESSES = 1_000_000;
/** The rest of a longer one only makes it better, and each further character makes the check slower. */
const MAX_CHECKED_CHARACTERS = 24;

/** Loaded by the first password that is chosen: the list takes 10 MB and 150 ms. */
let estimator: Core.ZxcvbnFactory | null = null;

function loadEstimator(): Core.ZxcvbnFactory {
  // Not by `import()`: a password is checked while a change of accounts is put together, without a wait.
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
 * Why attackers would try this password among the first; null where they would not. Known are the 49,000 most used
 * passwords of breaches, also with letters replaced by signs, rows of keys, repetitions, sequences, dates, and what the
 * account is called.
 *
 * @param names the login and the name of the account
 */
export function weaknessOf(password: string, names: readonly string[]): string | null {
  estimator ??= loadEstimator();
  const words = names.flatMap((name) => [name, ...name.split(/[^\p{L}\p{N}]+/u)]).filter((word) => word.length > 2);
  const { guesses } = estimator.check(password.slice(0, MAX_CHECKED_CHARACTERS), words);
  return guesses < MIN_GUESSES
    ? 'It is among the passwords that attackers try first. Take a longer one, such as several words that do not belong together.'
    : null;
}

/** @throws {Problem} at the field `/password` when the password is easily guessed */
export function requireStrongPassword(password: string, names: readonly string[]): void {
  const weakness = weaknessOf(password, names);
  if (weakness !== null) throw badField('/password', weakness);
}
