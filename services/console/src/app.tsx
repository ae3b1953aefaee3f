import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { describeError } from './errors.ts';
import { focusPage } from './focus.ts';
import { hasNewVersion, install, installOffer, reloadOnce, useNewVersion } from './installed/installed.ts';
import { connectLive, live } from './live/live.ts';
import { keepThings } from './map/kept.ts';
import { Menu } from './menu.tsx';
import { Questions } from './parts/dialog.tsx';
import { Icon, type IconName } from './parts/icon.tsx';
import { lazy } from './parts/loading/lazy.tsx';
import { Message } from './parts/message.tsx';
import { Popover } from './parts/popover.tsx';
import { Toasts, toast } from './parts/toast.tsx';
import { route } from './router.ts';
import { mayOpen, VIEWS } from './screens.ts';
import { limitedUntilMs, logOut, refreshUser, startError, user } from './session.ts';
import { componentOf } from './views.ts';
import { t } from './words/words.ts';

const LoginPage = lazy(async () => (await import('./pages/login.tsx')).LoginPage);
const DelayFigures = lazy(async () => (await import('./live/delay-figures.tsx')).DelayFigures);
const Finder = lazy(async () => (await import('./finder/finder.tsx')).Finder);
const PasswordLinkPage = lazy(async () => (await import('./sign-in/password-reset.tsx')).PasswordLinkPage);

export function App() {
  if (startError.value !== null)
    return <Message icon="warning" title={describeError(startError.value)} action={t().retry} onAction={refreshUser} />;
  return (
    <>
      <LimitBanner />
      {route.value.path === '/password' ? <PasswordLinkPage /> : <Page />}
      <Questions />
      <Toasts />
    </>
  );
}

function Page() {
  if (user.value === undefined) return <Message title={t().loading} />;
  return user.value === null ? <LoginPage /> : <Shell />;
}

/** Explains that the API limits calls and no data arrives, and for how long. */
function LimitBanner() {
  const [nowMs, setNowMs] = useState(() => Date.now());
  const untilMs = limitedUntilMs.value;
  const isLimited = untilMs > nowMs;
  useEffect(() => {
    setNowMs(Date.now());
    if (untilMs <= Date.now()) return;
    const timer = setInterval(() => setNowMs(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [untilMs, isLimited]);
  if (!isLimited) return null;
  return (
    <p class="banner" role="status">
      <Icon name="pause" /> {t().tooManyCalls(Math.ceil((untilMs - nowMs) / 1000))}
    </p>
  );
}

function Shell() {
  const isFinding = useSignal(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isAsked = event.code === 'KeyK' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
      if (!isAsked) return;
      event.preventDefault();
      if (document.querySelector('dialog[open]') === null) isFinding.value = true;
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [isFinding]);
  // Runs before the screen is loaded, because loading keeps the page busy.
  useLayoutEffect(connectLive, []);
  useLayoutEffect(keepThings, []);
  const view = VIEWS.find(({ path }) => path === route.value.path);
  const title = view ? view.title(t()) : t().pageNotFound;
  useEffect(() => {
    document.title = `${title} · Outrider`;
  }, [title]);
  // A newly opened page starts at its top. After the login, the lost focus moves to the page heading.
  const shownPath = useRef(route.value.path);
  const { path } = route.value;
  useEffect(() => {
    if (path !== shownPath.current) focusPage();
    shownPath.current = path;
  }, [path]);
  let outlet = <NowhereMessage icon="search" title={t().pageNotFound} />;
  if (view && user.value)
    outlet = mayOpen(view, user.value) ? (
      <ViewOutlet view={view} />
    ) : (
      <NowhereMessage icon="lock" title={t().notAllowed} />
    );
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        {t().skipToContent}
      </button>
      <header class="topbar">
        <a class="brand" href="/" aria-label="Outrider">
          <img src="/favicon.svg" alt="" width="28" height="28" />
          <span>Outrider</span>
        </a>
        <Menu />
        <LiveState />
        <button
          type="button"
          class="icon"
          aria-label={t().searchAll}
          title={`${t().searchAll} (Ctrl+K)`}
          aria-keyshortcuts="Control+K"
          onClick={() => (isFinding.value = true)}
        >
          <Icon name="search" />
        </button>
        <UserMenu />
      </header>
      {live.status.value === 'waiting' && (
        <p class="banner" role="status">
          <Icon name="offline" /> {t().offlineBanner}
        </p>
      )}
      {hasNewVersion.value && (
        <p class="banner news" role="status">
          <span>{t().app.newVersion}</span>
          <button type="button" onClick={useNewVersion}>
            <Icon name="refresh" /> {t().app.reload}
          </button>
        </p>
      )}
      {isFinding.value && <Finder onClose={() => (isFinding.value = false)} />}
      <main id="main" tabIndex={-1}>
        <h1 class="hidden">{title}</h1>
        {outlet}
      </main>
    </div>
  );
}

function ViewOutlet({ view }: { view: (typeof VIEWS)[number] }) {
  const Component = componentOf(view).state.value;
  const isGone = Component instanceof Error && hasNewVersion.value;
  useEffect(() => {
    if (isGone) reloadOnce();
  }, [isGone]);
  if (Component === null) return <Message title={t().loading} />;
  if (Component instanceof Error)
    return <Message icon="warning" title={t().notReached} action={t().retry} onAction={() => location.reload()} />;
  return <Component />;
}

function NowhereMessage({ icon, title }: { icon: IconName; title: string }) {
  return (
    <Message icon={icon} title={title}>
      <a class="button" href="/">
        {t().toTheMap}
      </a>
    </Message>
  );
}

function LiveState() {
  const isOpen = live.status.value === 'open';
  return (
    <>
      <span role="status">
        <button type="button" class={`live ${isOpen ? 'on' : ''}`} popovertarget="live-delay">
          {isOpen ? t().live : t().connecting}
        </button>
      </span>
      <Popover id="live-delay" content={DelayFigures} />
    </>
  );
}

function UserMenu() {
  const menu = useRef<HTMLDivElement>(null);
  const { path } = route.value;
  useEffect(() => {
    if (menu.current?.matches(':popover-open')) menu.current.hidePopover();
  }, [path]);
  const leave = () => logOut().catch((error: unknown) => toast(describeError(error), 'error'));
  return (
    <>
      <button type="button" class="icon" popovertarget="user-menu" aria-label={t().loggedInAs(user.value?.name ?? '')}>
        <Icon name="user" />
      </button>
      <div id="user-menu" class="menu" popover="auto" ref={menu}>
        <p>
          <strong>
            <bdi>{user.value?.name}</bdi>
          </strong>
          <small>
            <bdi>{user.value?.login}</bdi>
          </small>
        </p>
        <a href="/me">
          <Icon name="settings" /> {t().me.title}
        </a>
        {installOffer.value !== null && (
          <button type="button" popovertarget="user-menu" onClick={() => void install()}>
            <Icon name="install" /> {t().app.install}
          </button>
        )}
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
