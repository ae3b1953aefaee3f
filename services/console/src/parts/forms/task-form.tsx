import { ApiError } from '@outrider/client';
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { describeError } from '../../errors.ts';
import { CancelButton, SubmitButton } from '../buttons.tsx';
import { Failure } from '../message.tsx';

interface Props {
  /** On the button. */
  action: string;
  /** Fields that show what the API found wrong with them: JSON pointers of the body. */
  pointers: readonly string[];
  run: (data: FormData) => Promise<void>;
  /** Says what went wrong. */
  describe?: (error: unknown) => string;
  /** Without it, there is no button to cancel. */
  onCancel?: () => void;
  children: (at: (pointer: string) => readonly string[]) => ComponentChildren;
}

/** Tries things one at a time, and keeps what went wrong: `at` gives the part of it that is about a field. */
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

/** Attempts at sending a form. */
export function useTask(run: (data: FormData) => Promise<void>) {
  const { attempt, ...attempts } = useAttempts();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    await attempt(() => run(new FormData(form)));
  };
  return { ...attempts, submit };
}

/** A few fields and a button that does something with them, and what went wrong with it. */
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
