import { type Clock, SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import { growthChannelOf } from './database.ts';
import type { WrittenRow } from './segment.ts';

/** Interval of checking the file on behalf of patient readers. */
const CHECK_EVERY_MS = 250;
/** Interval of checking for commits by another process, which can only be a command of the operator. */
const CHECK_OTHERS_EVERY_MS = 1000;

/** The part of a commit in one partition, as sent on the topic's channel. */
export interface Growing {
  partition: number;
  /** The written row, which readers take without a query; null when they have to read the file. */
  row: WrittenRow | null;
}

/** Notifies a partition's reader of growth; null: the reader has to read the file. */
export type OnGrown = (row: WrittenRow | null) => void;

interface Follower {
  partition: number;
  isPatient: boolean;
  onGrown: OnGrown;
}

interface FollowedTopic {
  followers: Set<Follower>;
  /** Open while an impatient reader follows the topic: each message on it wakes this thread. */
  channel: BroadcastChannel | null;
}

/**
 * Wakes the readers of a file when their partition grew. Each topic has a channel of its own, so that a commit wakes
 * only the threads that read the topic. A patient reader has no channel: the periodic check wakes it, and it takes all
 * new records together.
 */
export class Growth {
  readonly #path: string;
  readonly #hasChanged: () => boolean;
  readonly #clock: Clock;
  readonly #topics = new Map<string, FollowedTopic>();
  #checking: { timer: Timer; everyMs: number } | null = null;

  /** @param hasChanged whether anything was committed to the file since the last call */
  constructor(path: string, hasChanged: () => boolean, clock: Clock = SYSTEM_CLOCK) {
    this.#path = path;
    this.#hasChanged = hasChanged;
    this.#clock = clock;
  }

  /** @returns a function that stops following */
  follow(topic: string, partition: number, isPatient: boolean, onGrown: OnGrown): () => void {
    const followed = this.#topics.get(topic) ?? { followers: new Set(), channel: null };
    this.#topics.set(topic, followed);
    const follower: Follower = { partition, isPatient, onGrown };
    followed.followers.add(follower);
    if (!isPatient) followed.channel ??= this.#listen(topic, followed);
    this.#checkEvery(isPatient ? CHECK_EVERY_MS : CHECK_OTHERS_EVERY_MS);
    return () => this.#unfollow(topic, followed, follower);
  }

  /** Checks at the interval of the most demanding reader, until the last is gone. */
  #checkEvery(ms: number): void {
    if (this.#checking !== null && this.#checking.everyMs <= ms) return;
    this.#checking?.timer.cancel();
    this.#checking = { timer: this.#clock.every(ms, () => this.#check()), everyMs: ms };
  }

  #listen(topic: string, { followers }: FollowedTopic): BroadcastChannel {
    const channel = new BroadcastChannel(growthChannelOf(this.#path, topic));
    channel.unref();
    channel.onmessage = ({ data }) => {
      for (const growing of data as readonly Growing[])
        for (const { partition, isPatient, onGrown } of followers)
          if (!isPatient && growing.partition === partition) onGrown(growing.row);
    };
    return channel;
  }

  #unfollow(topic: string, followed: FollowedTopic, follower: Follower): void {
    if (!followed.followers.delete(follower)) return;
    if ([...followed.followers].every(({ isPatient }) => isPatient)) {
      followed.channel?.close();
      followed.channel = null;
    }
    if (followed.followers.size > 0) return;
    this.#topics.delete(topic);
    if (this.#topics.size > 0) return;
    this.#checking?.timer.cancel();
    this.#checking = null;
  }

  #check(): void {
    if (!this.#hasChanged()) return;
    for (const { followers } of this.#topics.values()) for (const { onGrown } of followers) onGrown(null);
  }
}
