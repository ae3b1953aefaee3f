import type { ComponentChildren } from 'preact';
import { setQuery } from '../router.ts';
import { t } from '../words/words.ts';
import { Icon, type IconName } from './icon.tsx';

interface Props {
  icon?: IconName;
  title: string;
  hint?: string;
  action?: string;
  onAction?: () => void;
  children?: ComponentChildren;
}

/** Message in place of missing content: why it is missing, and what to do next. */
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

/** Message if a search finds nothing, with a button that clears the filter. */
export function NoneFound({ showAll, asked }: { showAll: string; asked: readonly string[] }) {
  const clear = () => setQuery(Object.fromEntries(asked.map((name) => [name, null])));
  return <Message icon="search" title={t().parts.noneFound} action={showAll} onAction={clear} />;
}

/** An error message, announced by screen readers when it appears. */
export function Failure({ children }: { children: ComponentChildren }) {
  return (
    <p class="error" role="alert">
      {children}
    </p>
  );
}
