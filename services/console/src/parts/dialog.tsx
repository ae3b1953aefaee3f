import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../words/words.ts';
import { CancelButton, IconButton } from './buttons.tsx';

interface Props {
  title: string;
  /** Called when the dialog is closed by its button, Escape or a click outside. */
  onClose: () => void;
  isWide?: boolean;
  children: ComponentChildren;
}

/** A modal dialog, open as long as it is rendered. */
export function Dialog({ title, onClose, isWide = false, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => element.current?.showModal(), []);
  return (
    <dialog ref={element} class={isWide ? 'wide' : undefined} aria-labelledby={id} closedby="any" onClose={onClose}>
      <header>
        <h2 id={id}>
          <bdi>{title}</bdi>
        </h2>
        <IconButton icon="close" label={t().close} onClick={() => element.current?.close()} />
      </header>
      {children}
    </dialog>
  );
}

interface Question {
  title: string;
  text: string;
  /** Text of the confirming button, such as "Delete". */
  action: string;
  answer: (isConfirmed: boolean) => void;
}

const question = signal<Question | null>(null);

/** Asks for confirmation before something that can't be undone. */
export function confirmed(title: string, text: string, action: string): Promise<boolean> {
  question.peek()?.answer(false);
  return new Promise((resolve) => {
    question.value = {
      title,
      text,
      action,
      answer: (isConfirmed) => {
        question.value = null;
        resolve(isConfirmed);
      },
    };
  });
}

/** Dialog for the questions of `confirmed`, rendered once per page. */
export function Questions() {
  const asked = question.value;
  if (asked === null) return null;
  return (
    <Dialog key={asked.text} title={asked.title} onClose={() => asked.answer(false)}>
      <p>{asked.text}</p>
      <div class="actions">
        <button type="button" class="danger" onClick={() => asked.answer(true)}>
          {asked.action}
        </button>
        <CancelButton onClick={() => asked.answer(false)} />
      </div>
    </Dialog>
  );
}
