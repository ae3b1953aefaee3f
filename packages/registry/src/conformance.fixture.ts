import { apiKeysConformance } from './accounts/api-keys.conformance.ts';
import { erasuresConformance } from './accounts/erasures.conformance.ts';
import { mailAddressesConformance } from './accounts/mail-addresses.conformance.ts';
import { personalDataConformance } from './accounts/personal-data.conformance.ts';
import { signInConformance } from './accounts/sign-in.conformance.ts';
import { auditConformance } from './audit/audit.conformance.ts';
import { bulkConformance } from './fleet/bulk.conformance.ts';
import { customFieldsConformance } from './fleet/custom-fields.conformance.ts';
import { driversConformance } from './fleet/drivers.conformance.ts';
import { historyLimitsConformance } from './fleet/history-limits.conformance.ts';
import { maintenanceConformance } from './fleet/maintenance.conformance.ts';
import { shareLinksConformance } from './fleet/share-links.conformance.ts';
import { vehicleCommandsConformance } from './fleet/vehicle-commands.conformance.ts';
import { vehicleMovesConformance } from './fleet/vehicle-moves.conformance.ts';
import { forwardingConformance } from './notifications/forwarding-destinations.conformance.ts';
import { incidentsConformance } from './notifications/incidents.conformance.ts';
import { notificationsConformance } from './notifications/notifications.conformance.ts';
import { registryConformance } from './registry.conformance.ts';
import { reportsConformance } from './reports/reports.conformance.ts';
import { idempotencyConformance } from './store/idempotency.conformance.ts';
import type { Place } from './test-registry.fixture.ts';
import { videoConformance } from './video/video.conformance.ts';
import { jobsConformance } from './work/jobs.conformance.ts';
import { type LeasesPlace, leasesConformance } from './work/leases.conformance.ts';

type Suite = (database: string, newPlace: () => Promise<Place & LeasesPlace>) => void;

/** What a registry does on every database that it runs on. Each list is a file of tests on a server, side by side. */
export const SUITES = {
  store: [registryConformance, auditConformance, idempotencyConformance, reportsConformance, videoConformance],
  accounts: [
    apiKeysConformance,
    erasuresConformance,
    mailAddressesConformance,
    personalDataConformance,
    signInConformance,
  ],
  fleet: [
    bulkConformance,
    customFieldsConformance,
    driversConformance,
    historyLimitsConformance,
    maintenanceConformance,
    shareLinksConformance,
    vehicleCommandsConformance,
    vehicleMovesConformance,
  ],
  notifications: [forwardingConformance, incidentsConformance, notificationsConformance],
  work: [jobsConformance, leasesConformance],
} satisfies Record<string, readonly Suite[]>;
