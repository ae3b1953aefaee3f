import { type ReadonlySignal, type Signal, signal } from '@preact/signals';

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/**
 * A value that is loaded when it is first observed. After a failure the error stays. While the value is observed,
 * loading is retried after a second, then with doubled pauses of at most a minute.
 */
export class Loadable<T> {
  readonly #state: Signal<T | Error | null>;
  readonly #load: () => Promise<T>;
  readonly #onFailure: () => void;
  #loading: Promise<void> | null = null;
  #isWatched = false;
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;

  /** @param onFailure called after each failed attempt */
  constructor(load: () => Promise<T>, onFailure: () => void = () => {}) {
    this.#load = load;
    this.#onFailure = onFailure;
    this.#state = signal<T | Error | null>(null, {
      watched: () => {
        this.#isWatched = true;
        this.#again();
      },
      unwatched: () => {
        this.#isWatched = false;
        clearTimeout(this.#retry);
      },
    });
  }

  /** Null while it loads for the first time. */
  get state(): ReadonlySignal<T | Error | null> {
    return this.#state;
  }

  /** Starts loading in advance, unless it was started before. */
  begin(): void {
    if (this.#state.peek() === null) void this.#attempt();
  }

  /**
   * Loads the value, unless it is loaded.
   *
   * @throws the error of loading
   */
  async loaded(): Promise<T> {
    const known = this.#state.peek();
    if (known !== null && !(known instanceof Error)) return known;
    await this.#attempt();
    const now = this.#state.peek();
    if (now === null || now instanceof Error) throw now;
    return now;
  }

  /** Loads at once the first time, and after a failure when its pause is over. */
  #again(): void {
    if (this.#failures === 0) return this.begin();
    if (!(this.#state.peek() instanceof Error)) return;
    const delayMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.#failures - 1));
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#attempt(), delayMs);
  }

  #attempt(): Promise<void> {
    this.#loading ??= this.#try();
    return this.#loading;
  }

  async #try(): Promise<void> {
    try {
      this.#state.value = await this.#load();
    } catch (error) {
      this.#failures += 1;
      this.#state.value = error instanceof Error ? error : new Error(String(error));
      this.#onFailure();
    } finally {
      this.#loading = null;
    }
    if (this.#isWatched) this.#again();
  }
}
