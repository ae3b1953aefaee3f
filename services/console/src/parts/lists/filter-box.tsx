import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { t } from '../../words/words.ts';
import { Icon } from '../icon.tsx';

/** Toolbar above a list. On low pages all but its first child is collapsed, so that rows stay visible. */
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
