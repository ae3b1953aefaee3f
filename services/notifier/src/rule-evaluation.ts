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

/** What is known of an event that was waited for. */
export interface LastedEvent {
  lastedMs: number;
  /** Code of the driver; undefined: that of the event as it began. */
  driverCode: string | undefined;
}

/** What a batch of events asks for. */
export interface Evaluation {
  drafts: NotificationDraft[];
  /** Events that have begun, and that rules notify of once they have lasted. */
  waiting: WaitingNotification[];
  /** Events that have ended, and that rules may wait for, as they ended. */
  ended: ReadonlyMap<EventId, FleetEvent>;
}

/** Which notifications events ask for, by all rules as they are defined. */
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
      help: 'Rules that events are evaluated by',
      registers: [context.metrics],
      collect() {
        this.set(book.size);
      },
    });
  }

  define(change: DefinitionChange): void {
    this.#book.apply(change);
  }

  /** Null: it was deleted. */
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
        // It would fail again however often it is tried.
        await this.#context.deadLetters.take(topic, partition, offset, event, error);
      }
    }
    this.#events.inc(records.length);
    return { drafts, waiting, ended };
  }

  /**
   * What is to be notified of events that have lasted for a time, each by its rule as it is now; null where it is
   * nothing.
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

  /** @param laterCode of the driver, as it became known after the event */
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
    // The age of its data when they arrived, however late it is evaluated. Events of earlier versions don't have that.
    const arrivedAtMs = event.receivedAtMs ?? this.#context.now();
    const happening = { event, arrivedAtMs };
    if (event.phase === 'begin') return this.#book.matches(happening, driver);
    const lastedMs = (event.endedAtMs ?? event.fixTimeMs) - event.startedAtMs;
    return this.#book.matches({ ...happening, lastedMs }, driver);
  }
}

/** An event as it began, judged by how it ended. */
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
