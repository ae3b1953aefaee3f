import type { User } from '@outrider/client';
import { signal } from '@preact/signals';
import { api, user } from '../../session.ts';

/** Accounts that vehicles and groups can belong to: known to operators alone. */
export const dealers = signal<readonly User[]>([]);

/** Reads the dealers, where the caller may say whose something is. */
export async function loadDealers(): Promise<void> {
  if (user.peek()?.role !== 'operator') return;
  const all: User[] = [];
  const query = { limit: 1000, sort: 'name' } as const;
  for await (const items of api.pages((cursor) =>
    api.get('/api/v1/users', { query: cursor === undefined ? query : { ...query, cursor } }),
  ))
    all.push(...items.filter(({ role }) => role === 'dealer'));
  dealers.value = all;
}
