import { effect, signal } from '@preact/signals';
import { isPushed } from './installed/pushed.ts';
import { navigate } from './router.ts';

/** How this browser announces a notification, beside the message on the page. */
export interface Alerts {
  sound: boolean;
  /** Notifications of the browser, where it allows them. */
  browser: boolean;
}

const KEY = 'outrider.alerts';
/** Of several that come together one makes a sound. */
const QUIET_MS = 2000;

/** What the browser stored; what has an unexpected type is off. */
export function readAlerts(text: string | null): Alerts {
  try {
    const stored = (JSON.parse(text ?? '{}') ?? {}) as Record<string, unknown>;
    return { sound: stored.sound === true, browser: stored.browser === true };
  } catch {
    return { sound: false, browser: false };
  }
}

// Node has a storage of its own, which complains.
const isBrowser = typeof document !== 'undefined';
export const alerts = signal<Alerts>(readAlerts(isBrowser ? localStorage.getItem(KEY) : null));
if (isBrowser) effect(() => localStorage.setItem(KEY, JSON.stringify(alerts.value)));

/** `unsupported` where the browser has no notifications, as without HTTPS. */
export type Permission = NotificationPermission | 'unsupported';
export const permission = signal<Permission>(
  isBrowser && 'Notification' in window ? Notification.permission : 'unsupported',
);

/** Asks the user, who has clicked for it. */
export async function askPermission(): Promise<void> {
  permission.value = await Notification.requestPermission();
  if (permission.value === 'granted') alerts.value = { ...alerts.peek(), browser: true };
}

let context: AudioContext | null = null;
let lastSoundMs = Number.NEGATIVE_INFINITY;

/** Two short tones. A browser that nobody has clicked in stays silent. */
export function playSound(): void {
  context ??= new AudioContext();
  const { currentTime, destination } = context;
  void context.resume();
  for (const [nth, hertz] of [880, 1175].entries()) {
    const at = currentTime + nth * 0.16;
    const oscillator = new OscillatorNode(context, { type: 'sine', frequency: hertz });
    const volume = new GainNode(context, { gain: 0 });
    volume.gain.setValueAtTime(0, at);
    volume.gain.linearRampToValueAtTime(0.2, at + 0.02);
    volume.gain.exponentialRampToValueAtTime(0.001, at + 0.3);
    oscillator.connect(volume).connect(destination);
    oscillator.start(at);
    oscillator.stop(at + 0.32);
  }
}

/** Sounds, and shows a notification of the browser where the page is not in front, as this browser is set. */
export function announce(title: string, text: string, href: string): void {
  const { sound, browser } = alerts.peek();
  const nowMs = performance.now();
  if (sound && nowMs - lastSoundMs > QUIET_MS) {
    lastSoundMs = nowMs;
    playSound();
  }
  const isBehind = document.hidden || !document.hasFocus();
  if (browser && permission.peek() === 'granted' && isBehind && !isPushed()) show(title, text, href);
}

function show(title: string, body: string, href: string): void {
  try {
    const shown = new Notification(title, { body, icon: '/favicon.svg' });
    shown.onclick = () => {
      window.focus();
      navigate(href);
      shown.close();
    };
  } catch {
    // Phones show them by the service worker alone.
    void navigator.serviceWorker?.ready.then((worker) => worker.showNotification(title, { body }));
  }
}

/** As a notification arrives: for the button that tries it. */
export function tryAlerts(title: string, text: string): void {
  const { sound, browser } = alerts.peek();
  if (sound) playSound();
  if (browser && permission.peek() === 'granted') show(title, text, '/notifications');
}
