import type { User } from '@outrider/client';
import { signal } from '@preact/signals';
import { api } from '../../session.ts';

/** All dealers, by name: operators say which of them keeps an account. */
export const dealers = signal<readonly User[]>([]);

export async function loadDealers(): Promise<void> {
  const all: User[] = [];
  const query = { role: 'dealer' as const, sort: 'name' as const, limit: 1000 };
  try {
    for await (const items of api.pages((cursor) =>
      api.get('/api/v1/users', { query: cursor === undefined ? query : { ...query, cursor } }),
    ))
      all.push(...items);
    dealers.value = all;
  } catch {
    // The list of accounts says what is wrong.
  }
}
