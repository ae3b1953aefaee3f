import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

interface Props {
  icon?: IconName;
  title: string;
  hint?: string;
  action?: string;
  onAction?: () => void;
  children?: ComponentChildren;
}

/** What stands where there is nothing to show: why, and what to do next. */
export function Message({ icon, title, hint, action, onAction, children }: Props) {
  return (
    <div class="message" role="status">
      {icon && <Icon name={icon} />}
      <p>{title}</p>
      {hint && <small>{hint}</small>}
      {action && (
        <button type="button" onClick={onAction}>
          {action}
        </button>
      )}
      {children}
    </div>
  );
}
