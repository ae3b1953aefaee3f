const SAMPLE_RATES = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350];
const HEADER_BYTES = 7;
/** Samples in a frame of AAC. */
export const AAC_FRAME_SAMPLES = 1024;

/** A frame of AAC with its header (ISO 14496-3, 1.A.2). */
export interface AdtsFrame {
  bytes: Uint8Array;
  sampleRate: number;
  channels: number;
  objectType: number;
}

/** The complete frames of a packet, which follow each other. */
export function splitAdts(bytes: Uint8Array): AdtsFrame[] {
  const frames: AdtsFrame[] = [];
  let p = 0;
  while (p + HEADER_BYTES <= bytes.length) {
    const at = (i: number) => bytes[p + i] as number;
    if (at(0) !== 0xff || (at(1) & 0xf6) !== 0xf0) break;
    const length = ((at(3) & 3) << 11) | (at(4) << 3) | (at(5) >> 5);
    const sampleRate = SAMPLE_RATES[(at(2) >> 2) & 0x0f];
    const channels = ((at(2) & 1) << 2) | (at(3) >> 6);
    if (sampleRate === undefined || channels === 0 || length <= HEADER_BYTES || p + length > bytes.length) break;
    frames.push({
      bytes: bytes.subarray(p, p + length),
      sampleRate,
      channels: channels === 7 ? 8 : channels,
      objectType: (at(2) >> 6) + 1,
    });
    p += length;
  }
  return frames;
}
