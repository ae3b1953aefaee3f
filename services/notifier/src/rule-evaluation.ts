import { type DriveSources, momentOf, whoDrove } from '@outrider/access';
import type { DeadLetterOffice } from '@outrider/backing';
import {
  asksForDriver,
  type DefinitionChange,
  type Directory,
  type Driver,
  type EventId,
  type FleetEvent,
  type Happening,
  minDurationMs,
  type NotificationRule,
  type NotificationRuleId,
} from '@outrider/domain';
import type { Batch, Topic } from '@outrider/log';
import type { NotificationDraft, WaitingNotification } from '@outrider/registry';
import { Counter, Gauge, type Metrics } from '@outrider/runtime';
import { type Match, RuleBook } from './rule-book.ts';

export interface RuleEvaluationContext {
  directory: Pick<Directory, 'geofences' | 'ownerOf'> & DriveSources['directory'];
  registry: DriveSources['registry'];
  deadLetters: Pick<DeadLetterOffice, 'take'>;
  metrics: Metrics;
  now(): number;
}

/** Duration and driver of an event that a rule waited for. */
export interface LastedEvent {
  lastedMs: number;
  /** Code of the driver; undefined: the code at the beginning of the event. */
  driverCode: string | undefined;
}

/** Result of evaluating a batch of events. */
export interface Evaluation {
  drafts: NotificationDraft[];
  /** Events that have begun, with the rules that notify of them once they have lasted long enough. */
  waiting: WaitingNotification[];
  /** Events that have ended and that rules may wait for, as of their end. */
  ended: ReadonlyMap<EventId, FleetEvent>;
}

/** Decides by all current rules which notifications events cause. */
export class RuleEvaluation {
  readonly #context: RuleEvaluationContext;
  readonly #book: RuleBook;
  readonly #events: Counter;

  constructor(context: RuleEvaluationContext) {
    const book = new RuleBook(context.directory);
    this.#book = book;
    this.#context = context;
    this.#events = new Counter({
      name: 'outrider_notification_events_total',
      help: 'Events evaluated by the notification rules',
      registers: [context.metrics],
    });
    new Gauge({
      name: 'outrider_notification_rules',
      help: 'Active notification rules',
      registers: [context.metrics],
      collect() {
        this.set(book.size);
      },
    });
  }

  define(change: DefinitionChange): void {
    this.#book.apply(change);
  }

  /** Null if the rule was deleted. */
  rule(id: NotificationRuleId): NotificationRule | null {
    return this.#book.rule(id);
  }

  async evaluate(consumer: string, topic: Topic<FleetEvent>, batch: Batch<FleetEvent>): Promise<Evaluation> {
    const { partition, records } = batch;
    const ended = new Map<EventId, FleetEvent>();
    if (this.#book.hasDurations)
      for (const { value } of records) if (value.endedAtMs !== null) ended.set(value.id, value);
    const drivers = await this.#driversOf(records.map(({ value }) => value).filter((e) => this.#book.needsDriver(e)));
    const ends = [...drivers.keys()].filter(({ id, phase }) => phase === 'begin' && ended.has(id));
    const driversAtEnd = await this.#driversOf(ends, ({ id }) => ended.get(id)?.driverCode);
    const drafts: NotificationDraft[] = [];
    const waiting: WaitingNotification[] = [];
    for (const { offset, value: event } of records) {
      try {
        for (const match of this.#matches(event, drivers.get(event) ?? null)) {
          const { rule, dueMs } = match;
          if (dueMs === null) drafts.push(draftOf(offset, event, match));
          else {
            const end = ended.get(event.id);
            if (end === undefined) waiting.push({ ruleId: rule.id, event, dueMs, consumer, partition });
            else if (this.#book.match(rule, happeningOf(event, end), driversAtEnd.get(event) ?? null))
              drafts.push(draftOf(offset, event, match, minDurationMs(rule)));
          }
        }
      } catch (error) {
        // Retrying is useless: the evaluation would fail again.
        await this.#context.deadLetters.take(topic, partition, offset, event, error);
      }
    }
    this.#events.inc(records.length);
    return { drafts, waiting, ended };
  }

  /**
   * Drafts for events that have lasted for a time, each by the current version of its rule; null if there is nothing to
   * notify of.
   */
  async waited(
    found: readonly WaitingNotification[],
    lasted: (each: WaitingNotification) => LastedEvent,
  ): Promise<(NotificationDraft | null)[]> {
    const asking = found.filter(({ ruleId }) => {
      const rule = this.#book.rule(ruleId);
      return rule !== null && asksForDriver(rule);
    });
    const codes = new Map(asking.map((each) => [each.event, lasted(each).driverCode]));
    const drivers = await this.#driversOf([...codes.keys()], (event) => codes.get(event));
    return found.map((each) => {
      const rule = this.#book.rule(each.ruleId);
      if (rule === null) return null;
      const happening = { event: each.event, arrivedAtMs: null, lastedMs: lasted(each).lastedMs };
      const match = this.#book.match(rule, happening, drivers.get(each.event) ?? null);
      return match && draftOf(0, each.event, match, minDurationMs(rule));
    });
  }

  /** @param laterCode code of the driver that became known after the event */
  async #driversOf(
    events: readonly FleetEvent[],
    laterCode: (event: FleetEvent) => string | undefined = () => undefined,
  ): Promise<Map<FleetEvent, Driver | null>> {
    if (events.length === 0) return new Map();
    const moments = events.map((event) => {
      const moment = momentOf(event);
      return { ...moment, code: laterCode(event) ?? moment.code };
    });
    const drivers = await whoDrove(this.#context, moments);
    return new Map(events.map((event, nth) => [event, drivers[nth] ?? null]));
  }

  #matches(event: FleetEvent, driver: Driver | null): Match[] {
    // The age of the data at its arrival, not at its evaluation. Events of earlier versions have no arrival time.
    const arrivedAtMs = event.receivedAtMs ?? this.#context.now();
    const happening = { event, arrivedAtMs };
    if (event.phase === 'begin') return this.#book.matches(happening, driver);
    const lastedMs = (event.endedAtMs ?? event.fixTimeMs) - event.startedAtMs;
    return this.#book.matches({ ...happening, lastedMs }, driver);
  }
}

/** An event at its beginning, with the duration known from its end. */
function happeningOf(event: FleetEvent, end: FleetEvent): Happening {
  return {
    event,
    arrivedAtMs: event.receivedAtMs ?? null,
    lastedMs: (end.endedAtMs ?? end.fixTimeMs) - event.startedAtMs,
  };
}

function draftOf(offset: number, event: FleetEvent, match: Match, lastedMs?: number): NotificationDraft {
  const { rule, vehicleName, geofenceName } = match;
  const draft = { offset, rule, event, vehicleName, geofenceName };
  return lastedMs === undefined ? draft : { ...draft, lastedMs };
}
