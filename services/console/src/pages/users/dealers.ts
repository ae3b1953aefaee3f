import type { User } from '@outrider/client';
import { signal } from '@preact/signals';
import { allPages } from '../../parts/lists/pages.ts';
import { api } from '../../session.ts';

/** All dealers, by name. Operators choose which of them an account belongs to. */
export const dealers = signal<readonly User[]>([]);

export async function loadDealers(): Promise<void> {
  const query = { role: 'dealer', sort: 'name', limit: 1000 } as const;
  try {
    dealers.value = await allPages((cursor) => api.get('/api/v1/users', { query: { ...query, ...cursor } }));
  } catch {
    // The list of accounts shows the error.
  }
}
