import type { Directory, VideoProfile, VideoProfileId, VideoProtocol } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import type { Logger } from '@outrider/runtime';
import { sourceOf, type VideoDriver } from './driver.ts';

interface PresenceParts {
  registry: Pick<Registry, 'videoQueue' | 'videoProfiles'>;
  directory: Directory;
  drivers: ReadonlyMap<VideoProtocol, VideoDriver>;
  logger: Logger;
}

/** Tracks which video terminals are connected: saves it for the API and makes their waiting tasks due. */
export class Presence {
  readonly #parts: PresenceParts;
  readonly #onDue: () => void;
  readonly #online = new Map<VideoProfileId, boolean>();

  /** @param onDue called when waiting tasks were made due */
  constructor(parts: PresenceParts, onDue: () => void) {
    this.#parts = parts;
    this.#onDue = onDue;
  }

  /** A driver reports that a terminal connected or disconnected. */
  report(protocol: VideoProtocol, address: string, isOnline: boolean): void {
    const { directory, logger } = this.#parts;
    const profile = directory.videoProfileOfAddress(protocol, address);
    if (profile === undefined || directory.isOfAnotherVehicle(profile)) return;
    this.#save(profile, isOnline, isOnline).catch((error) => {
      // The next check saves it.
      this.#online.delete(profile.id);
      logger.error({ err: error, profile: profile.id }, 'presence of a video terminal not saved');
    });
  }

  /** Queries the drivers for all profiles, because reports may be lost. */
  async check(): Promise<void> {
    const { registry, directory, drivers } = this.#parts;
    const waiting = new Set((await registry.videoQueue.waitingForTerminal()).map(({ id }) => id));
    for (const profile of directory.videoProfiles.values()) {
      const driver = drivers.get(profile.protocol);
      if (driver === undefined) continue;
      const isOnline = !directory.isOfAnotherVehicle(profile) && (await driver.online(sourceOf(profile)));
      const known = this.#online.get(profile.id);
      if (known !== isOnline || (isOnline && waiting.has(profile.id)))
        await this.#save(profile, isOnline, known === false && isOnline);
    }
    for (const id of this.#online.keys()) if (!directory.videoProfiles.has(id)) this.#online.delete(id);
  }

  /**
   * @param cameBack whether the terminal has just connected: then tasks that back off become due as well. A terminal
   *   seen for the first time may have been connected before, so nothing has changed for such tasks.
   */
  async #save({ id }: VideoProfile, isOnline: boolean, cameBack: boolean): Promise<void> {
    const { registry, logger } = this.#parts;
    if (this.#online.get(id) !== isOnline) {
      this.#online.set(id, isOnline);
      await registry.videoProfiles.setPresence(id, isOnline);
      logger.debug({ profile: id, online: isOnline }, 'video terminal presence changed');
    }
    if (isOnline) {
      await registry.videoQueue.wake(id, cameBack ? 'all' : 'waiting-for-terminal');
      this.#onDue();
    }
  }
}
