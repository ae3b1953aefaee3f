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

/** Archive queries that a trial needs. */
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
  /** Time at which the first event of vehicles in a time range began; null if none exists. */
  firstEventMs(question: {
    vehicleIds: readonly VehicleId[] | null;
    fromMs: number;
    toMs: number;
  }): Promise<number | null>;
}

/** Terms of a rule that affect a trial. */
export type TriedRule = Omit<RuleTerms, 'active'>;

/** Result of matching a rule against past events. */
export interface RuleTrial {
  fromMs: number;
  toMs: number;
  /** Begin of the first event in the examined time range; null if none exists. */
  firstEventAtMs: number | null;
  /** Number of examined event phases. */
  examined: number;
  /** False if there were too many events: only the newest were examined. */
  complete: boolean;
  /** Events that would have caused a notification, the newest first. */
  matched: FleetEvent[];
  /** Number of notifications per day in the rule's time zone; days without any are left out. */
  days: { date: string; count: number }[];
  /** Reasons why other events would not have caused one, each with its newest few events. */
  notMatched: { reason: Mismatch; count: number; examples: FleetEvent[] }[];
}

const WEEK_MS = 7 * 86_400_000;
const MAX_TRIED_EVENTS = 10_000;
const MAX_MATCHED_SHOWN = 1000;
const EXAMPLES = 3;
/** If there are more vehicles than this, events of all vehicles are queried and filtered afterwards. */
const MAX_ASKED_VEHICLES = 5000;

export interface RuleTrialSources {
  registry: Registry;
  directory: Directory;
  eventReport: Owned<EventReport>;
}

/** Matches rules against recent events. */
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

  /** As {@link ofDraft}, for a stored rule. */
  async ofStored(id: NotificationRuleId, nowMs: number): Promise<RuleTrial> {
    const rule = await this.#rules.stored(id);
    return this.#try(rule, this.#sources.directory.ownerOf(rule), nowMs);
  }

  /**
   * Matches a rule that is not stored, as if it were active, against the last week of events that its owner may see.
   * The archive does not hold the time of arrival, so the age of data is not judged.
   *
   * @param ruleId the stored rule that it would replace, whose owner is kept; null: it would belong to the caller
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

  /** Vehicles whose events can match the rule; null: query all, and filter afterwards. */
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

  /**
   * Whether an event may be examined. Events that the owner may not see are skipped without a reason, as are those
   * whose vehicle or geofence was deleted.
   */
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

/** The event as published in each phase that the rule selects. */
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

/** A finished event in its begin phase. Of that phase, the archive has only time and place. */
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
    throw badField('/driver', 'A rule that names drivers cannot require an unknown driver.');
}
