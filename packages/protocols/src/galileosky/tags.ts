/** Tags that the codec interprets. */
export const TAG = {
  imei: 0x03,
  recordNumber: 0x10,
  time: 0x20,
  milliseconds: 0x21,
  place: 0x30,
  speedAndCourse: 0x33,
  altitude: 0x34,
  hdop: 0x35,
  status: 0x40,
  supplyMv: 0x41,
  batteryMv: 0x42,
  deviceTemperature: 0x43,
  outputs: 0x45,
  inputs: 0x46,
  firstAnalog: 0x50,
  firstFuel: 0x60,
  firstFuelWithTemperature: 0x63,
  firstTemperature: 0x70,
  iButton: 0x90,
  canFuelUsed: 0xc0,
  canEngine: 0xc1,
  canOdometer: 0xc2,
  odometer: 0xd4,
  commandNumber: 0xe0,
  commandText: 0xe1,
} as const;

/** Bits of the status of the device. */
export const STATUS = { engineRuns: 1 << 9, armed: 1 << 14, alarm: 1 << 15 } as const;

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Content length of each tag in bytes, by the maker's list; null where the list lacks the tag. */
const LENGTHS: readonly (number | null)[] = (() => {
  const lengths = new Array<number | null>(256).fill(null);
  const byLength: readonly (readonly [bytes: number, tags: readonly number[]])[] = [
    [1, [0x01, 0x02, 0x35, 0x43, 0x49, ...range(0x88, 0x8c), ...range(0xa0, 0xaf), ...range(0xc4, 0xd2), 0xd5]],
    [2, [0x04, 0x10, 0x21, 0x34, 0x40, 0x41, 0x42, 0x45, 0x46, 0x48, ...range(0x50, 0x59), 0x60, 0x61, 0x62]],
    [2, [...range(0x70, 0x7f), ...range(0xb0, 0xb9), ...range(0xd6, 0xda)]],
    [3, [0x5d, 0xfa, ...range(0x63, 0x6f), ...range(0x80, 0x87)]],
    [4, [0x20, 0x33, 0x44, 0x47, 0x5a, 0x90, ...range(0xc0, 0xc3), 0xd3, 0xd4, ...range(0xdb, 0xdf), 0xe0]],
    [4, [...range(0xe2, 0xe9), ...range(0xf0, 0xf9)]],
    [8, [0xfd]],
    [9, [0x30]],
    [15, [0x03]],
    [68, [0x5c]],
  ];
  for (const [bytes, tags] of byLength) for (const tag of tags) lengths[tag] = bytes;
  return lengths;
})();

/** Tags whose content follows its length in one byte; that of extended tags follows a two-byte length. */
const WITH_LENGTH_U8 = new Set([0x5b, 0xe1, 0xea]);
const EXTENDED_TAGS = 0xfe;

/**
 * Location of the content of the tag at `at`; null where it is cut off, undefined for a tag that is not in the maker's
 * list.
 */
export function contentOf(
  tag: number,
  bytes: Buffer,
  at: number,
  end: number,
): { from: number; to: number } | null | undefined {
  let from = at;
  let length = LENGTHS[tag] ?? null;
  if (WITH_LENGTH_U8.has(tag)) {
    if (from >= end) return null;
    length = bytes[from] as number;
    from += 1;
  } else if (tag === EXTENDED_TAGS) {
    if (from + 2 > end) return null;
    length = bytes.readUInt16LE(from);
    from += 2;
  }
  if (length === null) return undefined;
  return from + length > end ? null : { from, to: from + length };
}
