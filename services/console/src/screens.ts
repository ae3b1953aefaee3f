import type { User } from '@outrider/client';
import type { Signal } from '@preact/signals';
import { openIncidentCount } from './incidents.ts';
import { unreadCount } from './notifications.ts';
import type { IconName } from './parts/icon.tsx';
import { hasRight, keepsAccounts, mayCommand } from './rights.ts';
import { mayUseVideo } from './video/profiles.ts';
import type { Words } from './words/en.ts';

/** Place of a screen in the menu: the bar, below a heading of the drawer, or the user's menu (`account`). */
export type ViewGroup = 'work' | 'fleet' | 'administration' | 'account';

export interface View {
  path: string;
  icon: IconName;
  title: (words: Words) => string;
  group: ViewGroup;
  /** Screens in the bar of a phone, which has space for four. The others are in the drawer. */
  isOnPhoneBar?: true;
  /** Absent: everybody. Only hides screens; the API enforces the rights. */
  mayOpen?: (user: User) => boolean;
  /** Number of items that wait on the screen. */
  badge?: Signal<number | null>;
}

/** The screens, in the order of the menu. */
export const VIEWS: readonly View[] = [
  {
    path: '/',
    icon: 'map',
    title: (t) => t.pages.map,
    group: 'work',
    isOnPhoneBar: true,
  },
  {
    path: '/track',
    icon: 'track',
    title: (t) => t.pages.track,
    group: 'work',
    isOnPhoneBar: true,
  },
  {
    path: '/geofences',
    icon: 'fence',
    title: (t) => t.pages.geofences,
    group: 'work',
  },
  {
    path: '/notifications',
    icon: 'bell',
    title: (t) => t.pages.notifications,
    group: 'work',
    isOnPhoneBar: true,
    badge: unreadCount,
  },
  {
    path: '/incidents',
    icon: 'warning',
    title: (t) => t.pages.incidents,
    group: 'work',
    badge: openIncidentCount,
  },
  {
    path: '/reports',
    icon: 'chart',
    title: (t) => t.pages.reports,
    group: 'work',
    isOnPhoneBar: true,
  },
  {
    path: '/video',
    icon: 'video',
    title: (t) => t.pages.video,
    group: 'work',
    mayOpen: mayUseVideo,
  },
  {
    path: '/vehicles',
    icon: 'truck',
    title: (t) => t.pages.vehicles,
    group: 'fleet',
    mayOpen: (user) => hasRight(user, 'edit-vehicles'),
  },
  {
    path: '/groups',
    icon: 'group',
    title: (t) => t.pages.groups,
    group: 'fleet',
    mayOpen: keepsAccounts,
  },
  {
    path: '/drivers',
    icon: 'driver',
    title: (t) => t.pages.drivers,
    group: 'fleet',
  },
  {
    path: '/terminals',
    icon: 'terminal',
    title: (t) => t.pages.terminals,
    group: 'fleet',
    mayOpen: keepsAccounts,
  },
  {
    path: '/maintenance',
    icon: 'wrench',
    title: (t) => t.pages.maintenance,
    group: 'fleet',
  },
  {
    path: '/share',
    icon: 'share',
    title: (t) => t.share.title,
    group: 'fleet',
  },
  {
    path: '/rules',
    icon: 'edit',
    title: (t) => t.pages.rules,
    group: 'fleet',
    mayOpen: (user) => hasRight(user, 'edit-notifications'),
  },
  {
    path: '/commands',
    icon: 'send',
    title: (t) => t.pages.commands,
    group: 'fleet',
    mayOpen: mayCommand,
  },
  {
    path: '/deliveries',
    icon: 'list',
    title: (t) => t.pages.deliveries,
    group: 'fleet',
  },
  {
    path: '/users',
    icon: 'users',
    title: (t) => t.pages.users,
    group: 'administration',
    mayOpen: keepsAccounts,
  },
  {
    path: '/forwarding',
    icon: 'upload',
    title: (t) => t.pages.forwarding,
    group: 'administration',
    mayOpen: keepsAccounts,
  },
  {
    path: '/operator',
    icon: 'gauge',
    title: (t) => t.pages.operator,
    group: 'administration',
    mayOpen: keepsAccounts,
  },
  {
    path: '/me',
    icon: 'user',
    title: (t) => t.me.title,
    group: 'account',
  },
];

export function mayOpen(view: View, user: User): boolean {
  return view.mayOpen?.(user) ?? true;
}

/** The screens that a user may open, in the order of the menu. */
export function openViews(views: readonly View[], user: User): readonly View[] {
  return views.filter((view) => mayOpen(view, user));
}

export function isView(path: string): boolean {
  return VIEWS.some((view) => view.path === path);
}
