import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { focusOn } from '../focus.ts';
import { t } from '../words/words.ts';
import { IconButton } from './buttons.tsx';
import { confirmed } from './dialog.tsx';

interface Props {
  /** CSS classes. */
  kind: string;
  label: string;
  /** Header with an `h2`, which gets the focus. */
  head: ComponentChildren;
  /** Identifies the content: when it changes, the heading gets the focus again. */
  of?: string | null;
  onClose: () => void;
  /** Unsaved changes that are not those of an `EditForm` in the panel. */
  isChanged?: boolean;
  /** Handles the Escape key before the panel does; true if handled. */
  onEscape?: (() => boolean) | undefined;
  children: ComponentChildren;
}

type IsChanged = () => boolean;
const Forms = createContext<Set<IsChanged> | null>(null);

/** Handlers of the open panels, the last opened one at the end. That one handles Escape. */
const open: ((event: KeyboardEvent) => void)[] = [];
const onKey = (event: KeyboardEvent) => {
  // Popovers and dialogs close first, and Escape clears a search field.
  if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return;
  if (document.querySelector(':popover-open, dialog[open]') !== null) return;
  const { target } = event;
  if (target instanceof HTMLInputElement && target.type === 'search' && target.value !== '') return;
  open.at(-1)?.(event);
};

/**
 * A panel beside a list or a map. It takes the focus from the control that opened it. Its button and Escape close it,
 * after a confirmation if a form in it has changes.
 */
export function Panel({ kind, label, head, of = null, onClose, isChanged = false, onEscape, children }: Props) {
  const element = useRef<HTMLElement>(null);
  const forms = useRef(new Set<IsChanged>());
  const close = async () => {
    const { unsaved, leaveUnsaved, leave } = t().parts;
    const isUnsaved = isChanged || [...forms.current].some((ask) => ask());
    if (!isUnsaved || (await confirmed(unsaved, leaveUnsaved, leave))) onClose();
  };
  const byKey = useRef(() => {});
  byKey.current = () => {
    if (!onEscape?.()) void close();
  };
  useEffect(() => {
    const handle = (event: KeyboardEvent) => {
      event.preventDefault();
      byKey.current();
    };
    if (open.length === 0) document.addEventListener('keydown', onKey);
    open.push(handle);
    return () => {
      open.splice(open.indexOf(handle), 1);
      if (open.length === 0) document.removeEventListener('keydown', onKey);
    };
  }, []);
  useLayoutEffect(() => {
    const heading = element.current?.querySelector<HTMLElement>('h2');
    // A user who works on the map or plays a track keeps the focus there, and a newly opened page starts at its top.
    const { activeElement } = document;
    if (heading && activeElement !== null && !activeElement.matches('body, canvas, .player *')) focusOn(heading);
  }, [of]);
  return (
    <aside class={kind} aria-label={label} ref={element}>
      <header>
        {head}
        <IconButton icon="close" label={t().close} onClick={() => void close()} />
      </header>
      <Forms.Provider value={forms.current}>{children}</Forms.Provider>
    </aside>
  );
}

/** Makes the enclosing panel ask before it closes while the form has changes. */
export function useUnsaved(isChanged: IsChanged): void {
  const forms = useContext(Forms);
  const ask = useRef(isChanged);
  ask.current = isChanged;
  useEffect(() => {
    const present = () => ask.current();
    forms?.add(present);
    return () => void forms?.delete(present);
  }, [forms]);
}
