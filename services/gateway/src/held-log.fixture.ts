import type { DefinitionChange, TelemetryPacket } from '@outrider/domain';
import { Encoded, type Log, type Topic, telemetryTopic } from '@outrider/log';

/** A log whose writes become durable when the test says so. */
export class HeldLog implements Log {
  pendingBytes = 0;
  readonly waiting: { packets: TelemetryPacket[]; durable: () => void; refuse: (error: Error) => void }[] = [];
  readonly written: TelemetryPacket[] = [];
  #isHeld = true;
  #report: ((change: DefinitionChange) => void) | null = null;

  append<T>(topic: Topic<T>, records: readonly T[] | Encoded<T>): Promise<void> {
    const packets = Encoded.of(topic, records).values.map((value) => telemetryTopic.decode(value));
    if (!this.#isHeld) {
      this.written.push(...packets);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({
        packets,
        durable: () => {
          this.written.push(...packets);
          resolve();
        },
        refuse: reject,
      });
    });
  }
  /** From now on writes are durable at once, and so are those that wait. */
  letGo(): void {
    this.#isHeld = false;
    for (const { durable } of this.waiting.splice(0)) durable();
  }
  async consume(_topic: unknown, options: { onBatch(batch: unknown): Promise<void> }) {
    let offset = 0;
    this.#report = (value) => void options.onBatch({ partition: 0, records: [{ offset: offset++, value }] });
    return { stop: async () => {}, failed: new Promise<never>(() => {}) };
  }
  define(change: DefinitionChange): void {
    this.#report?.(change);
  }
  async endOffsets() {
    return new Map([[0, 0]]);
  }
  async *read(): AsyncGenerator<never> {}
  async close() {}
  async bounds() {
    return new Map([[0, { earliest: 0, end: 0 }]]);
  }
  async resume() {
    return { offset: 0, identity: 'held', discontinuity: null };
  }
  locate = this.resume;
  async offsetsAt() {
    return new Map([[0, 0]]);
  }
  async writtenAtMs() {
    return null;
  }
  release() {}
  async readers() {
    return [];
  }
  async behind() {
    return {};
  }
  readonly discontinuities = [];
  readonly holdUp = null;
  readonly replication = [];
}
