import { type Directory, type DriverId, isoTime, type User, type UserId } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import {
  allRows,
  eventsOf,
  jsonRow,
  type Question,
  type ReportKind,
  type ReportSources,
  reportKind,
} from '@outrider/reports';
import { isOperator, rightToDriver, rightToUser } from '../rights.ts';

/** Kind of the jobs that export what is held about a person. */
export const PERSON_EXPORT = 'person-export';

/** The person whose data is exported. */
export type ExportedPerson = { subject: 'user'; id: UserId } | { subject: 'driver'; id: DriverId };

/**
 * Whether the caller may export the person's data. Accounts may export their own; dealers and operators also those that
 * they manage.
 */
export function mayExport(caller: User, person: ExportedPerson, directory: Directory): boolean {
  if (person.subject === 'driver') {
    const driver = directory.drivers.get(person.id);
    return rightToDriver(caller, driver) === 'write';
  }
  const user = directory.users.get(person.id);
  if (user === undefined) return false;
  return user.id === caller.id ? !caller.blocked : rightToUser(caller, user) === 'write';
}

/** Sources of an export. */
export interface ExportSources {
  registry: Pick<Registry, 'personalData'>;
  /** Limited to what the caller may see. */
  reports: ReportSources;
  vehicles: Question['vehicles'];
  nowMs: number;
  signal: AbortSignal;
}

/** Reports on a driver's trips and driving style. */
const DRIVER_REPORTS = ['drivers', 'trips', 'eco-driving'];
const MAX_ROWS = 10_000_000;

interface Rows {
  section: string;
  rows: readonly object[];
}

/**
 * All data held about a person as one JSON object, streamed in parts: it is never in memory as a whole.
 *
 * For another's account, a dealer does not get what only the account may see; those sections are named in `leftOut`.
 */
export async function* exportOf(caller: User, person: ExportedPerson, sources: ExportSources): AsyncGenerator<string> {
  const { personalData } = sources.registry;
  const withPrivate = person.subject === 'driver' || person.id === caller.id || isOperator(caller);
  const head = {
    format: 'outrider-personal-data',
    version: 1,
    exportedAt: isoTime(sources.nowMs),
    subject: { kind: person.subject, id: person.id },
    leftOut: withPrivate ? [] : personalData.privateSections,
  };
  yield `${JSON.stringify(head).slice(0, -1)},"data":{`;
  let section: string | null = null;
  let isFirst = true;
  const parts = person.subject === 'user' ? personalData.ofAccount(person.id, withPrivate) : driven(person.id, sources);
  for await (const { section: next, rows } of parts) {
    if (next !== section) {
      yield `${section === null ? '' : ']'}${section === null ? '' : ','}\n${JSON.stringify(next)}:[`;
      section = next;
      isFirst = true;
    }
    for (const row of rows) {
      yield `${isFirst ? '' : ','}\n${JSON.stringify(row)}`;
      isFirst = false;
    }
  }
  yield `${section === null ? '' : ']'}}}\n`;
}

async function* driven(id: DriverId, sources: ExportSources): AsyncGenerator<Rows> {
  yield* sources.registry.personalData.ofDriver(id);
  yield* shiftsOf(id, sources);
  for (const name of DRIVER_REPORTS) {
    const kind = reportKind(name);
    if (kind === undefined) throw new Error(`there is no report ${name}`);
    yield* rowsOf(kind, id, sources);
  }
}

async function* rowsOf(kind: ReportKind, id: DriverId, sources: ExportSources): AsyncGenerator<Rows> {
  const question: Question = {
    ...{ vehicles: sources.vehicles, fromMs: 0, toMs: sources.nowMs, timeZone: 'UTC', period: 'whole' },
    ...{ eventKinds: null, geofenceId: null, maxPoints: null, workHours: null, ecoWeights: null, sensors: null },
    ...{ driverIds: [id], nowMs: sources.nowMs, signal: sources.signal },
  };
  yield { section: kind.name, rows: [] };
  for await (const rows of allRows(kind, sources.reports, question, MAX_ROWS))
    yield { section: kind.name, rows: rows.map((row) => jsonRow(kind.columns, row)) };
}

/** Times at which the driver's codes were read, from the events of vehicles. */
async function* shiftsOf(id: DriverId, { reports, vehicles, nowMs, signal }: ExportSources): AsyncGenerator<Rows> {
  yield { section: 'shifts', rows: [] };
  const asked = { kinds: ['driver-shift'] as const, fromMs: 0, toMs: nowMs, signal };
  const ids = vehicles.map((vehicle) => vehicle.id);
  for await (const shifts of eventsOf(reports.archive, ids, asked)) {
    const drivers = await reports.driversAt(
      shifts.map(({ vehicleId, startedAtMs, driverCode }) => ({ vehicleId, atMs: startedAtMs, code: driverCode })),
    );
    const own = shifts.filter((_, nth) => drivers[nth]?.id === id);
    yield {
      section: 'shifts',
      rows: own.map(({ vehicleId, startedAtMs, endedAtMs, driverCode: code }) => ({
        ...{ vehicleId, code, startedAt: isoTime(startedAtMs) },
        endedAt: endedAtMs === null ? null : isoTime(endedAtMs),
      })),
    };
  }
}
