import { BitReader } from './bit-reader.ts';
import type { NalUnit, VideoCodec } from './nal-units.ts';

/** Picture format in a sequence parameter set. */
export interface PictureFormat {
  /** Size of the visible area, in pixels. */
  width: number;
  height: number;
  /** Profile and level, as RFC 6381 and the file formats of the codecs (ISO 14496-15) write them. */
  codecString: string;
}

/** Profiles of H.264 that contain a chroma format. */
const PROFILES_WITH_CHROMA = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];
/** Maximum width and height: a larger number is damaged. */
const MAX_SIDE = 16_384;

/**
 * Reads a sequence parameter set (H.264, 7.3.2.1.1; H.265, 7.3.2.2.1).
 *
 * @returns null if it is truncated or contains impossible values
 */
export function readPictureFormat(codec: VideoCodec, sps: NalUnit): PictureFormat | null {
  const format = codec === 'h264' ? readH264(sps) : readH265(sps);
  if (format === null) return null;
  const { width, height } = format;
  return width > 0 && height > 0 && width <= MAX_SIDE && height <= MAX_SIDE ? format : null;
}

function readH264(sps: NalUnit): PictureFormat | null {
  const bits = new BitReader(sps, 1);
  const profile = bits.bits(8);
  const constraints = bits.bits(8);
  const level = bits.bits(8);
  bits.unsigned();
  let chroma = 1;
  let separatePlanes = false;
  if (PROFILES_WITH_CHROMA.includes(profile)) {
    chroma = bits.unsigned();
    if (chroma === 3) separatePlanes = bits.flag();
    bits.unsigned();
    bits.unsigned();
    bits.skip(1);
    const scalingLists = bits.flag() ? (chroma === 3 ? 12 : 8) : 0;
    for (let i = 0; i < scalingLists; i++) {
      const reported = bits.flag();
      if (reported) skipScalingList(bits, i < 6 ? 16 : 64);
    }
  }
  bits.unsigned();
  const orderType = bits.unsigned();
  if (orderType === 0) bits.unsigned();
  else if (orderType === 1) {
    bits.skip(1);
    bits.signed();
    bits.signed();
    const cycle = bits.unsigned();
    for (let i = 0; i < cycle && !bits.exhausted; i++) bits.signed();
  }
  bits.unsigned();
  bits.skip(1);
  const widthInBlocks = bits.unsigned() + 1;
  const heightInUnits = bits.unsigned() + 1;
  const framesOnly = bits.flag();
  if (!framesOnly) bits.skip(1);
  bits.skip(1);
  const crop = readCrop(bits);
  if (bits.exhausted) return null;
  const cropUnitX = chroma === 0 || separatePlanes || chroma === 3 ? 1 : 2;
  const cropUnitY = (chroma === 1 && !separatePlanes ? 2 : 1) * (framesOnly ? 1 : 2);
  return {
    width: 16 * widthInBlocks - cropUnitX * (crop.left + crop.right),
    height: 16 * heightInUnits * (framesOnly ? 1 : 2) - cropUnitY * (crop.top + crop.bottom),
    codecString: `avc1.${hex(profile)}${hex(constraints)}${hex(level)}`,
  };
}

function skipScalingList(bits: BitReader, size: number): void {
  let last = 8;
  let next = 8;
  for (let i = 0; i < size && !bits.exhausted; i++) {
    if (next !== 0) next = (last + bits.signed() + 256) % 256;
    if (next !== 0) last = next;
  }
}

function readH265(sps: NalUnit): PictureFormat | null {
  const bits = new BitReader(sps, 2);
  bits.skip(4);
  const subLayers = bits.bits(3);
  bits.skip(1);
  const profileSpace = bits.bits(2);
  const highTier = bits.flag();
  const profile = bits.bits(5);
  let compatibility = 0;
  // The flags come from the lowest bit up.
  for (let i = 0; i < 32; i++) if (bits.flag()) compatibility += 2 ** i;
  const constraints = Array.from({ length: 6 }, () => bits.bits(8));
  const level = bits.bits(8);
  const layers = Array.from({ length: subLayers }, () => ({ profile: bits.flag(), level: bits.flag() }));
  if (subLayers > 0) bits.skip(2 * (8 - subLayers));
  for (const layer of layers) bits.skip((layer.profile ? 88 : 0) + (layer.level ? 8 : 0));
  bits.unsigned();
  const chroma = bits.unsigned();
  const separatePlanes = chroma === 3 && bits.flag();
  const codedWidth = bits.unsigned();
  const codedHeight = bits.unsigned();
  const crop = readCrop(bits);
  if (bits.exhausted) return null;
  const cropUnitX = (chroma === 1 || chroma === 2) && !separatePlanes ? 2 : 1;
  const cropUnitY = chroma === 1 && !separatePlanes ? 2 : 1;
  while (constraints.at(-1) === 0) constraints.pop();
  return {
    width: codedWidth - cropUnitX * (crop.left + crop.right),
    height: codedHeight - cropUnitY * (crop.top + crop.bottom),
    codecString: [
      'hvc1',
      `${['', 'A', 'B', 'C'][profileSpace]}${profile}`,
      compatibility.toString(16).toUpperCase(),
      `${highTier ? 'H' : 'L'}${level}`,
      ...constraints.map((byte) => byte.toString(16).toUpperCase()),
    ].join('.'),
  };
}

function readCrop(bits: BitReader): { left: number; right: number; top: number; bottom: number } {
  if (!bits.flag()) return { left: 0, right: 0, top: 0, bottom: 0 };
  const [left, right, top, bottom] = [bits.unsigned(), bits.unsigned(), bits.unsigned(), bits.unsigned()];
  return { left, right, top, bottom };
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}
