import { type Signal, signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { unreadCount } from './notifications.ts';
import type { IconName } from './parts/icon.tsx';
import type { Words } from './words/en.ts';

export interface View {
  path: string;
  icon: IconName;
  title: (words: Words) => string;
  load: () => Promise<FunctionComponent>;
  /** How many things wait there. */
  badge?: Signal<number | null>;
}

/** The screens, in the order of the menu. Each is loaded when it is first shown. */
export const VIEWS: readonly View[] = [
  {
    path: '/',
    icon: 'map',
    title: (t) => t.pages.map,
    load: async () => (await import('./pages/map/page.tsx')).MapPage,
  },
  {
    path: '/track',
    icon: 'track',
    title: (t) => t.pages.track,
    load: async () => (await import('./pages/track/page.tsx')).TrackPage,
  },
  {
    path: '/geofences',
    icon: 'fence',
    title: (t) => t.pages.geofences,
    load: async () => (await import('./pages/geofences/page.tsx')).GeofencesPage,
  },
  {
    path: '/notifications',
    icon: 'bell',
    title: (t) => t.pages.notifications,
    load: async () => (await import('./pages/notifications/page.tsx')).NotificationsPage,
    badge: unreadCount,
  },
];

export function isView(path: string): boolean {
  return VIEWS.some((view) => view.path === path);
}

const loaded = new Map<View, Signal<FunctionComponent | Error | null>>();

/** The view's component: null while it loads. */
export function componentOf(view: View): Signal<FunctionComponent | Error | null> {
  const known = loaded.get(view);
  if (known && !(known.peek() instanceof Error)) return known;
  const state = signal<FunctionComponent | Error | null>(null);
  loaded.set(view, state);
  view.load().then(
    (component) => {
      state.value = component;
    },
    (error: unknown) => {
      state.value = error instanceof Error ? error : new Error(String(error));
    },
  );
  return state;
}
