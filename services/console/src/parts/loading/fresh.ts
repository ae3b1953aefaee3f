import { type Signal, signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';

/**
 * A signal that is reset when an input changes, because its value belonged to the old input. Clearing it in an effect
 * would be too late: the page would render the old value once more.
 */
export function useFresh<T>(initial: T, inputs: readonly unknown[]): Signal<T> {
  return useMemo(() => signal(initial), inputs);
}
