import { ApiError } from '@outrider/client';
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { describeError } from '../../errors.ts';
import { CancelButton, SubmitButton } from '../buttons.tsx';
import { Failure } from '../message.tsx';

interface Props {
  /** Text of the button. */
  action: string;
  /** JSON pointers of the body for fields that show their own errors. */
  pointers: readonly string[];
  run: (data: FormData) => Promise<void>;
  /** Formats an error. */
  describe?: (error: unknown) => string;
  /** If left out, there is no cancel button. */
  onCancel?: () => void;
  children: (at: (pointer: string) => readonly string[]) => ComponentChildren;
}

/** Runs attempts one at a time, and keeps the error. `at` returns the messages for one field. */
export function useAttempts() {
  const error = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const at = (pointer: string) => (error.value instanceof ApiError ? error.value.at(pointer) : []);
  const attempt = async (work: () => Promise<void>) => {
    isBusy.value = true;
    error.value = null;
    try {
      await work();
    } catch (reason) {
      error.value = reason;
    }
    isBusy.value = false;
  };
  return { error, isBusy, at, attempt };
}

/** Attempts to submit a form. */
export function useTask(run: (data: FormData) => Promise<void>) {
  const { attempt, ...attempts } = useAttempts();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    await attempt(() => run(new FormData(form)));
  };
  return { ...attempts, submit };
}

/** A form with a few fields, a button that runs a task with them, and the error. */
export function TaskForm({ action, pointers, run, describe = describeError, onCancel, children }: Props) {
  const { error, isBusy, at, submit } = useTask(run);
  const isOfField = pointers.some((pointer) => at(pointer).length > 0);
  return (
    <form class="form" onSubmit={submit}>
      {children(at)}
      {error.value !== null && !isOfField && <Failure>{describe(error.value)}</Failure>}
      <div class="actions">
        <SubmitButton disabled={isBusy.value}>{action}</SubmitButton>
        {onCancel && <CancelButton onClick={onCancel} />}
      </div>
    </form>
  );
}
