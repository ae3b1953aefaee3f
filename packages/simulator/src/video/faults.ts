/** Faults to inject into the transmission of a terminal. Packets are counted per playback, from 1. */
export interface VideoFaults {
  /** Every n-th packet is not sent. */
  loseEvery?: number;
  /** Every n-th packet is sent after its successor. */
  swapEvery?: number;
  /** Every n-th packet is truncated in the middle. */
  truncateEvery?: number;
  /** Every n-th packet is sent twice. */
  repeatEvery?: number;
  /** The connection is closed after this number of packets. */
  cutAfterPackets?: number;
  /** Sending stops after this number of packets, and the connection stays open. */
  stallAfterPackets?: number;
  /** Number of playbacks with the faults above, before the terminal works correctly; default all. */
  playbacks?: number;
  /** Commands are not answered. */
  mute?: boolean;
  /** Playbacks are answered with a failure. */
  refusesPlayback?: boolean;
  /** The media connection is left open after the last packet, until the server closes it. */
  keepsOpen?: boolean;
}

/** The next action on a playback's packets. */
export type Sending = { send: Buffer } | 'cut' | 'stall';

/** Injects faults into packets. Each packet has at most one fault. */
export function* withFaults(packets: Iterable<Buffer>, faults: VideoFaults): Generator<Sending> {
  const due = (every: number | undefined, count: number) => every !== undefined && count % every === 0;
  let count = 0;
  let held: Buffer | null = null;
  for (const packet of packets) {
    count++;
    const behind = held;
    held = null;
    if (due(faults.loseEvery, count)) {
      // A lost packet is not replaced.
    } else if (due(faults.truncateEvery, count)) yield { send: packet.subarray(0, packet.length >> 1) };
    else if (behind === null && due(faults.swapEvery, count)) held = packet;
    else {
      yield { send: packet };
      if (due(faults.repeatEvery, count)) yield { send: packet };
    }
    if (behind !== null) yield { send: behind };
    if (count === faults.cutAfterPackets) return yield 'cut';
    if (count === faults.stallAfterPackets) return yield 'stall';
  }
  if (held !== null) yield { send: held };
}
