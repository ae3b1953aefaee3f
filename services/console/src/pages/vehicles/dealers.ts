import type { User } from '@outrider/client';
import { signal } from '@preact/signals';
import { allPages } from '../../parts/lists/pages.ts';
import { api, user } from '../../session.ts';

/** Accounts that vehicles and groups can belong to. Only operators can see them. */
export const dealers = signal<readonly User[]>([]);

/** Loads the dealers, if the user may choose the owner of vehicles and groups. */
export async function loadDealers(): Promise<void> {
  if (user.peek()?.role !== 'operator') return;
  const query = { role: 'dealer', sort: 'name', limit: 1000 } as const;
  dealers.value = await allPages((cursor) => api.get('/api/v1/users', { query: { ...query, ...cursor } }));
}
