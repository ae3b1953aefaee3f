import {
  beginsPicture,
  type NalUnit,
  nalRole,
  nalType,
  SEQUENCE_PARAMETERS,
  splitNalUnits,
  type VideoCodec,
} from './nal-units.ts';

/** A picture in decoding order, with everything that belongs to it. */
export interface Picture {
  units: NalUnit[];
  timestampMs: number;
  /** Whether decoding can begin at this picture. */
  key: boolean;
  bidirectional: boolean;
  bytes: number;
}

/** A frame of video as a terminal sends it, in the form of Annex B. */
export interface VideoFrame {
  kind: 'key' | 'predicted' | 'bidirectional';
  timestampMs: number;
  data: Uint8Array;
}

/** Maximum number of remembered parameter sets: a valid stream has no more. */
const MAX_PARAMETERS = 16;
/** Maximum size of a picture that is assembled from pieces. */
const MAX_PICTURE_BYTES = 8 * 1024 * 1024;

/**
 * Assembles pictures from frames: terminals send a picture's slices together or one by one, and its parameter sets with
 * it or as a frame of their own. A picture is returned when the next one begins.
 */
export class PictureGatherer {
  readonly codec: VideoCodec;
  /** Number of frames without a unit of a bitstream. */
  unreadable = 0;
  #pending: Picture | null = null;
  /** Units that came without a picture: they belong to the next one. */
  #ahead: NalUnit[] = [];
  #aheadBytes = 0;
  #parameters = new Map<string, NalUnit>();

  constructor(codec: VideoCodec) {
    this.codec = codec;
  }

  /** All parameter sets that came up to now, each once. */
  get parameters(): NalUnit[] {
    return [...this.#parameters.values()];
  }

  /** The latest sequence parameter set. */
  get sequenceParameters(): NalUnit | null {
    const type = SEQUENCE_PARAMETERS[this.codec];
    return this.parameters.findLast((unit) => nalType(this.codec, unit) === type) ?? null;
  }

  /** @returns the previous picture, if this frame begins a new one */
  add(frame: VideoFrame): Picture | null {
    const units = splitNalUnits(frame.data);
    if (units.length === 0) {
      this.unreadable++;
      return null;
    }
    const bytes = units.reduce((sum, unit) => sum + unit.length, 0);
    for (const unit of units) if (nalRole(this.codec, unit) === 'parameters') this.#remember(unit);
    const slices = units.filter((unit) => nalRole(this.codec, unit).endsWith('slice'));
    const [first] = slices;
    if (first === undefined) {
      if (this.#aheadBytes + bytes <= MAX_PICTURE_BYTES) {
        this.#ahead.push(...units);
        this.#aheadBytes += bytes;
      }
      return null;
    }
    const key = slices.some((unit) => nalRole(this.codec, unit) === 'key-slice');
    const pending = this.#pending;
    const goesOn =
      pending !== null &&
      pending.timestampMs === frame.timestampMs &&
      !beginsPicture(this.codec, first) &&
      pending.bytes + bytes <= MAX_PICTURE_BYTES;
    if (goesOn) {
      pending.units.push(...units);
      pending.bytes += bytes;
      pending.key ||= key;
      return null;
    }
    this.#pending = {
      units: [...this.#ahead, ...units],
      timestampMs: frame.timestampMs,
      key,
      bidirectional: frame.kind === 'bidirectional',
      bytes: bytes + this.#aheadBytes,
    };
    this.#ahead = [];
    this.#aheadBytes = 0;
    return pending;
  }

  /** Ends the stream. @returns the last picture, if any */
  end(): Picture | null {
    const pending = this.#pending;
    this.#pending = null;
    return pending;
  }

  #remember(unit: NalUnit): void {
    const name = Buffer.from(unit).toString('latin1');
    // Inserted again, so that the map is ordered by the last occurrence.
    this.#parameters.delete(name);
    this.#parameters.set(name, Uint8Array.from(unit));
    if (this.#parameters.size > MAX_PARAMETERS)
      for (const oldest of this.#parameters.keys()) {
        this.#parameters.delete(oldest);
        break;
      }
  }
}
