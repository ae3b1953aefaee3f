import type { User } from '@outrider/client';
import { signal } from '@preact/signals';
import { allPages } from '../../parts/lists/pages.ts';
import { api, user } from '../../session.ts';

/** Accounts that vehicles and groups can belong to: known to operators alone. */
export const dealers = signal<readonly User[]>([]);

/** Reads the dealers, where the caller may say whose something is. */
export async function loadDealers(): Promise<void> {
  if (user.peek()?.role !== 'operator') return;
  const query = { role: 'dealer', sort: 'name', limit: 1000 } as const;
  dealers.value = await allPages((cursor) => api.get('/api/v1/users', { query: { ...query, ...cursor } }));
}
