/** Video codecs. */
export type VideoCodec = 'h264' | 'h265';

/** One unit of a picture's bitstream, without its start code: a view of the bytes in which it was found. */
export type NalUnit = Uint8Array;

/** Role of a unit, as far as a file needs it. */
export type NalRole =
  | 'parameters'
  /** Part of a picture from which decoding can begin. */
  | 'key-slice'
  | 'slice'
  | 'other';

const START_CODE = Buffer.from([0, 0, 1]);
/** Units of parameters by type: SPS and PPS; VPS, SPS and PPS. */
const PARAMETERS: Readonly<Record<VideoCodec, readonly number[]>> = { h264: [7, 8], h265: [32, 33, 34] };
export const SEQUENCE_PARAMETERS: Readonly<Record<VideoCodec, number>> = { h264: 7, h265: 33 };

/**
 * Splits a byte stream (Annex B of H.264 and H.265) into units: the bytes between start codes, without trailing zeros.
 */
export function splitNalUnits(bytes: Uint8Array): NalUnit[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const units: NalUnit[] = [];
  let start = buffer.indexOf(START_CODE);
  while (start !== -1) {
    const from = start + START_CODE.length;
    const next = buffer.indexOf(START_CODE, from);
    let to = next === -1 ? buffer.length : next;
    while (to > from && buffer[to - 1] === 0) to--;
    if (to > from) units.push(buffer.subarray(from, to));
    start = next;
  }
  return units;
}

/** Joins units to a byte stream, each after a start code of four bytes. */
export function joinNalUnits(units: readonly NalUnit[]): Buffer {
  const bytes = Buffer.alloc(units.reduce((sum, unit) => sum + 4 + unit.length, 0));
  let p = 0;
  for (const unit of units) {
    bytes[p + 3] = 1;
    bytes.set(unit, p + 4);
    p += 4 + unit.length;
  }
  return bytes;
}

/** Type number of a unit in the codec's standard. */
export function nalType(codec: VideoCodec, unit: NalUnit): number {
  const first = unit[0] ?? 0;
  return codec === 'h264' ? first & 0x1f : (first >> 1) & 0x3f;
}

export function nalRole(codec: VideoCodec, unit: NalUnit): NalRole {
  const type = nalType(codec, unit);
  if (PARAMETERS[codec].includes(type)) return 'parameters';
  if (codec === 'h264') return type === 5 ? 'key-slice' : type >= 1 && type <= 4 ? 'slice' : 'other';
  // 16 to 21 are pictures for random access.
  return type >= 16 && type <= 21 ? 'key-slice' : type <= 9 ? 'slice' : 'other';
}

/** Whether this slice begins a picture, rather than continuing one. */
export function beginsPicture(codec: VideoCodec, unit: NalUnit): boolean {
  // H.264: first_mb_in_slice is 0, which is coded as a single 1. H.265: first_slice_segment_in_pic_flag.
  return ((unit[codec === 'h264' ? 1 : 2] ?? 0) & 0x80) !== 0;
}
