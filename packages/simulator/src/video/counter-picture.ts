import type { Picture } from './plain-h264.ts';

export const WIDTH = 160;
export const HEIGHT = 96;
/** Number of digits of the counter; it restarts at 0 after the highest number. */
export const DIGITS = 5;

const DARK = 40;
const BRIGHT = 210;
/** Pixels per dot of a digit, and dots per digit including the gap after it. */
const DOT = 8;
const DIGIT_DOTS = 4;
const TOP = 24;
/** Digit shapes: three dots by five, row by row from the top. */
const SHAPES = [
  0b111101101101111, 0b010110010010111, 0b111001111100111, 0b111001111001111, 0b101101111001001, 0b111100111001111,
  0b111100111101111, 0b111001001001001, 0b111101111101111, 0b111101111001111,
];
/** A colour for each channel, to distinguish them. */
const COLOURS: readonly (readonly [blue: number, red: number])[] = [
  [128, 128],
  [170, 100],
  [100, 170],
  [90, 90],
  [170, 170],
];

/** Draws a picture that shows a number in large digits, in the channel's colour. */
export function drawCounter(count: number, channel: number): Picture {
  const luma = new Uint8Array(WIDTH * HEIGHT).fill(DARK);
  const [blue = 128, red = 128] = COLOURS[channel % COLOURS.length] ?? [];
  const text = String(count % 10 ** DIGITS).padStart(DIGITS, '0');
  for (let digit = 0; digit < DIGITS; digit++)
    for (const { x, y, lit } of dots(Number(text[digit])))
      if (lit)
        for (let row = 0; row < DOT; row++) {
          const at = (TOP + y * DOT + row) * WIDTH + (digit * DIGIT_DOTS + x) * DOT;
          luma.fill(BRIGHT, at, at + DOT);
        }
  const quarter = (WIDTH * HEIGHT) / 4;
  return {
    width: WIDTH,
    height: HEIGHT,
    luma,
    blue: new Uint8Array(quarter).fill(blue),
    red: new Uint8Array(quarter).fill(red),
  };
}

/**
 * Reads the number from a decoded picture.
 *
 * @param luma one luma byte per pixel, row by row
 * @returns null where the picture shows no number
 */
export function readCounter(luma: Uint8Array): number | null {
  if (luma.length < WIDTH * HEIGHT) return null;
  let count = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    let shape = 0;
    for (let y = 0; y < 5; y++)
      for (let x = 0; x < 3; x++) {
        const at = (TOP + y * DOT + DOT / 2) * WIDTH + (digit * DIGIT_DOTS + x) * DOT + DOT / 2;
        shape = shape * 2 + ((luma[at] ?? 0) > (DARK + BRIGHT) / 2 ? 1 : 0);
      }
    const value = SHAPES.indexOf(shape);
    if (value === -1) return null;
    count = count * 10 + value;
  }
  return count;
}

function dots(digit: number): { x: number; y: number; lit: boolean }[] {
  const shape = SHAPES[digit] ?? 0;
  return Array.from({ length: 15 }, (_, i) => ({
    x: i % 3,
    y: Math.floor(i / 3),
    lit: ((shape >> (14 - i)) & 1) === 1,
  }));
}
