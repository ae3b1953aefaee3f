import { signal } from '@preact/signals';
import { t } from '../words/words.ts';
import { IconButton } from './buttons.tsx';

type Kind = 'info' | 'error';
interface Toast {
  id: number;
  kind: Kind;
  text: string;
  href: string | undefined;
}

const LIFE_MS = 7000;
const MOST = 4;
const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Shows a message for a few seconds; an error stays until it is closed. */
export function toast(text: string, kind: Kind = 'info', href?: string): void {
  const id = ++lastId;
  toasts.value = [...toasts.peek(), { id, kind, text, href }].slice(-MOST);
  if (kind === 'info') setTimeout(() => remove(id), LIFE_MS);
}

function remove(id: number): void {
  toasts.value = toasts.peek().filter((one) => one.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="log" aria-live="polite">
      {toasts.value.map(({ id, kind, text, href }) => (
        <div key={id} class={`toast ${kind}`}>
          {href === undefined ? (
            <bdi>{text}</bdi>
          ) : (
            <a href={href}>
              <bdi>{text}</bdi>
            </a>
          )}
          <IconButton icon="close" label={t().close} onClick={() => remove(id)} />
        </div>
      ))}
    </div>
  );
}
