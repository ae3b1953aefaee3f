import type { Route } from './route.ts';
import { authRoutes } from './routes/auth.ts';
import { geozoneRoutes } from './routes/geozones.ts';
import { reportRoutes } from './routes/reports.ts';
import { userRoutes } from './routes/users.ts';
import { vehicleGroupRoutes } from './routes/vehicle-groups.ts';
import { vehicleRoutes } from './routes/vehicles.ts';

/** Every call of the REST API, in the order of the documentation. */
export const ROUTES: readonly Route[] = [
  ...authRoutes,
  ...userRoutes,
  ...vehicleRoutes,
  ...vehicleGroupRoutes,
  ...geozoneRoutes,
  ...reportRoutes,
];
