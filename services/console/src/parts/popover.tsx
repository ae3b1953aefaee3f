import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';

interface Props {
  /** Id for the `popovertarget` of buttons that open the menu. */
  id: string;
  kind?: string;
  content: ComponentType;
}

/** A menu whose content exists only while it is open. Lazy content is loaded when it is first opened. */
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
