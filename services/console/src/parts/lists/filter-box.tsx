import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { t } from '../../words/words.ts';
import { Icon } from '../icon.tsx';

/** What stands above a list. Where the page is low all but its first child folds away: the rows come first. */
export function FilterBox({ kind, children }: { kind: 'filters' | 'toolbar'; children: ComponentChildren }) {
  const isOpen = useSignal(false);
  return (
    <search class={`${kind} folds ${isOpen.value ? 'open' : ''}`}>
      {children}
      <button
        type="button"
        class="icon fold"
        aria-expanded={isOpen.value}
        aria-label={t().parts.filters}
        title={t().parts.filters}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <Icon name="settings" />
      </button>
    </search>
  );
}
