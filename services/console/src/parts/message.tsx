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

/** What stands where nothing is found, with a button that takes away what was asked for. */
export function NoneFound({ showAll, asked }: { showAll: string; asked: readonly string[] }) {
  const clear = () => setQuery(Object.fromEntries(asked.map((name) => [name, null])));
  return <Message icon="search" title={t().parts.noneFound} action={showAll} onAction={clear} />;
}

/** What went wrong; read out as soon as it is there. */
export function Failure({ children }: { children: ComponentChildren }) {
  return (
    <p class="error" role="alert">
      {children}
    </p>
  );
}
