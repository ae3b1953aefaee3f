import { effect, signal } from '@preact/signals';
import { isPushed } from './installed/pushed.ts';
import { navigate } from './router.ts';

/** How this browser announces a notification, beside the message on the page. */
export interface Alerts {
  sound: boolean;
  /** Notifications of the browser, if it allows them. */
  browser: boolean;
}

const KEY = 'outrider.alerts';
/** Minimum time between two sounds: several notifications at once make only one. */
const QUIET_MS = 2000;

/** Parses the alert settings that the browser stored. A value of an unexpected type counts as off. */
export function readAlerts(text: string | null): Alerts {
  try {
    const stored = (JSON.parse(text ?? '{}') ?? {}) as Record<string, unknown>;
    return { sound: stored.sound === true, browser: stored.browser === true };
  } catch {
    return { sound: false, browser: false };
  }
}

// Node has its own `localStorage`, which logs a warning.
const isBrowser = typeof document !== 'undefined';
export const alerts = signal<Alerts>(readAlerts(isBrowser ? localStorage.getItem(KEY) : null));
if (isBrowser) effect(() => localStorage.setItem(KEY, JSON.stringify(alerts.value)));

/** `unsupported` where the browser has no notifications, as without HTTPS. */
export type Permission = NotificationPermission | 'unsupported';
export const permission = signal<Permission>(
  isBrowser && 'Notification' in window ? Notification.permission : 'unsupported',
);

/** Asks the user for permission. Must follow a click. */
export async function askPermission(): Promise<void> {
  permission.value = await Notification.requestPermission();
  if (permission.value === 'granted') alerts.value = { ...alerts.peek(), browser: true };
}

let context: AudioContext | null = null;
let lastSoundMs = Number.NEGATIVE_INFINITY;

/** Plays two short tones. Browsers stay silent until the user has clicked in the page. */
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

/**
 * Announces a notification as set for this browser: a sound, and a browser notification if the page is not in front.
 */
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
    // Phones show notifications only through the service worker.
    void navigator.serviceWorker?.ready.then((worker) => worker.showNotification(title, { body }));
  }
}

/** Announces a sample notification, for the button that tests the settings. */
export function tryAlerts(title: string, text: string): void {
  const { sound, browser } = alerts.peek();
  if (sound) playSound();
  if (browser && permission.peek() === 'granted') show(title, text, '/notifications');
}
