import { setImmediate as othersTurn } from 'node:timers/promises';
import type { FleetEvent, ProtocolName, TerminalId, VehicleId } from '@outrider/domain';
import type { HistoricEvent } from './correction.ts';
import type { HistoricPosition } from './history-run.ts';
import type { EventCursor, History, LateArrivalsQuestion, PositionCursor } from './recalculate-vehicle.ts';

/**
 * Archive queries about many vehicles at once: each question is about a different vehicle, and the answers have the
 * order of the questions.
 */
export interface ManyHistory extends History {
  haveLateArrivals(questions: readonly LateArrivalsQuestion[]): Promise<boolean[]>;
  startsOfLastFixes(questions: readonly Parameters<History['startOfLastFixes']>[0][]): Promise<(number | null)[]>;
  archivedEventsOfMany(
    questions: readonly { vehicleId: VehicleId; fromMs: number; throughMs: number; untilMs: number }[],
    limit: number,
  ): Promise<{ events: readonly HistoricEvent[]; next: EventCursor | null }[]>;
  judgedTracks(
    questions: readonly { vehicleId: VehicleId; fromMs: number; after: PositionCursor | null }[],
    limit: number,
  ): Promise<
    { positions: readonly Omit<HistoricPosition, 'terminalId' | 'protocol'>[]; next: PositionCursor | null }[]
  >;
}

/** Questions per statement: as many as the archive accepts. Fewer for tracks, because each returns many rows. */
const QUESTIONS_AT_ONCE = 100;
const TRACKS_AT_ONCE = 50;
/** Maximum positions per track in one answer: only the answers to one statement are held in memory. */
const PAGE_POSITIONS = 1500;
/** Placeholder: the terminal of a position does not matter. */
const NOBODY = { terminalId: '' as TerminalId, protocol: 'osmand' as ProtocolName };

/** A query that waits to be batched with others. */
interface Waiting<Question, Answer> {
  question: Question;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * Archive for recalculations that run concurrently. It batches their queries, and runs a batch once all of them wait
 * for an answer. So a fleet costs a few statements for each step that its vehicles take, not a few for each vehicle.
 *
 * Yields the thread between two answers.
 */
export class HistoryOfMany implements History {
  readonly #history: ManyHistory;
  readonly #kinds: { ask(): Promise<void> }[] = [];
  /** Number of running recalculations, and how many of them have a query that was not sent yet. */
  #running = 0;
  #unasked = 0;

  readonly hasLateArrivals: (question: LateArrivalsQuestion) => Promise<boolean>;
  readonly startOfLastFixes: History['startOfLastFixes'];
  readonly #events: (question: Parameters<History['archivedEvents']>[0]) => ReturnType<History['archivedEvents']>;
  readonly #tracks: (question: Parameters<History['track']>[0]) => ReturnType<History['track']>;
  readonly replaceEvents: History['replaceEvents'];

  constructor(history: ManyHistory) {
    this.#history = history;
    this.hasLateArrivals = this.#together(QUESTIONS_AT_ONCE, (questions) => history.haveLateArrivals(questions));
    this.startOfLastFixes = this.#together(QUESTIONS_AT_ONCE, (questions) => history.startsOfLastFixes(questions));
    this.#events = this.#together(QUESTIONS_AT_ONCE, (questions) =>
      history.archivedEventsOfMany(questions, Math.min(...questions.map(({ limit }) => limit))),
    );
    // Ordered by start: a track that begins long ago makes its statement read as much for the others.
    this.#tracks = this.#together(
      TRACKS_AT_ONCE,
      async (questions) => {
        const limit = Math.min(PAGE_POSITIONS, ...questions.map((question) => question.limit));
        const pages = await history.judgedTracks(questions, limit);
        return pages.map(({ positions, next }) => ({
          positions: positions.map((position) => ({ ...position, ...NOBODY })),
          next,
        }));
      },
      (a, b) => a.fromMs - b.fromMs,
    );
    this.replaceEvents = this.#together(QUESTIONS_AT_ONCE, async (replacements) => {
      const written: FleetEvent[] = [];
      const removed: FleetEvent[] = [];
      for (const each of replacements) {
        written.push(...each.written);
        removed.push(...each.removed);
      }
      await history.replaceEvents({
        number: replacements.reduce((most, { number }) => Math.max(most, number), 0),
        written,
        removed,
      });
      return replacements.map(() => undefined);
    });
  }

  track(question: Parameters<History['track']>[0]): ReturnType<History['track']> {
    // Batched queries have no end time.
    if (question.toMs === Number.POSITIVE_INFINITY) return this.#tracks(question);
    return this.#alone(() => this.#history.track(question));
  }

  archivedEvents(question: Parameters<History['archivedEvents']>[0]): ReturnType<History['archivedEvents']> {
    if (question.geofenceId === null && question.after === null) return this.#events(question);
    return this.#alone(() => this.#history.archivedEvents(question));
  }

  /** Runs recalculations concurrently, one vehicle each. All of them query this history. */
  async run<T>(recalculations: readonly (() => Promise<T>)[]): Promise<PromiseSettledResult<T>[]> {
    this.#running += recalculations.length;
    return Promise.allSettled(
      recalculations.map(async (recalculate) => {
        try {
          return await recalculate();
        } finally {
          this.#running--;
          this.#askIfAllWait();
        }
      }),
    );
  }

  /** Runs a query for one vehicle without batching. */
  async #alone<T>(ask: () => Promise<T>): Promise<T> {
    this.#running--;
    this.#askIfAllWait();
    try {
      return await ask();
    } finally {
      this.#running++;
    }
  }

  #together<Question, Answer>(
    atOnce: number,
    ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
    order: (a: Question, b: Question) => number = () => 0,
  ): (question: Question) => Promise<Answer> {
    let waiting: Waiting<Question, Answer>[] = [];
    const answer = async (some: readonly Waiting<Question, Answer>[]): Promise<void> => {
      let answers: readonly Answer[];
      try {
        answers = await ask(some.map(({ question }) => question));
      } catch (error) {
        if (some.length > 1 && isTooMuch(error)) {
          const half = some.length >> 1;
          await answer(some.slice(0, half));
          return answer(some.slice(half));
        }
        for (const { reject } of some) reject(error);
        return;
      }
      for (const [nth, { resolve }] of some.entries()) {
        resolve(answers[nth] as Answer);
        await othersTurn();
      }
    };
    this.#kinds.push({
      async ask() {
        const all = waiting.toSorted((a, b) => order(a.question, b.question));
        waiting = [];
        for (let at = 0; at < all.length; at += atOnce) await answer(all.slice(at, at + atOnce));
      },
    });
    return (question) =>
      new Promise((resolve, reject) => {
        waiting.push({ question, resolve, reject });
        this.#unasked++;
        this.#askIfAllWait();
      });
  }

  #askIfAllWait(): void {
    if (this.#unasked < this.#running || this.#unasked === 0) return;
    this.#unasked = 0;
    for (const kind of this.#kinds) void kind.ask();
  }
}

/** Whether the statement exceeded its limits. With fewer questions it needs less. */
function isTooMuch(error: unknown): boolean {
  return error instanceof Error && error.name === 'TooMuchError';
}
