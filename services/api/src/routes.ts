import type { DescribedRoute, Route } from './route.ts';
import { accountMailRoutes } from './routes/account-mails.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { auditRoutes } from './routes/audit.ts';
import { authRoutes } from './routes/auth.ts';
import { bulkRoutes } from './routes/bulk.ts';
import { commandRoutes } from './routes/commands.ts';
import { driverCsvRoutes, vehicleCsvRoutes } from './routes/definition-csv.ts';
import { driverRoutes } from './routes/drivers.ts';
import { externalSignInRoutes } from './routes/external-sign-in.ts';
import { feedRoutes } from './routes/feeds.ts';
import { forwardingRoutes } from './routes/forwarding.ts';
import { geozoneCollectionRoutes } from './routes/geozone-collection.ts';
import { geozoneRoutes } from './routes/geozones.ts';
import { historyRoutes } from './routes/history.ts';
import { incidentRoutes } from './routes/incidents.ts';
import { jobRoutes } from './routes/jobs.ts';
import { maintenanceRoutes } from './routes/maintenance.ts';
import { maintenanceCsvRoutes } from './routes/maintenance-csv.ts';
import { messageChannelRoutes } from './routes/message-channels.ts';
import { notificationRoutes } from './routes/notifications.ts';
import { operationDescriptions } from './routes/operations.ts';
import { operatorRoutes } from './routes/operator.ts';
import { passkeyRoutes } from './routes/passkeys.ts';
import { personExportRoutes } from './routes/person-exports.ts';
import { placeRoutes } from './routes/places.ts';
import { positionsAtRoutes } from './routes/positions-at.ts';
import { preferenceRoutes } from './routes/preferences.ts';
import { quotaRoutes } from './routes/quotas.ts';
import { reportJobRoutes } from './routes/report-jobs.ts';
import { reportKindRoutes } from './routes/report-kinds.ts';
import { reportScheduleRoutes } from './routes/report-schedules.ts';
import { reportTemplateRoutes } from './routes/report-templates.ts';
import { reportRoutes } from './routes/reports.ts';
import { secondFactorRoutes } from './routes/second-factor.ts';
import { sensorCsvRoutes } from './routes/sensor-csv.ts';
import { sensorRoutes } from './routes/sensors.ts';
import { shareLinkRoutes } from './routes/share-links.ts';
import { terminalRoutes } from './routes/terminals.ts';
import { userRoutes } from './routes/users.ts';
import { vehicleGroupRoutes } from './routes/vehicle-groups.ts';
import { vehicleRoutes } from './routes/vehicles.ts';
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

/** Every call that the documentation shows. */
export const DESCRIBED: readonly DescribedRoute[] = [...ROUTES, ...sharePageDescriptions, ...operationDescriptions];
