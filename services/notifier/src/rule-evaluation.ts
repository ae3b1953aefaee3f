import type { DeadLetterOffice } from '@outrider/backing';
import type { DefinitionChange, FleetEvent } from '@outrider/domain';
import type { Batch, Topic } from '@outrider/log';
import type { NotificationDraft } from '@outrider/registry';
import { Counter, Gauge, type Registry } from '@outrider/runtime';
import { RuleBook } from './rule-book.ts';

export interface RuleEvaluationContext {
  deadLetters: Pick<DeadLetterOffice, 'take'>;
  metrics: Registry;
  now(): number;
}

/** Which notifications events ask for, by all rules as they are defined. */
export class RuleEvaluation {
  readonly #context: RuleEvaluationContext;
  readonly #book = new RuleBook();
  readonly #events: Counter;

  constructor(context: RuleEvaluationContext) {
    const book = this.#book;
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

  async draftsOf(topic: Topic<FleetEvent>, { partition, records }: Batch<FleetEvent>): Promise<NotificationDraft[]> {
    const drafts: NotificationDraft[] = [];
    for (const { offset, value } of records) {
      try {
        drafts.push(...this.#drafts(offset, value));
      } catch (error) {
        // It would fail again however often it is tried.
        await this.#context.deadLetters.take(topic, partition, offset, value, error);
      }
    }
    this.#events.inc(records.length);
    return drafts;
  }

  #drafts(offset: number, event: FleetEvent): NotificationDraft[] {
    // The age of its data when they arrived, however late it is evaluated. Events of earlier versions don't have that.
    const arrivedAtMs = event.receivedAtMs ?? this.#context.now();
    return this.#book
      .matches({ event, arrivedAtMs })
      .map(({ rule, vehicleName, geofenceName }) => ({ offset, rule, event, vehicleName, geofenceName }));
  }
}
