import { growthChannelOf } from './database.ts';
import { Signal } from './subscription.ts';

/** Growth by another process, and of what only patient readers follow, is found by checking the file this often. */
const CHECK_EVERY_MS = 250;

/** The partitions of a topic that a commit appended to, as sent on the topic's channel. */
export type GrownPartitions = readonly number[];

interface Follower {
  partition: number;
  isPatient: boolean;
  grown: Signal;
}

interface FollowedTopic {
  followers: Set<Follower>;
  /** Open while a reader that is not patient follows the topic: a message on it wakes this thread. */
  channel: BroadcastChannel | null;
}

/**
 * Wakes the readers of a file when their partition grew. Each topic has a channel of its own, so that a commit wakes
 * only the threads that read the topic. A patient reader has none: it is woken by the check, and takes what came since
 * together.
 */
export class Growth {
  readonly #path: string;
  readonly #hasChanged: () => boolean;
  readonly #topics = new Map<string, FollowedTopic>();
  #checking: NodeJS.Timeout | null = null;

  /** @param hasChanged whether anything was committed to the file since the last call */
  constructor(path: string, hasChanged: () => boolean) {
    this.#path = path;
    this.#hasChanged = hasChanged;
  }

  /** @returns what is raised when the partition grew, and what ends that */
  follow(topic: string, partition: number, isPatient: boolean): { grown: Signal; stop: () => void } {
    const followed = this.#topics.get(topic) ?? { followers: new Set(), channel: null };
    this.#topics.set(topic, followed);
    const follower: Follower = { partition, isPatient, grown: new Signal() };
    followed.followers.add(follower);
    if (!isPatient) followed.channel ??= this.#listen(topic, followed);
    this.#checking ??= setInterval(() => this.#check(), CHECK_EVERY_MS);
    return { grown: follower.grown, stop: () => this.#unfollow(topic, followed, follower) };
  }

  #listen(topic: string, { followers }: FollowedTopic): BroadcastChannel {
    const channel = new BroadcastChannel(growthChannelOf(this.#path, topic));
    channel.unref();
    channel.onmessage = ({ data }) => {
      for (const { partition, isPatient, grown } of followers)
        if (!isPatient && (data as GrownPartitions).includes(partition)) grown.raise();
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
    if (this.#topics.size > 0 || !this.#checking) return;
    clearInterval(this.#checking);
    this.#checking = null;
  }

  #check(): void {
    if (!this.#hasChanged()) return;
    for (const { followers } of this.#topics.values()) for (const { grown } of followers) grown.raise();
  }
}
