import type { AttributeValue, SensorFields } from '@outrider/domain';

/** A refrigerated body, and the temperature that its compressor maintains. */
export interface CargoPlan {
  setC: number;
  outsideC: number;
  /** Temperature at the beginning of the drive. */
  startC: number;
}

/** Current state, as plain data. */
export interface CargoState {
  cargoC: number;
  isCooling: boolean;
  /** Unix milliseconds up to which the rear is open. */
  openUntilMs: number;
}

const STEP_SECONDS = 5;
/**
 * Time constants of the temperature, open and closed: seconds until a third of the difference to the outside remains.
 */
const OPEN_SECONDS = 600;
const CLOSED_SECONDS = 40_000;
const COOLING_C_PER_SECOND = 0.02;
const BAND_C = 1;
/** Seconds of unloading, which vary between deliveries. */
const UNLOADING_SECONDS = [35, 90, 55];

export function newCargo({ startC }: CargoPlan): CargoState {
  return { cargoC: startC, isCooling: true, openUntilMs: 0 };
}

/** Opens the body at a stop. */
export function unload(state: CargoState, stop: number, fromMs: number, untilMs: number): void {
  const seconds = UNLOADING_SECONDS[stop % UNLOADING_SECONDS.length] as number;
  state.openUntilMs = Math.min(untilMs, fromMs + seconds * 1000);
}

/** Advances the state to a time in Unix milliseconds. */
export function passCargo({ setC, outsideC }: CargoPlan, state: CargoState, untilMs: number, seconds: number): void {
  for (let left = seconds; left > 0; left -= STEP_SECONDS) {
    const step = Math.min(left, STEP_SECONDS);
    const isOpen = untilMs - left * 1000 < state.openUntilMs;
    if (state.cargoC > setC + BAND_C) state.isCooling = true;
    else if (state.cargoC < setC - BAND_C) state.isCooling = false;
    if (isOpen) state.isCooling = false;
    const warming = (outsideC - state.cargoC) / (isOpen ? OPEN_SECONDS : CLOSED_SECONDS);
    state.cargoC += step * (warming - (state.isCooling ? COOLING_C_PER_SECOND : 0));
  }
}

/** The attributes that its terminal records. */
export function cargoAttributes(state: CargoState, atMs: number): Record<string, AttributeValue> {
  return {
    temperature1C: Math.round(state.cargoC * 10) / 10,
    input1: atMs < state.openUntilMs ? 1 : 0,
    input2: state.isCooling ? 1 : 0,
  };
}

const AS_IT_IS = {
  ...{ calibration: [], outside: 'extrapolate', validMin: null, validMax: null },
  ...{ onlyWithIgnition: false, smoothing: 1, thresholds: [] },
} satisfies Partial<SensorFields>;

/** The sensors of such a vehicle; more than three degrees above `setC` is too warm. */
export function cargoSensors({ setC }: Pick<CargoPlan, 'setC'>): SensorFields[] {
  const above = { condition: 'above', min: null } as const;
  return [
    {
      ...AS_IT_IS,
      ...{ name: 'Cargo temperature', kind: 'temperature', unit: '°C', source: 'temperature1C' },
      ...{ validMin: -60, validMax: 80, smoothing: 3 },
      thresholds: [{ ...above, max: setC + 3, hysteresis: 1, forSeconds: 20 }],
    },
    {
      ...AS_IT_IS,
      ...{ name: 'Rear door', kind: 'digital', unit: '', source: 'input1' },
      thresholds: [{ ...above, max: 0, hysteresis: 0, forSeconds: 60 }],
    },
    { ...AS_IT_IS, name: 'Compressor', kind: 'digital', unit: '', source: 'input2' },
  ];
}
