import type { AttributeValue } from '@outrider/domain';

/** How an element is used, in addition to the attribute of its own name. */
export type ElementUse =
  /** The attribute `name`. */
  | 'attribute'
  /** A digital state. */
  | 'state'
  /** A field of the position. */
  | 'ignition'
  | 'odometer'
  | 'supply'
  | 'fuel'
  | 'alarm'
  /** Code of a driver's key. */
  | 'key'
  /** Code of the mobile operator: country and network. */
  | 'operator'
  /** A bit for each door. */
  | 'doors'
  /** Not used: it has no common name, or its meaning differs between models. */
  | 'raw';

/** An I/O element (AVL id) of some width, by the pages "Data Sending Parameters ID" of Teltonika's wiki. */
export interface Element {
  use: ElementUse;
  /** Name of the attribute, or of the field. */
  name: string;
  isSigned: boolean;
  /** The value is `raw * times / per`. */
  times: number;
  per: number;
  /** Raw values outside of this range are error codes. */
  from: number;
  to: number;
  /** Error codes within the range. */
  not: readonly number[];
}

interface Options {
  isSigned?: boolean;
  times?: number;
  per?: number;
  from?: number;
  to?: number;
  not?: readonly number[];
}

/** An element with its id and its width in bytes. */
export type Row = readonly [id: number, bytes: 1 | 2 | 4 | 8, element: Element];

function element(use: ElementUse, name: string, options: Options = {}): Element {
  return {
    use,
    name,
    isSigned: false,
    times: 1,
    per: 1,
    from: Number.NEGATIVE_INFINITY,
    to: Number.POSITIVE_INFINITY,
    not: [],
    ...options,
  };
}

const attribute = (name: string, options?: Options) => element('attribute', name, options);
const state = (name: string) => element('state', name);
const raw = element('raw', '');
const signed = element('raw', '', { isSigned: true });
const volts = (name: string) => attribute(name, { per: 1000 });
const percent = (name: string) => attribute(name, { to: 100 });
const level = (name: string) => attribute(name, { isSigned: true, from: 0 });
/** 1-Wire: a sensor sends 85.0 °C before its first measurement; codes from 2000 on are errors. */
const dallas = (n: number) =>
  attribute(`temperature${n}C`, { isSigned: true, per: 10, from: -550, to: 1150, not: [850] });
/** In steps of 0.01 °C; firmware before 03.28 sends errors as whole thousands. */
const bleTemperature = (n: number) =>
  attribute(`temperature${n}C`, { isSigned: true, per: 100, from: -4000, to: 12_500, not: [2000, 3000, 4000] });
const eyeTemperature = (n: number) =>
  attribute(`temperature${n}C`, { isSigned: true, per: 100, from: -4000, to: 12_500 });
const bleHumidity = (n: number) => attribute(`humidity${n}Percent`, { per: 10, to: 1000 });
const engineTemperature = attribute('engineTemperatureC', { isSigned: true, per: 10, from: -600, to: 1270 });
const litresTenths = attribute('fuelUsedL', { per: 10 });
const ofFuel = element('fuel', 'fuelL', { per: 10 });
const ofOdometer = element('odometer', 'odometerM');
const alarm = element('alarm', 'alarms');

const each = (ids: readonly number[], bytes: 1 | 2 | 4 | 8, make: (n: number) => Element, first = 1): Row[] =>
  ids.map((id, index) => [id, bytes, make(first + index)]);

/** Elements of all models. */
const EVERYWHERE: readonly Row[] = [
  ...each([1, 2, 3], 1, (n) => state(`input${n}`)),
  [9, 2, volts('analog1V')],
  [21, 1, attribute('gsmSignalPercent', { times: 20, to: 5 })],
  [66, 2, element('supply', 'supplyV', { per: 1000 })],
  [67, 2, volts('batteryV')],
  [78, 8, element('key', 'driverCode')],
  ...each([179, 180], 1, (n) => state(`output${n}`)),
  [182, 2, attribute('hdop', { per: 10 })],
  [205, 2, attribute('cellId')],
  [205, 4, attribute('cellId')],
  [206, 2, attribute('lac')],
  [239, 1, element('ignition', 'ignition')],
  [241, 4, element('operator', 'mcc')],
  [246, 1, alarm],
  [247, 1, alarm],
  [249, 1, alarm],
  [253, 1, alarm],
  [255, 1, alarm],
  [800, 4, element('supply', 'supplyV', { per: 1000 })],
  ...each([10_800, 10_801, 10_802, 10_803], 2, eyeTemperature, 9),
  ...each([10_804, 10_805, 10_806, 10_807], 1, (n) => percent(`humidity${n}Percent`), 5),
];

/** Elements of a CAN adapter (LVCAN200, ALLCAN300, CAN-CONTROL), on models other than FMB6xx. */
const CAN_ADAPTER: readonly Row[] = [
  [81, 1, attribute('canSpeedKmh')],
  [82, 1, percent('throttlePercent')],
  [83, 4, litresTenths],
  [84, 2, ofFuel],
  [85, 2, attribute('rpm')],
  [87, 4, attribute('canOdometerM')],
  [90, 2, element('doors', 'door')],
  [102, 4, attribute('engineHours', { per: 60 })],
  [115, 2, engineTemperature],
];

/** Trackers FMB, FMC, FMM and FMU other than FMB6xx. */
const FMB: readonly Row[] = [
  ...EVERYWHERE,
  ...CAN_ADAPTER,
  [6, 2, volts('analog2V')],
  [16, 4, ofOdometer],
  ...each([17, 18, 19], 2, () => signed),
  ...each([25, 26, 27, 28], 2, bleTemperature, 5),
  [30, 1, raw],
  [31, 1, raw],
  [32, 1, attribute('engineTemperatureC', { isSigned: true })],
  [33, 1, signed],
  [34, 2, raw],
  [36, 2, attribute('rpm')],
  [37, 1, attribute('canSpeedKmh')],
  [38, 1, signed],
  [39, 1, signed],
  [41, 1, percent('throttlePercent')],
  [47, 1, signed],
  [48, 1, percent('fuel1Percent')],
  [50, 1, raw],
  [53, 1, signed],
  [59, 2, signed],
  ...each([72, 73, 74, 75], 4, dallas),
  ...each([86, 104, 106, 108], 2, bleHumidity),
  [89, 1, percent('fuel1Percent')],
  [113, 1, percent('batteryPercent')],
  [141, 2, raw],
  [143, 2, raw],
  [151, 2, signed],
  [199, 4, raw],
  ...each([201, 203, 210, 212, 214], 2, (n) => level(`fuelLevel${n}`)),
  ...each([202, 204, 211, 213, 215], 1, () => signed),
  [236, 1, alarm],
  [252, 1, alarm],
  ...each([270, 273, 276, 279], 2, (n) => attribute(`fuelLevel${n}`), 6),
  [380, 1, state('output3')],
  [389, 4, attribute('canOdometerM', { times: 1000 })],
  [390, 4, ofFuel],
];

/** FMB930 sends a tenth of its external voltage. */
const FMB930: readonly Row[] = [...FMB, [66, 2, element('supply', 'supplyV', { per: 100 })]];

/** FMB640, FMB641, FMC640, FMM640, FMC650, FMM650. */
const FMB6: readonly Row[] = [
  ...EVERYWHERE,
  [4, 1, state('input4')],
  [6, 2, dallas(5)],
  [8, 2, dallas(6)],
  [10, 2, volts('analog2V')],
  [11, 2, volts('analog3V')],
  [14, 4, attribute('engineHours', { per: 60 })],
  [16, 4, attribute('canOdometerM')],
  [18, 2, raw],
  [25, 2, engineTemperature],
  [26, 2, raw],
  [27, 2, raw],
  [28, 2, raw],
  [30, 1, attribute('canSpeedKmh')],
  [31, 1, percent('throttlePercent')],
  [33, 4, litresTenths],
  [34, 2, ofFuel],
  [35, 2, attribute('rpm')],
  [36, 4, attribute('canOdometerM')],
  [37, 1, percent('fuel1Percent')],
  [48, 1, raw],
  [50, 1, state('output3')],
  [51, 1, state('output4')],
  [70, 2, attribute('deviceTemperatureC', { isSigned: true, per: 10 })],
  ...each([72, 73, 74, 75], 2, dallas),
  [80, 4, attribute('canSpeedKmh')],
  [81, 1, raw],
  [82, 1, raw],
  [84, 4, percent('throttlePercent')],
  [86, 4, attribute('fuelUsedL')],
  [87, 4, percent('fuel1Percent')],
  [88, 4, attribute('rpm')],
  [90, 2, raw],
  [104, 4, attribute('engineHours')],
  [108, 2, raw],
  [113, 4, signed],
  [127, 1, signed],
  [128, 2, signed],
  [141, 2, signed],
  [143, 2, element('doors', 'door')],
  [199, 4, raw],
  ...each([201, 203, 210, 212, 214], 2, (n) => level(`fuelLevel${n}`)),
  ...each([202, 204, 211, 213, 215], 1, () => signed),
  [216, 4, ofOdometer],
  ...each([224, 225], 2, () => signed),
  ...each([236, 237, 238], 2, () => signed),
  [245, 2, volts('analog4V')],
  [252, 1, raw],
  ...each([270, 273, 276, 279], 2, () => raw),
];

/** FM6300 and FMB630: as FMB640, with wider axle weights, and percentages in steps that the wiki leaves open. */
const FM63: readonly Row[] = [...FMB6, [31, 1, raw], [37, 1, raw], [102, 4, raw], [103, 4, raw]];

/** FM1100 to FM1125. */
const FM11: readonly Row[] = [
  ...EVERYWHERE,
  ...CAN_ADAPTER,
  [16, 4, ofOdometer],
  ...each([72, 73, 74, 75], 4, dallas),
  [89, 1, percent('fuel1Percent')],
  [199, 4, attribute('tripM')],
  [252, 1, raw],
];

/** FM36: Codec 8 with ids of its own; its temperatures have two bytes. */
const FM36: readonly Row[] = [
  ...EVERYWHERE,
  ...CAN_ADAPTER,
  [4, 1, state('input4')],
  [10, 2, volts('analog2V')],
  ...each([72, 73, 74, 75], 2, dallas),
  [89, 1, raw],
  [99, 4, ofOdometer],
  [104, 4, raw],
  [252, 1, raw],
];

/** Personal, asset and e-mobility trackers: TMT250, GH5200, TAT, TFT, TST. The wiki leaves the steps of BLE open. */
const TAT: readonly Row[] = [
  ...EVERYWHERE,
  [6, 2, volts('analog2V')],
  [16, 4, ofOdometer],
  ...each([17, 18, 19, 25, 26, 27, 28], 2, () => signed),
  ...each([72, 73, 74, 75], 4, dallas),
  ...each([86, 104, 106, 108], 2, () => raw),
  [113, 1, percent('batteryPercent')],
  [116, 1, state('charging')],
  [236, 1, alarm],
];

/** FTC92x and FTC96x. */
const FTC: readonly Row[] = [
  ...EVERYWHERE,
  [4, 1, raw],
  [9, 4, volts('analog1V')],
  [16, 4, ofOdometer],
  ...each([17, 18, 19], 2, () => signed),
  [70, 2, signed],
  [113, 1, percent('batteryPercent')],
  [252, 1, alarm],
];

export const FAMILIES = { FMB, FMB930, FMB6, FM63, FM11, FM36, TAT, FTC } as const satisfies Record<
  string,
  readonly Row[]
>;
export type Family = keyof typeof FAMILIES;

/** Elements with lower ids are found by array index. */
const LOW_IDS = 512;
const WIDTHS = [1, 2, 4, 8] as const;

/** The elements of one family. */
export class Elements {
  readonly #low: (Element | null)[] = new Array(LOW_IDS * WIDTHS.length).fill(null);
  readonly #high = new Map<number, Element>();
  readonly rows: readonly Row[];

  constructor(rows: readonly Row[]) {
    for (const [id, bytes, each] of rows) this.#set(id, WIDTHS.indexOf(bytes), each);
    // Later rows replace earlier ones.
    this.rows = [...new Map(rows.map((row) => [`${row[0]}/${row[1]}`, row])).values()].toSorted(
      (a, b) => a[0] - b[0] || a[1] - b[1],
    );
  }

  /** @param nth index of its width among 1, 2, 4 and 8 */
  of(id: number, nth: number): Element | null {
    return id < LOW_IDS
      ? (this.#low[nth * LOW_IDS + id] as Element | null)
      : (this.#high.get(id * WIDTHS.length + nth) ?? null);
  }

  #set(id: number, nth: number, each: Element): void {
    if (id < LOW_IDS) this.#low[nth * LOW_IDS + id] = each;
    else this.#high.set(id * WIDTHS.length + nth, each);
  }
}

/**
 * Elements of a terminal of unknown model: those with the same meaning in every family that has them in this width.
 * Fields of a position and alarms keep their meaning on FMB, the most common family. A false alarm is noticed and ends
 * once the model is set; a missing one is not noticed.
 */
const KEPT: readonly ElementUse[] = ['odometer', 'supply', 'fuel', 'alarm'];

function commonRows(): Row[] {
  const tables = Object.values(FAMILIES).map((rows) => new Elements(rows));
  const [fmb] = tables;
  const rows: Row[] = [];
  for (const [id, bytes] of new Elements(tables.flatMap((table) => table.rows)).rows) {
    const nth = WIDTHS.indexOf(bytes);
    const found = tables.map((table) => table.of(id, nth)).filter((each) => each !== null);
    const [first] = found as [Element, ...Element[]];
    const ofFmb = fmb?.of(id, nth) ?? null;
    const isSame = found.every((each) => JSON.stringify(each) === JSON.stringify(first));
    const isKept = ofFmb !== null && KEPT.includes(ofFmb.use);
    rows.push([id, bytes, isSame ? first : isKept ? ofFmb : ofFmb?.isSigned ? signed : raw]);
  }
  return rows;
}

export const COMMON = new Elements(commonRows());

/** Converts a raw value to its unit; null where it is an error code. */
export function inUnit({ times, per, from, to, not }: Element, rawValue: number): number | null {
  if (rawValue < from || rawValue > to || (not.length > 0 && not.includes(rawValue))) return null;
  // Dividing last keeps decimal steps exact.
  return (rawValue * times) / per;
}

const DOORS = [0x0100, 0x0200, 0x0400, 0x0800, 0x1000, 0x2000];

/** Front left, front right, rear left, rear right, hood, trunk. */
export function setDoors(attributes: Record<string, AttributeValue>, bits: number): void {
  for (const [index, bit] of DOORS.entries()) attributes[`door${index + 1}`] = (bits & bit) !== 0;
}

/** The first three digits are the country, the following two or three the network. */
export function setOperator(attributes: Record<string, AttributeValue>, code: number): void {
  if (code < 10_000 || code > 999_999) return;
  const networkDigits = code > 99_999 ? 1000 : 100;
  attributes.mcc = Math.floor(code / networkDigits);
  attributes.mnc = code % networkDigits;
}
