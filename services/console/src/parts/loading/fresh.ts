import { type Signal, signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';

/**
 * A signal that begins anew when an input changes. What it held is of something else: an effect that clears it would
 * come too late, as the page shows it once more before.
 */
export function useFresh<T>(initial: T, inputs: readonly unknown[]): Signal<T> {
  return useMemo(() => signal(initial), inputs);
}
