import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { focusOn } from '../focus.ts';
import { t } from '../words/words.ts';
import { IconButton } from './buttons.tsx';
import { confirmed } from './dialog.tsx';

interface Props {
  /** Its classes. */
  kind: string;
  label: string;
  /** With an `h2`, which takes the focus. */
  head: ComponentChildren;
  /** What it shows: another one takes the focus again. */
  of?: string | null;
  onClose: () => void;
  /** Of what no `EditForm` in it knows. */
  isChanged?: boolean;
  /** Takes the Escape key before the panel does. */
  onEscape?: (() => boolean) | undefined;
  children: ComponentChildren;
}

type IsChanged = () => boolean;
const Forms = createContext<Set<IsChanged> | null>(null);

/** The open panels, the last one opened at the end: Escape is for that one. */
const open: ((event: KeyboardEvent) => void)[] = [];
const onKey = (event: KeyboardEvent) => {
  // What is open within or above the panel closes first, and a search field is emptied.
  if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return;
  if (document.querySelector(':popover-open, dialog[open]') !== null) return;
  const { target } = event;
  if (target instanceof HTMLInputElement && target.type === 'search' && target.value !== '') return;
  open.at(-1)?.(event);
};

/**
 * What is open beside a list or a map. It takes the focus from what opened it; its button and Escape close it, after a
 * question where a form in it has changes.
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
    // Who chooses on the map or plays a track goes on there, and an address that is opened begins at its top.
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

/** The panel that the form stands in asks before it closes while there are changes. */
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
