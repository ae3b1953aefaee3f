import type { User } from '@outrider/client';
import { signal } from '@preact/signals';
import { allPages } from '../../parts/lists/pages.ts';
import { api } from '../../session.ts';

/** All dealers, by name: operators say which of them keeps an account. */
export const dealers = signal<readonly User[]>([]);

export async function loadDealers(): Promise<void> {
  const query = { role: 'dealer', sort: 'name', limit: 1000 } as const;
  try {
    dealers.value = await allPages((cursor) => api.get('/api/v1/users', { query: { ...query, ...cursor } }));
  } catch {
    // The list of accounts says what is wrong.
  }
}
