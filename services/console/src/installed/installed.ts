import { effect, signal } from '@preact/signals';
import { live } from '../live/live.ts';
import { navigate } from '../router.ts';

/** Event of Chromium only: the browser offers to install the page as an app. */
interface InstallOffer extends Event {
  prompt(): Promise<unknown>;
}

/** A newer version of the console is ready and starts when the page is reloaded. */
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
  // Browsers support service workers only with HTTPS and on localhost.
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  if (document.readyState === 'complete') void register();
  else addEventListener('load', () => void register(), { once: true });
}

/** Reloads the page with the new version. */
export function useNewVersion(): void {
  isReloading = true;
  if (waiting === null) location.reload();
  else waiting.postMessage('activate');
}

const RELOADED_KEY = 'outrider.reloadedAt';
const RELOAD_PAUSE_MS = 60_000;

/** Reloads the page with the new version, unless that was done a short time ago without success. */
export function reloadOnce(): void {
  const nowMs = Date.now();
  if (nowMs - Number(sessionStorage.getItem(RELOADED_KEY)) < RELOAD_PAUSE_MS) return;
  sessionStorage.setItem(RELOADED_KEY, String(nowMs));
  useNewVersion();
}

/** Handles code of the page that could not be loaded: an upgrade of the service may have removed it. */
export async function onMissingCode(): Promise<void> {
  if (await hasOtherBuild()) hasNewVersion.value = true;
}

/** Whether the service has another build of the console than the page; false if the service is unavailable. */
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
  // At the first visit, the worker takes control of the current page: that is no new version.
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
  // Without a connection the check fails, and a later check finds the new version.
  const check = () => void registration.update().catch(() => {});
  setInterval(check, CHECK_MS);
  let wasOpen = true;
  effect(() => {
    const isOpen = live.status.value === 'open';
    // The service may have been upgraded while it was unavailable.
    if (isOpen && !wasOpen) check();
    wasOpen = isOpen;
  });
}
