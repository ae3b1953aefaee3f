/** Settings of a vehicle's profile about its tank and its consumption. */
export interface TankSettings {
  tankCapacityL: number;
  /** Null: 5 % of the tank, at least 10 l. */
  minRefuelL: number | null;
  /** Null: as `minRefuelL` by default. */
  minDrainL: number | null;
  /** Litres per 100 km. Null: unknown. */
  fuelPer100KmL: number | null;
  /** Litres per hour with the engine running; where litres per 100 km are known too, only while it stands. */
  fuelPerHourL: number | null;
}

/** Settings in the detector's unit: whole microlitres, whose sums are exact in any order. */
export interface Tank {
  capacityUl: number;
  minRefuelUl: number;
  minDrainUl: number;
  /** Expected consumption of the engine. */
  ulPerM: number;
  idlingUlPerMs: number;
  movingUlPerMs: number;
  /** Deviation allowed from the expected consumption, in quarters of it. */
  tolerance: number;
}

export const UL_PER_L = 1_000_000;
const MS_PER_H = 3_600_000;
const DEFAULT_SHARE = 0.05;
const LEAST_DEFAULT_L = 10;
/** Default consumption: what is common for a vehicle with a tank of this size. */
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
  // A machine with a known hourly consumption burns by the hour, even while it moves.
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
