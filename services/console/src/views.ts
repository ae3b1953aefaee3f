import type { FunctionComponent } from 'preact';
import { loadableCode } from './parts/loading/lazy.tsx';
import type { Loadable } from './parts/loading/loadable.ts';
import { VIEWS, type View } from './screens.ts';

/** Loaders of the screens by path. The code is loaded when the screen is first shown. */
const LOADERS: Readonly<Record<string, () => Promise<FunctionComponent>>> = {
  '/': async () => (await import('./pages/map/page.tsx')).MapPage,
  '/track': async () => (await import('./pages/track/page.tsx')).TrackPage,
  '/geofences': async () => (await import('./pages/geofences/page.tsx')).GeofencesPage,
  '/notifications': async () => (await import('./pages/notifications/page.tsx')).NotificationsPage,
  '/incidents': async () => (await import('./pages/incidents/page.tsx')).IncidentsPage,
  '/reports': async () => (await import('./pages/reports/page.tsx')).ReportsPage,
  '/video': async () => (await import('./pages/video/page.tsx')).VideoPage,
  '/vehicles': async () => (await import('./pages/vehicles/page.tsx')).VehiclesPage,
  '/groups': async () => (await import('./pages/groups/page.tsx')).GroupsPage,
  '/drivers': async () => (await import('./pages/drivers/page.tsx')).DriversPage,
  '/terminals': async () => (await import('./pages/terminals/page.tsx')).TerminalsPage,
  '/maintenance': async () => (await import('./pages/maintenance/page.tsx')).MaintenancePage,
  '/share': async () => (await import('./pages/share/page.tsx')).SharePage,
  '/rules': async () => (await import('./pages/rules/page.tsx')).RulesPage,
  '/commands': async () => (await import('./pages/commands/page.tsx')).CommandsPage,
  '/deliveries': async () => (await import('./pages/deliveries/page.tsx')).DeliveriesPage,
  '/users': async () => (await import('./pages/users/page.tsx')).UsersPage,
  '/forwarding': async () => (await import('./pages/forwarding/page.tsx')).ForwardingPage,
  '/operator': async () => (await import('./pages/operator/page.tsx')).OperatorPage,
  '/me': async () => (await import('./pages/me/page.tsx')).MePage,
};

const components = new Map(VIEWS.map(({ path }) => [path, loadableCode(LOADERS[path] ?? missing(path))]));

function missing(path: string): () => Promise<FunctionComponent> {
  return () => Promise.reject(new Error(`nothing is shown at ${path}`));
}

/** The view's component. */
export function componentOf({ path }: View): Loadable<FunctionComponent> {
  return components.get(path) as Loadable<FunctionComponent>;
}
