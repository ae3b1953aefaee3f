import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { t } from '../../words/words.ts';
import { Message } from '../message.tsx';
import { useFresh } from './fresh.ts';

/** Data that a component loads from the API. */
export interface Reading<T> {
  /** Null: not read yet. */
  value: Signal<T | null>;
  error: Signal<unknown>;
  /** Loads again. The previous data stays until then. */
  again: () => void;
}

/**
 * Loads data for a component, and again when its dependencies change. A response that arrives after that, or after the
 * component is gone, is ignored.
 *
 * @param everyMs interval at which to load again while the page is visible; null: never
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
  /** Formats the error. */
  describe?: (error: unknown) => string;
  children: (value: T) => ComponentChildren;
}

/** Renders loaded data, with replacements while it loads or after a failure. */
export function Loaded<T>({ of, describe = describeError, children }: Props<T>) {
  const { value, error, again } = of;
  if (error.value !== null)
    return <Message icon="warning" title={describe(error.value)} action={t().retry} onAction={again} />;
  return value.value === null ? <Message title={t().loading} /> : children(value.value);
}
