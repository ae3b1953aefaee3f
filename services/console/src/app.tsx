import { useEffect } from 'preact/hooks';
import { describeError } from './errors.ts';
import { formats } from './format.ts';
import { connectLive, live } from './live/live.ts';
import { LoginPage } from './pages/login.tsx';
import { SettingsDialog } from './pages/settings.tsx';
import { Icon } from './parts/icon.tsx';
import { Message } from './parts/message.tsx';
import { Toasts, toast } from './parts/toast.tsx';
import { route } from './router.ts';
import { logOut, refreshUser, startError, user } from './session.ts';
import { componentOf, VIEWS } from './views.ts';
import { t } from './words/words.ts';

export function App() {
  if (startError.value !== null)
    return <Message icon="warning" title={describeError(startError.value)} action={t().retry} onAction={refreshUser} />;
  if (user.value === undefined) return <Message title={t().loading} />;
  return (
    <>
      {user.value === null ? <LoginPage /> : <Shell />}
      <Toasts />
    </>
  );
}

function Shell() {
  useEffect(connectLive, []);
  const view = VIEWS.find(({ path }) => path === route.value.path);
  const title = view ? view.title(t()) : t().pageNotFound;
  useEffect(() => {
    document.title = `${title} · Outrider`;
  }, [title]);
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        {t().skipToContent}
      </button>
      <header class="topbar">
        <a class="brand" href="/">
          <img src="/favicon.svg" alt="" width="28" height="28" />
          <span>Outrider</span>
        </a>
        <nav aria-label={t().menu}>
          {VIEWS.map(({ path, icon, title: titleOf, badge }) => (
            <a key={path} href={path} aria-current={path === route.value.path ? 'page' : undefined}>
              <Icon name={icon} />
              <span>{titleOf(t())}</span>
              {badge?.value ? <span class="badge">{formats().number(badge.value)}</span> : null}
            </a>
          ))}
        </nav>
        <LiveState />
        <UserMenu />
      </header>
      {live.status.value === 'waiting' && (
        <p class="banner" role="status">
          <Icon name="offline" /> {t().offlineBanner}
        </p>
      )}
      <main id="main" tabIndex={-1}>
        <h1 class="hidden">{title}</h1>
        {view ? <ViewOutlet view={view} /> : <NotFound />}
      </main>
      <SettingsDialog />
    </div>
  );
}

function ViewOutlet({ view }: { view: (typeof VIEWS)[number] }) {
  const Component = componentOf(view).value;
  if (Component === null) return <Message title={t().loading} />;
  if (Component instanceof Error)
    return <Message icon="warning" title={t().notReached} action={t().retry} onAction={() => location.reload()} />;
  return <Component />;
}

function NotFound() {
  return (
    <Message icon="search" title={t().pageNotFound}>
      <a class="button" href="/">
        {t().toTheMap}
      </a>
    </Message>
  );
}

function LiveState() {
  const isOpen = live.status.value === 'open';
  return (
    <span class={`live ${isOpen ? 'on' : ''}`} role="status">
      {isOpen ? t().live : t().connecting}
    </span>
  );
}

function UserMenu() {
  const leave = () => logOut().catch((error: unknown) => toast(describeError(error), 'error'));
  return (
    <>
      <button type="button" class="icon" popovertarget="user-menu" aria-label={t().loggedInAs(user.value?.name ?? '')}>
        <Icon name="user" />
      </button>
      <div id="user-menu" class="menu" popover="auto">
        <p>
          <strong>{user.value?.name}</strong>
          <small>{user.value?.login}</small>
        </p>
        <button type="button" popovertarget="user-menu" onClick={openSettings}>
          <Icon name="settings" /> {t().settings}
        </button>
        <a href="/docs/" target="_blank" rel="noopener">
          <Icon name="book" /> {t().documentation}
        </a>
        <button type="button" onClick={leave}>
          <Icon name="logout" /> {t().logOut}
        </button>
      </div>
    </>
  );
}

function openSettings() {
  (document.getElementById('settings') as HTMLDialogElement | null)?.showModal();
}
