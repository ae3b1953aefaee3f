import { expect } from 'vitest';

/** Lines of a log in JSON at level `error` and above. */
export function complaintsOf(logText: string): string[] {
  return logText.split('\n').filter((line) => /"level":[56]0/.test(line));
}

/** Fails with the lines themselves: a list that is compared shows how many they are, and no more. */
export function expectNone(complaints: readonly string[]): void {
  expect(complaints, complaints.join('\n')).toEqual([]);
}
