/** What goes wrong on a terminal's way, each on purpose. Counts are of packets of a playback, the first being 1. */
export interface VideoFaults {
  /** Each of so many packets is not sent. */
  loseEvery?: number;
  /** Each of so many packets is sent after the one behind it. */
  swapEvery?: number;
  /** Each of so many packets ends in its middle. */
  truncateEvery?: number;
  /** Each of so many packets is sent twice. */
  repeatEvery?: number;
  /** After so many packets the connection is cut. */
  cutAfterPackets?: number;
  /** After so many packets nothing more is sent, and the connection stays. */
  stallAfterPackets?: number;
  /** In how many playbacks the above goes wrong, before the terminal does as it should; default all. */
  playbacks?: number;
  /** Commands are not answered. */
  mute?: boolean;
  /** Playbacks are answered by a failure. */
  refusesPlayback?: boolean;
  /** The media connection is left open when all is sent, until the server ends it. */
  keepsOpen?: boolean;
}

/** The next thing to do with a playback's packets. */
export type Sending = { send: Buffer } | 'cut' | 'stall';

/** Packets as they go out, with what goes wrong. Each goes wrong in one way at most. */
export function* withFaults(packets: Iterable<Buffer>, faults: VideoFaults): Generator<Sending> {
  const due = (every: number | undefined, count: number) => every !== undefined && count % every === 0;
  let count = 0;
  let held: Buffer | null = null;
  for (const packet of packets) {
    count++;
    const behind = held;
    held = null;
    if (due(faults.loseEvery, count)) {
      // Nothing in its place.
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
