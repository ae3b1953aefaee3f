import type { DescribedRoute, Route } from './route.ts';
import { accountMailRoutes } from './routes/accounts/account-mails.ts';
import { apiKeyRoutes } from './routes/accounts/api-keys.ts';
import { authRoutes } from './routes/accounts/auth.ts';
import { externalSignInRoutes } from './routes/accounts/external-sign-in.ts';
import { passkeyRoutes } from './routes/accounts/passkeys.ts';
import { personExportRoutes } from './routes/accounts/person-exports.ts';
import { preferenceRoutes } from './routes/accounts/preferences.ts';
import { quotaRoutes } from './routes/accounts/quotas.ts';
import { secondFactorRoutes } from './routes/accounts/second-factor.ts';
import { userRoutes } from './routes/accounts/users.ts';
import { auditRoutes } from './routes/audit.ts';
import { bulkRoutes } from './routes/fleet/bulk.ts';
import { commandRoutes } from './routes/fleet/commands.ts';
import { driverCsvRoutes, vehicleCsvRoutes } from './routes/fleet/definition-csv.ts';
import { driverRoutes } from './routes/fleet/drivers.ts';
import { geozoneCollectionRoutes } from './routes/fleet/geozone-collection.ts';
import { geozoneRoutes } from './routes/fleet/geozones.ts';
import { historyRoutes } from './routes/fleet/history.ts';
import { maintenanceRoutes } from './routes/fleet/maintenance.ts';
import { maintenanceCsvRoutes } from './routes/fleet/maintenance-csv.ts';
import { placeRoutes } from './routes/fleet/places.ts';
import { positionsAtRoutes } from './routes/fleet/positions-at.ts';
import { sensorCsvRoutes } from './routes/fleet/sensor-csv.ts';
import { sensorRoutes } from './routes/fleet/sensors.ts';
import { shareLinkRoutes } from './routes/fleet/share-links.ts';
import { terminalRoutes } from './routes/fleet/terminals.ts';
import { vehicleGroupRoutes } from './routes/fleet/vehicle-groups.ts';
import { vehicleRoutes } from './routes/fleet/vehicles.ts';
import { jobRoutes } from './routes/jobs.ts';
import { feedRoutes } from './routes/notifications/feeds.ts';
import { forwardingRoutes } from './routes/notifications/forwarding.ts';
import { incidentRoutes } from './routes/notifications/incidents.ts';
import { messageChannelRoutes } from './routes/notifications/message-channels.ts';
import { notificationRoutes } from './routes/notifications/notifications.ts';
import { operationDescriptions } from './routes/operations.ts';
import { operatorRoutes } from './routes/operator.ts';
import { reportJobRoutes } from './routes/reports/report-jobs.ts';
import { reportKindRoutes } from './routes/reports/report-kinds.ts';
import { reportScheduleRoutes } from './routes/reports/report-schedules.ts';
import { reportTemplateRoutes } from './routes/reports/report-templates.ts';
import { reportRoutes } from './routes/reports/reports.ts';
import { videoRoutes } from './routes/video.ts';
import { sharePageDescriptions } from './share-pages.ts';

/** Every call of the REST API, in the order of the documentation. */
export const ROUTES: readonly Route[] = [
  ...authRoutes,
  ...secondFactorRoutes,
  ...passkeyRoutes,
  ...externalSignInRoutes,
  ...accountMailRoutes,
  ...userRoutes,
  ...apiKeyRoutes,
  ...messageChannelRoutes,
  ...preferenceRoutes,
  ...quotaRoutes,
  ...auditRoutes,
  ...vehicleRoutes,
  ...historyRoutes,
  ...personExportRoutes,
  ...sensorCsvRoutes,
  ...sensorRoutes,
  ...commandRoutes,
  ...terminalRoutes,
  ...vehicleCsvRoutes,
  ...vehicleGroupRoutes,
  ...bulkRoutes,
  ...shareLinkRoutes,
  ...driverCsvRoutes,
  ...driverRoutes,
  ...maintenanceCsvRoutes,
  ...maintenanceRoutes,
  ...geozoneRoutes,
  ...geozoneCollectionRoutes,
  ...placeRoutes,
  ...notificationRoutes,
  ...incidentRoutes,
  ...feedRoutes,
  ...forwardingRoutes,
  ...reportKindRoutes,
  ...reportRoutes,
  ...positionsAtRoutes,
  ...reportJobRoutes,
  ...reportScheduleRoutes,
  ...reportTemplateRoutes,
  ...jobRoutes,
  ...operatorRoutes,
  ...videoRoutes,
];

/** Every documented call. */
export const DESCRIBED: readonly DescribedRoute[] = [...ROUTES, ...sharePageDescriptions, ...operationDescriptions];
