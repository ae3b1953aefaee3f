import type { ListedVideoTask, LiveMessage } from '@outrider/client';
import { signal } from '@preact/signals';
import { PagedList } from '../../parts/lists/pages.ts';
import { api } from '../../session.ts';
import { isFinal } from './clips.ts';

const PAGE = 100;
/** New tasks arrive together: one for each channel. */
const GATHER_MS = 400;

export interface TaskFilter {
  profileId: string | null;
  status: ListedVideoTask['status'] | null;
}

type News = Extract<LiveMessage, { type: 'video-task' }>;

/** The tasks of a list, kept current by the live API. */
export class VideoTasks {
  readonly list: PagedList<ListedVideoTask>;
  /** Tasks with newer data than the list. */
  readonly #fresh = signal<ReadonlyMap<string, ListedVideoTask>>(new Map());
  /** Number of single requests for each task. */
  readonly #asked = new Map<string, number>();
  #reloadTimer: ReturnType<typeof setTimeout> | null = null;

  constructor({ profileId, status }: TaskFilter) {
    this.list = new PagedList((cursor, ending) =>
      api.get('/service/ovms/api/tasks', {
        query: {
          limit: PAGE,
          ...(profileId === null ? {} : { profileId }),
          ...(status === null ? {} : { status }),
          ...(cursor === undefined ? {} : { cursor }),
        },
        signal: ending,
      }),
    );
  }

  /** Null: loading. */
  get items(): readonly ListedVideoTask[] | null {
    const fresh = this.#fresh.value;
    return this.list.items.value?.map((task) => fresh.get(task.id) ?? task) ?? null;
  }

  async reload(): Promise<void> {
    const before = this.#fresh.peek();
    await this.list.reload();
    // Live data that arrived meanwhile may be newer than the loaded list.
    this.#fresh.value = new Map([...this.#fresh.peek()].filter(([id, task]) => before.get(id) !== task));
  }

  stop(): void {
    if (this.#reloadTimer !== null) clearTimeout(this.#reloadTimer);
    this.list.stop();
  }

  /** Applies a live message about a task. */
  take({ id, status, progress }: News): void {
    const known = this.items?.find((task) => task.id === id);
    if (known === undefined) this.#reloadSoon();
    else {
      this.put({ ...known, status: status as ListedVideoTask['status'], progress });
      // The message contains neither the reason nor the file, and does not report a deletion.
      if (known.status !== status || isFinal(known.status)) void this.refresh(id);
    }
  }

  put(task: ListedVideoTask): void {
    this.#fresh.value = new Map(this.#fresh.peek()).set(task.id, task);
  }

  async refresh(id: string): Promise<void> {
    const asked = (this.#asked.get(id) ?? 0) + 1;
    this.#asked.set(id, asked);
    try {
      const task = await api.get('/service/ovms/api/tasks/{task_id}', { path: { task_id: id } });
      // Responses may arrive out of order: only the latest request counts.
      if (this.#asked.get(id) === asked) this.put(task);
    } catch {
      this.#reloadSoon();
    }
  }

  #reloadSoon(): void {
    this.#reloadTimer ??= setTimeout(() => {
      this.#reloadTimer = null;
      void this.reload();
    }, GATHER_MS);
  }
}
