import type { DescribedRoute, Route } from './route.ts';
import { auditRoutes } from './routes/audit.ts';
import { authRoutes } from './routes/auth.ts';
import { bulkRoutes } from './routes/bulk.ts';
import { geozoneCollectionRoutes } from './routes/geozone-collection.ts';
import { geozoneRoutes } from './routes/geozones.ts';
import { jobRoutes } from './routes/jobs.ts';
import { notificationRoutes } from './routes/notifications.ts';
import { operationDescriptions } from './routes/operations.ts';
import { positionsAtRoutes } from './routes/positions-at.ts';
import { preferenceRoutes } from './routes/preferences.ts';
import { quotaRoutes } from './routes/quotas.ts';
import { reportJobRoutes } from './routes/report-jobs.ts';
import { reportScheduleRoutes } from './routes/report-schedules.ts';
import { reportRoutes } from './routes/reports.ts';
import { userRoutes } from './routes/users.ts';
import { vehicleCsvRoutes } from './routes/vehicle-csv.ts';
import { vehicleGroupRoutes } from './routes/vehicle-groups.ts';
import { vehicleRoutes } from './routes/vehicles.ts';
import { videoRoutes } from './routes/video.ts';

/** Every call of the REST API, in the order of the documentation. */
export const ROUTES: readonly Route[] = [
  ...authRoutes,
  ...userRoutes,
  ...preferenceRoutes,
  ...quotaRoutes,
  ...auditRoutes,
  ...vehicleRoutes,
  ...vehicleCsvRoutes,
  ...vehicleGroupRoutes,
  ...bulkRoutes,
  ...geozoneRoutes,
  ...geozoneCollectionRoutes,
  ...notificationRoutes,
  ...reportRoutes,
  ...positionsAtRoutes,
  ...reportJobRoutes,
  ...reportScheduleRoutes,
  ...jobRoutes,
  ...videoRoutes,
];

/** Every call that the documentation shows. */
export const DESCRIBED: readonly DescribedRoute[] = [...ROUTES, ...operationDescriptions];
