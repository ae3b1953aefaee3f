import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { t } from '../../words/words.ts';
import { Message } from '../message.tsx';
import { useFresh } from './fresh.ts';

/** What a component reads from the API. */
export interface Reading<T> {
  /** Null: not read yet. */
  value: Signal<T | null>;
  error: Signal<unknown>;
  /** Reads again. What was read stays until then. */
  again: () => void;
}

/**
 * Reads for a component, anew when what it depends on changes. What comes after that, or after the component is gone,
 * is left out.
 *
 * @param everyMs reads again so often while the page is seen; null: never
 */
export function useReading<T>(
  read: (ending: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  everyMs: number | null = null,
): Reading<T> {
  const value = useFresh<T | null>(null, inputs);
  const error = useFresh<unknown>(null, inputs);
  const reads = useSignal(0);
  useEffect(() => {
    const ending = new AbortController();
    const start = () =>
      read(ending.signal).then(
        (found) => {
          if (ending.signal.aborted) return;
          value.value = found;
          error.value = null;
        },
        (reason: unknown) => {
          if (!ending.signal.aborted) error.value = reason;
        },
      );
    void start();
    const timer = everyMs === null ? undefined : setInterval(() => !document.hidden && void start(), everyMs);
    return () => {
      ending.abort();
      clearInterval(timer);
    };
  }, [...inputs, everyMs, reads.value]);
  return { value, error, again: () => (reads.value += 1) };
}

interface Props<T> {
  of: Reading<T>;
  /** Words for why it failed. */
  describe?: (error: unknown) => string;
  children: (value: T) => ComponentChildren;
}

/** What was read, with what stands in its place while it loads or has failed. */
export function Loaded<T>({ of, describe = describeError, children }: Props<T>) {
  const { value, error, again } = of;
  if (error.value !== null)
    return <Message icon="warning" title={describe(error.value)} action={t().retry} onAction={again} />;
  return value.value === null ? <Message title={t().loading} /> : children(value.value);
}
