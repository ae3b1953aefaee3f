import { useEffect, useRef } from 'preact/hooks';
import { formats } from './format.ts';
import { Icon } from './parts/icon.tsx';
import { route } from './router.ts';
import { openViews, VIEWS, type View } from './screens.ts';
import { user } from './session.ts';
import { t } from './words/words.ts';

const GROUPS = ['work', 'fleet', 'administration'] as const;

/**
 * The screens that the user may open. Wide pages: daily work in the bar at the top, the rest in a menu beside
 * it. Phones: four in the bar at the bottom, all in a drawer.
 */
export function Menu() {
  const drawer = useRef<HTMLDivElement>(null);
  const open = user.value ? openViews(VIEWS, user.value).filter(({ group }) => group !== 'account') : [];
  const { path } = route.value;
  useEffect(() => {
    if (drawer.current?.matches(':popover-open')) drawer.current.hidePopover();
  }, [path]);
  const inBar = open.filter(({ group }) => group === 'work');
  const isInMenu = open.some((view) => view.path === path && view.group !== 'work');
  const isOffPhoneBar = open.some((view) => view.path === path && view.isOnPhoneBar !== true);
  const width = inBar.length === open.length ? 'on-phones' : '';
  return (
    <nav aria-label={t().menu} class="views">
      {inBar.map((view) => (
        <ViewLink key={view.path} view={view} className={view.isOnPhoneBar ? '' : 'off-phones'} />
      ))}
      <button
        type="button"
        popovertarget="views-menu"
        class={`${width} ${isInMenu ? 'current' : ''} ${isOffPhoneBar ? 'current-on-phones' : ''}`}
      >
        <Icon name="list" />
        <span class="on-phones">{t().menu}</span>
        <span class="off-phones">{t().manage}</span>
      </button>
      <div id="views-menu" class="menu drawer" popover="auto" ref={drawer}>
        {GROUPS.map((group) => {
          const views = open.filter((view) => view.group === group);
          if (views.length === 0) return null;
          return (
            <section key={group} class={group === 'work' ? 'on-phones' : ''} aria-label={t().viewGroups[group]}>
              <h2>{t().viewGroups[group]}</h2>
              {views.map((view) => (
                <ViewLink key={view.path} view={view} />
              ))}
            </section>
          );
        })}
      </div>
    </nav>
  );
}

function ViewLink({ view: { path, icon, title, badge }, className = '' }: { view: View; className?: string }) {
  return (
    <a href={path} class={className} aria-current={path === route.value.path ? 'page' : undefined}>
      <Icon name={icon} />
      <span>{title(t())}</span>
      {badge?.value ? <span class="badge">{formats().number(badge.value)}</span> : null}
    </a>
  );
}
