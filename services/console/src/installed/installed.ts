import { effect, signal } from '@preact/signals';
import { live } from '../live/live.ts';
import { navigate } from '../router.ts';

/** An event of Chromium alone: the browser offers to install the page as an app. */
interface InstallOffer extends Event {
  prompt(): Promise<unknown>;
}

/** A newer version of the console waits until the page is loaded anew. */
export const hasNewVersion = signal(false);
/** Null: the browser offers no installation, or the console is installed. */
export const installOffer = signal<InstallOffer | null>(null);

const CHECK_MS = 3_600_000;
let waiting: ServiceWorker | null = null;
let isReloading = false;

/** Installs the service worker once the page is loaded, and looks for new versions. */
export function followVersions(): void {
  addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault();
    installOffer.value = event as InstallOffer;
  });
  addEventListener('appinstalled', () => {
    installOffer.value = null;
  });
  // Browsers have service workers with HTTPS and on localhost alone.
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  if (document.readyState === 'complete') void register();
  else addEventListener('load', () => void register(), { once: true });
}

/** Loads the page with the new version. */
export function useNewVersion(): void {
  isReloading = true;
  if (waiting === null) location.reload();
  else waiting.postMessage('activate');
}

const RELOADED_KEY = 'outrider.reloadedAt';
const RELOAD_PAUSE_MS = 60_000;

/** Loads the page with the new version, unless that was just done and did not help. */
export function reloadOnce(): void {
  const nowMs = Date.now();
  if (nowMs - Number(sessionStorage.getItem(RELOADED_KEY)) < RELOAD_PAUSE_MS) return;
  sessionStorage.setItem(RELOADED_KEY, String(nowMs));
  useNewVersion();
}

/** Code of the page could not be loaded: it is gone where the service was upgraded meanwhile. */
export async function onMissingCode(): Promise<void> {
  if (await hasOtherBuild()) hasNewVersion.value = true;
}

/** Whether the service has another build of the console than the page's; false where it is not reached. */
async function hasOtherBuild(): Promise<boolean> {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"][src]');
  if (script === null) return false;
  try {
    const answer = await fetch('/', { cache: 'no-store', headers: { accept: 'text/html' } });
    return answer.ok && !(await answer.text()).includes(new URL(script.src).pathname);
  } catch {
    return false;
  }
}

export async function install(): Promise<void> {
  await installOffer.peek()?.prompt();
  installOffer.value = null;
}

async function register(): Promise<void> {
  const container = navigator.serviceWorker;
  // At the first visit the worker takes over the page as it is: that is no new version.
  let hadController = container.controller !== null;
  container.addEventListener('controllerchange', () => {
    if (isReloading) location.reload();
    else if (hadController) hasNewVersion.value = true;
    hadController = true;
    waiting = null;
  });
  container.addEventListener('message', ({ data }) => {
    if (typeof data?.open === 'string') navigate(data.open);
  });
  const registration = await container.register('/sw.js').catch(() => null);
  if (registration === null) return;
  const note = (worker: ServiceWorker | null) => {
    if (worker === null || container.controller === null) return;
    waiting = worker;
    hasNewVersion.value = true;
  };
  note(registration.waiting);
  registration.addEventListener('updatefound', () => {
    const found = registration.installing;
    found?.addEventListener('statechange', () => {
      if (found.state === 'installed') note(found);
    });
  });
  // Without a connection the check fails, and the next one finds what is new.
  const check = () => void registration.update().catch(() => {});
  setInterval(check, CHECK_MS);
  let wasOpen = true;
  effect(() => {
    const isOpen = live.status.value === 'open';
    // A service that was away may be a newer one.
    if (isOpen && !wasOpen) check();
    wasOpen = isOpen;
  });
}
