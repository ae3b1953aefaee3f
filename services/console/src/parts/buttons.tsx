import type { ComponentChildren } from 'preact';
import { t } from '../words/words.ts';
import { Icon, type IconName } from './icon.tsx';

interface IconButtonProps {
  icon: IconName;
  /** Text for screen readers. */
  label: string;
  title?: string;
  disabled?: boolean;
  onClick: () => void;
}

/** A button with an icon. */
export function IconButton({ icon, label, title, disabled, onClick }: IconButtonProps) {
  return (
    <button type="button" class="icon" aria-label={label} title={title} disabled={disabled} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

/** Submits the form that contains it. */
export function SubmitButton({ disabled, children }: { disabled?: boolean; children: ComponentChildren }) {
  return (
    <button type="submit" class="primary" disabled={disabled}>
      {children}
    </button>
  );
}

export function CancelButton({ onClick }: { onClick: () => void }) {
  return (
    <button type="button" onClick={onClick}>
      {t().cancel}
    </button>
  );
}
