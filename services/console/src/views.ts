import type { User } from '@outrider/client';
import type { Signal } from '@preact/signals';
import type { FunctionComponent } from 'preact';
import { mayCommand } from './commands/words.ts';
import { onMissingCode } from './installed/installed.ts';
import { liveAsked } from './live/live.ts';
import { unreadCount } from './notifications.ts';
import type { IconName } from './parts/icon.tsx';
import { Loadable } from './parts/loadable.ts';
import { mayUseVideo } from './video/profiles.ts';
import type { Words } from './words/en.ts';

/** Where the menu has a screen: in its bar, below a heading of its drawer, or in the menu of the user (`account`). */
export type ViewGroup = 'work' | 'fleet' | 'administration' | 'account';

export interface View {
  path: string;
  icon: IconName;
  title: (words: Words) => string;
  group: ViewGroup;
  /** The bar of a phone has place for four; the others are in the drawer. */
  isOnPhoneBar?: true;
  /** Absent: everybody. It only leaves out what the API would refuse. */
  mayOpen?: (user: User) => boolean;
  load: () => Promise<FunctionComponent>;
  /** How many things wait there. */
  badge?: Signal<number | null>;
}

export const isOperator = ({ role }: User): boolean => role === 'operator';
/** Operators and dealers keep users, vehicles and groups. */
export const keepsAccounts = ({ role }: User): boolean => role !== 'user';

/** May the user change such things? Operators and dealers may by their role. */
export const hasRight = ({ role, rights }: User, right: User['rights'][number]): boolean =>
  role !== 'user' || rights.includes(right);

/** The screens, in the order of the menu. Each is loaded when it is first shown. */
export const VIEWS: readonly View[] = [
  {
    path: '/',
    icon: 'map',
    title: (t) => t.pages.map,
    group: 'work',
    isOnPhoneBar: true,
    load: async () => {
      await liveAsked();
      return (await import('./pages/map/page.tsx')).MapPage;
    },
  },
  {
    path: '/track',
    icon: 'track',
    title: (t) => t.pages.track,
    group: 'work',
    isOnPhoneBar: true,
    load: async () => (await import('./pages/track/page.tsx')).TrackPage,
  },
  {
    path: '/geofences',
    icon: 'fence',
    title: (t) => t.pages.geofences,
    group: 'work',
    load: async () => (await import('./pages/geofences/page.tsx')).GeofencesPage,
  },
  {
    path: '/notifications',
    icon: 'bell',
    title: (t) => t.pages.notifications,
    group: 'work',
    isOnPhoneBar: true,
    load: async () => (await import('./pages/notifications/page.tsx')).NotificationsPage,
    badge: unreadCount,
  },
  {
    path: '/reports',
    icon: 'chart',
    title: (t) => t.pages.reports,
    group: 'work',
    isOnPhoneBar: true,
    load: async () => (await import('./pages/reports/page.tsx')).ReportsPage,
  },
  {
    path: '/video',
    icon: 'video',
    title: (t) => t.video.title,
    group: 'work',
    mayOpen: mayUseVideo,
    load: async () => (await import('./pages/video/page.tsx')).VideoPage,
  },
  {
    path: '/vehicles',
    icon: 'truck',
    title: (t) => t.pages.vehicles,
    group: 'fleet',
    mayOpen: (user) => hasRight(user, 'edit-vehicles'),
    load: async () => (await import('./pages/vehicles/page.tsx')).VehiclesPage,
  },
  {
    path: '/groups',
    icon: 'group',
    title: (t) => t.pages.groups,
    group: 'fleet',
    mayOpen: keepsAccounts,
    load: async () => (await import('./pages/groups/page.tsx')).GroupsPage,
  },
  {
    path: '/drivers',
    icon: 'driver',
    title: (t) => t.drivers.title,
    group: 'fleet',
    load: async () => (await import('./pages/drivers/page.tsx')).DriversPage,
  },
  {
    path: '/terminals',
    icon: 'terminal',
    title: (t) => t.pages.terminals,
    group: 'fleet',
    mayOpen: keepsAccounts,
    load: async () => (await import('./pages/terminals/page.tsx')).TerminalsPage,
  },
  {
    path: '/maintenance',
    icon: 'wrench',
    title: (t) => t.maintenance.title,
    group: 'fleet',
    load: async () => (await import('./pages/maintenance/page.tsx')).MaintenancePage,
  },
  {
    path: '/share',
    icon: 'share',
    title: (t) => t.share.title,
    group: 'fleet',
    load: async () => (await import('./pages/share/page.tsx')).SharePage,
  },
  {
    path: '/rules',
    icon: 'edit',
    title: (t) => t.rules.title,
    group: 'fleet',
    mayOpen: (user) => hasRight(user, 'edit-notifications'),
    load: async () => (await import('./pages/rules/page.tsx')).RulesPage,
  },
  {
    path: '/commands',
    icon: 'send',
    title: (t) => t.commands.title,
    group: 'fleet',
    mayOpen: mayCommand,
    load: async () => (await import('./pages/commands/page.tsx')).CommandsPage,
  },
  {
    path: '/deliveries',
    icon: 'list',
    title: (t) => t.rules.deliveries,
    group: 'fleet',
    load: async () => (await import('./pages/deliveries/page.tsx')).DeliveriesPage,
  },
  {
    path: '/users',
    icon: 'users',
    title: (t) => t.pages.users,
    group: 'administration',
    load: async () => (await import('./pages/users/page.tsx')).UsersPage,
    mayOpen: keepsAccounts,
  },
  {
    path: '/forwarding',
    icon: 'upload',
    title: (t) => t.pages.forwarding,
    group: 'administration',
    load: async () => (await import('./pages/forwarding/page.tsx')).ForwardingPage,
    mayOpen: keepsAccounts,
  },
  {
    path: '/operator',
    icon: 'gauge',
    title: (t) => t.pages.operator,
    group: 'administration',
    load: async () => (await import('./pages/operator/page.tsx')).OperatorPage,
    mayOpen: keepsAccounts,
  },
  {
    path: '/me',
    icon: 'user',
    title: (t) => t.me.title,
    group: 'account',
    load: async () => (await import('./pages/me/page.tsx')).MePage,
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

const components = new Map(VIEWS.map((view) => [view, new Loadable(view.load, () => void onMissingCode())]));

/** The view's component. */
export function componentOf(view: View): Loadable<FunctionComponent> {
  return components.get(view) as Loadable<FunctionComponent>;
}
