import {
  alsoHarsh,
  asksForDriver,
  type Directory,
  type Driver,
  type FleetEvent,
  type GeofenceId,
  geofenceOf,
  type Happening,
  happenedAtMs,
  isLicenceRule,
  isTooSoon,
  licenceRuleFault,
  type Mismatch,
  mayReceive,
  maySeeVehicle,
  mismatchOf,
  type NotificationRule,
  type NotificationRuleId,
  type NotifiedEvent,
  namesVehicle,
  RULE_LISTS,
  type RuleTerms,
  subjectIdsOf,
  subjectIn,
  type User,
  type VehicleId,
} from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import { momentOf, whoDrove } from '../fleet/who-drove.ts';
import { type Owned, ownedArchive } from '../owned-archive.ts';
import { badField } from '../problem.ts';
import { RuleNames } from './rule-names.ts';
import { rulePlaces } from './rule-places.ts';

/** The archive, as far as a rule is tried on it. */
export interface EventReport {
  /**
   * The newest events that began in a time range, the newest first, each in its latest phase.
   *
   * @param question `vehicleIds`: at most {@link MAX_ASKED_VEHICLES}; null: of all vehicles
   */
  recentEvents(question: {
    vehicleIds: readonly VehicleId[] | null;
    kinds?: readonly string[];
    geofenceIds?: readonly GeofenceId[] | null;
    fromMs: number;
    toMs: number;
    limit: number;
  }): Promise<readonly FleetEvent[]>;
  /** When the first event of vehicles in a time range began; null without any. */
  firstEventMs(question: {
    vehicleIds: readonly VehicleId[] | null;
    fromMs: number;
    toMs: number;
  }): Promise<number | null>;
}

/** What of a rule a trial depends on. */
export type TriedRule = Omit<RuleTerms, 'active'>;

/** A rule held against what happened. */
export interface RuleTrial {
  fromMs: number;
  toMs: number;
  /** When the first event that could be looked at began; null without any. */
  firstEventAtMs: number | null;
  /** Phases of events that were looked at. */
  examined: number;
  /** False where there was more than could be looked at: the newest were. */
  complete: boolean;
  /** Events that it would have notified of, the newest first. */
  matched: FleetEvent[];
  /** How many it would have notified of, by the days of its time zone; days without any are missing. */
  days: { date: string; count: number }[];
  /** Why it would not have notified of the others, with the newest few for each reason. */
  notMatched: { reason: Mismatch; count: number; examples: FleetEvent[] }[];
}

const WEEK_MS = 7 * 86_400_000;
const MAX_TRIED_EVENTS = 10_000;
const MAX_MATCHED_SHOWN = 1000;
const EXAMPLES = 3;
/** With more vehicles than these, the events of all are asked for and those of others left out. */
const MAX_ASKED_VEHICLES = 5000;

export interface RuleTrialSources {
  registry: Registry;
  directory: Directory;
  eventReport: Owned<EventReport>;
}

/** Rules held against what happened lately. */
export class RuleTrials {
  readonly #caller: User;
  readonly #sources: RuleTrialSources;
  readonly #rules: { stored(id: NotificationRuleId): Promise<NotificationRule> };
  readonly #names: RuleNames;

  /** @param rules those that the caller may see */
  constructor(
    caller: User,
    sources: RuleTrialSources,
    rules: { stored(id: NotificationRuleId): Promise<NotificationRule> },
  ) {
    this.#caller = caller;
    this.#sources = sources;
    this.#rules = rules;
    this.#names = new RuleNames(caller, sources.directory);
  }

  /** As {@link ofDraft}, of a rule as it is stored. */
  async ofStored(id: NotificationRuleId, nowMs: number): Promise<RuleTrial> {
    const rule = await this.#rules.stored(id);
    return this.#try(rule, this.#sources.directory.ownerOf(rule), nowMs);
  }

  /**
   * Holds a rule that is not stored, as if it were active, against the last week of what its owner may see. When data
   * arrived is not in the archive, so its age is not judged.
   *
   * @param ruleId the stored rule that it would replace, whose owner stays; null: it would be the caller's
   */
  async ofDraft(draft: TriedRule, ruleId: NotificationRuleId | null, nowMs: number): Promise<RuleTrial> {
    const current = ruleId === null ? null : await this.#rules.stored(ruleId);
    for (const list of RULE_LISTS) this.#names.requireVisible(list, draft[list]);
    this.#names.requireSensors(draft.sensors, current?.sensors ?? null);
    requireSense(draft);
    return this.#try(draft, current === null ? this.#caller : this.#sources.directory.ownerOf(current), nowMs);
  }

  async #try(tried: TriedRule, owner: User | undefined, nowMs: number): Promise<RuleTrial> {
    const interval = { fromMs: nowMs - WEEK_MS, toMs: nowMs };
    const vehicleIds = owner === undefined ? [] : this.#triedVehicles(tried, owner);
    const empty = { ...interval, firstEventAtMs: null, examined: 0, complete: true, matched: [], days: [] };

    if (owner === undefined || vehicleIds?.length === 0 || isLicenceRule(tried)) return { ...empty, notMatched: [] };
    const eventReport = ownedArchive(this.#sources.eventReport, this.#caller);
    const { eventKinds, geofenceIds } = tried;
    const question = { ...interval, vehicleIds };
    const [events, firstEventAtMs] = await Promise.all([
      eventReport.recentEvents({ ...question, kinds: alsoHarsh(eventKinds), geofenceIds, limit: MAX_TRIED_EVENTS }),
      eventReport.firstEventMs(question),
    ]);
    const examined = events
      .filter((event) => this.#mayJudge(owner, event))
      .flatMap((event) => requestedPhases(event, tried, nowMs))
      .sort((a, b) => a.event.fixTimeMs - b.event.fixTimeMs);
    const matched: FleetEvent[] = [];
    const others = new Map<Mismatch, FleetEvent[]>();
    const last = new Map<VehicleId, number>();
    const drivers = asksForDriver(tried)
      ? await whoDrove(
          this.#sources,
          examined.map(({ event }) => momentOf(event)),
        )
      : [];
    for (const [nth, { event, lastedMs }] of examined.entries()) {
      const lastMs = last.get(event.vehicleId) ?? null;
      const happening = { event, lastedMs, arrivedAtMs: null };
      const reason = this.#mismatch(tried, owner, happening, drivers[nth] ?? null, lastMs);
      if (reason === null) {
        last.set(event.vehicleId, event.fixTimeMs);
        matched.push(event);
      } else others.set(reason, [...(others.get(reason) ?? []), event]);
    }
    const isCut = events.length >= MAX_TRIED_EVENTS;
    return {
      ...interval,
      firstEventAtMs: isCut ? (events.at(-1)?.startedAtMs ?? null) : firstEventAtMs,
      examined: examined.length,
      complete: !isCut && matched.length <= MAX_MATCHED_SHOWN,
      matched: matched.toReversed().slice(0, MAX_MATCHED_SHOWN),
      days: countedByDay(matched, tried.timeZone),
      notMatched: [...others].map(([reason, list]) => ({
        reason,
        count: list.length,
        examples: list.toReversed().slice(0, EXAMPLES),
      })),
    };
  }

  /** Vehicles whose events can matter to the rule; null: all there are, from which the others are left out. */
  #triedVehicles(tried: TriedRule, owner: User): VehicleId[] | null {
    const { vehicles } = this.#sources.directory;
    const named = [...vehicles.values()].filter(
      (vehicle) =>
        maySeeVehicle(owner, vehicle) &&
        maySeeVehicle(this.#caller, vehicle) &&
        namesVehicle(tried, vehicle.id, vehicle),
    );
    const isAll = named.length > MAX_ASKED_VEHICLES || (named.length > 0 && named.length === vehicles.size);
    return isAll ? null : named.map(({ id }) => id);
  }

  /** Events that the owner may not see give no reason either; nor do those whose vehicle or geofence was deleted. */
  #mayJudge(owner: User, event: FleetEvent): boolean {
    const subject = this.#subjectOf(event);
    if (subject.vehicle === undefined) return false;
    if (geofenceOf(event) !== null && subject.geofence === undefined) return false;
    return mayReceive(owner, subject) && mayReceive(this.#caller, subject);
  }

  #subjectOf(event: NotifiedEvent) {
    return subjectIn(this.#sources.directory, subjectIdsOf(event));
  }

  #mismatch(
    tried: TriedRule,
    owner: User,
    happening: Happening,
    driver: Driver | null,
    lastMs: number | null,
  ): Mismatch | null {
    const { event } = happening;
    const { vehicle, geofence, geofenceOwner } = this.#subjectOf(event);
    const context = {
      owner,
      vehicle: vehicle ?? null,
      geofence: geofence ?? null,
      geofenceOwner: geofenceOwner ?? null,
      placeOf: rulePlaces(this.#sources.directory, event),
      driver,
    };
    const reason = mismatchOf({ ...tried, active: true }, happening, context);
    return reason === null && isTooSoon(tried, lastMs, event) ? 'too-soon' : reason;
  }
}

/** The event as it was published in each phase that the rule asks for. */
function requestedPhases(
  event: FleetEvent,
  { phases }: Pick<NotificationRule, 'phases'>,
  nowMs: number,
): (Pick<Happening, 'event'> & { lastedMs: number })[] {
  const lastedMs = Math.max(0, (event.endedAtMs ?? nowMs) - event.startedAtMs);
  const occurrences: FleetEvent[] = [];
  if (phases.includes('begin')) occurrences.push(event.phase === 'begin' ? event : asBegun(event));
  if (phases.includes('end') && event.phase === 'end') occurrences.push(event);
  return occurrences.map((each) => ({ event: each, lastedMs }));
}

/** An event that has ended as it began: the archive keeps when and where that was, and nothing else of it. */
function asBegun(event: FleetEvent): FleetEvent {
  const { startLatitude: latitude, startLongitude: longitude } = event;
  const place = latitude === undefined || longitude === undefined ? {} : { latitude, longitude, speedKmh: null };
  return { ...event, ...place, phase: 'begin', endedAtMs: null, endReason: null, fixTimeMs: event.startedAtMs };
}

function countedByDay(events: readonly FleetEvent[], timeZone: string): RuleTrial['days'] {
  const dateOf = (event: FleetEvent) =>
    Temporal.Instant.fromEpochMilliseconds(Math.floor(happenedAtMs(event)))
      .toZonedDateTimeISO(timeZone)
      .toPlainDate()
      .toString();
  return [...Map.groupBy(events, dateOf)]
    .map(([date, { length }]) => ({ date, count: length }))
    .sort((a, b) => (a.date < b.date ? -1 : 1));
}

/** @throws {Problem} where conditions of the rule exclude each other */
export function requireSense(rule: TriedRule & Partial<Pick<NotificationRule, 'command'>>): void {
  const { driver, driverIds, driverGroupIds } = rule;
  const fault = licenceRuleFault(rule);
  if (fault !== null) throw badField(`/${fault.field}`, fault.reason);
  if (driver === 'unknown' && (driverIds !== null || driverGroupIds !== null))
    throw badField('/driver', 'A rule that names drivers is not of unknown ones.');
}
