import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { fleet } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { api, user } from '../../session.ts';
import { vehicleWords } from './words.ts';

/** Number of a dealer's vehicles, and the limit. Operators have no limit. */
export function QuotaLine() {
  const limit = useSignal<number | null>(null);
  const isDealer = user.value?.role === 'dealer';
  useEffect(() => {
    if (!isDealer) return;
    const ending = new AbortController();
    api.get('/api/v1/me/quotas', { signal: ending.signal }).then(
      ({ dealer }) => {
        limit.value = dealer?.vehicles.limit ?? null;
      },
      // If it fails, only this line is missing.
      () => {},
    );
    return () => ending.abort();
  }, [isDealer, limit]);
  void fleet.version.value;
  if (limit.value === null) return null;
  const isFull = fleet.count >= limit.value;
  return (
    <span class={isFull ? 'error' : undefined}>
      {vehicleWords().quota(formats().number(fleet.count), formats().number(limit.value))}
    </span>
  );
}
