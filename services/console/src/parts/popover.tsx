import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';

interface Props {
  /** That buttons open it by: `popovertarget`. */
  id: string;
  kind?: string;
  content: ComponentType;
}

/** A menu whose content is there while it is open, and loaded with its first time where it is lazy. */
export function Popover({ id, kind = '', content: Content }: Props) {
  const isOpen = useSignal(false);
  return (
    <div
      id={id}
      class={`menu ${kind}`}
      popover="auto"
      onToggle={({ newState }) => {
        isOpen.value = newState === 'open';
      }}
    >
      {isOpen.value && <Content />}
    </div>
  );
}
