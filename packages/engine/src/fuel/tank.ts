/** What a vehicle's profile says of its tank and of what its engine burns. */
export interface TankSettings {
  tankCapacityL: number;
  /** Null: 5 % of the tank, at least 10 l. */
  minRefuelL: number | null;
  /** Null: as `minRefuelL` by default. */
  minDrainL: number | null;
  /** Litres per 100 km. Null: not known. */
  fuelPer100KmL: number | null;
  /** Litres per hour with the engine running; where litres per 100 km are known too, only while it stands. */
  fuelPerHourL: number | null;
}

/** Settings as the detector counts: whole microlitres, whose sums are exact in whatever order. */
export interface Tank {
  capacityUl: number;
  minRefuelUl: number;
  minDrainUl: number;
  /** What the engine is expected to burn. */
  ulPerM: number;
  idlingUlPerMs: number;
  movingUlPerMs: number;
  /** The engine may burn more, or less, than is expected: by so many quarters of it. */
  tolerance: number;
}

export const UL_PER_L = 1_000_000;
const MS_PER_H = 3_600_000;
const DEFAULT_SHARE = 0.05;
const LEAST_DEFAULT_L = 10;
/** Where no norm is set, a vehicle is taken to burn what is common for one with such a tank. */
const COMMON_PER_100_KM = { baseL: 4, perTankL: 0.06 };
const COMMON_PER_HOUR = { baseL: 0.5, perTankL: 0.005 };
const TOLERANCE_OF_NORM = 1;
const TOLERANCE_OF_COMMON = 4;

export function defaultThresholdL(tankCapacityL: number): number {
  return Math.max(LEAST_DEFAULT_L, tankCapacityL * DEFAULT_SHARE);
}

export function tankOf(settings: TankSettings): Tank {
  const { tankCapacityL, minRefuelL, minDrainL, fuelPer100KmL, fuelPerHourL } = settings;
  const defaultL = defaultThresholdL(tankCapacityL);
  const isKnown = fuelPer100KmL !== null || fuelPerHourL !== null;
  // A machine that is known by the hour burns by the hour, wherever it goes.
  const per100KmL =
    fuelPer100KmL ?? (isKnown ? 0 : COMMON_PER_100_KM.baseL + COMMON_PER_100_KM.perTankL * tankCapacityL);
  const perHourL = fuelPerHourL ?? COMMON_PER_HOUR.baseL + COMMON_PER_HOUR.perTankL * tankCapacityL;
  return {
    capacityUl: tankCapacityL * UL_PER_L,
    minRefuelUl: Math.round((minRefuelL ?? defaultL) * UL_PER_L),
    minDrainUl: Math.round((minDrainL ?? defaultL) * UL_PER_L),
    ulPerM: (per100KmL * UL_PER_L) / 100_000,
    idlingUlPerMs: (perHourL * UL_PER_L) / MS_PER_H,
    movingUlPerMs: per100KmL === 0 ? (perHourL * UL_PER_L) / MS_PER_H : 0,
    tolerance: isKnown ? TOLERANCE_OF_NORM : TOLERANCE_OF_COMMON,
  };
}
