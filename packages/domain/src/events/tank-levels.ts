import { number, optional } from './description.ts';

/** Fuel levels over a time range. A field is missing where the vehicle has no tank, or nothing was measured. */
export const TANK_LEVELS = {
  fuelStartL: optional(
    number({
      about: 'Litres in the tank at the start, if known.',
      column: 'level_before_l',
      since: 5,
    }),
  ),
  fuelEndL: optional(number({ about: 'Litres in the tank at the end, if known.', column: 'level_after_l', since: 5 })),
  fuelUsedL: optional(
    number({
      about: 'Litres used by the engine, if known: from its fuel counter, otherwise from the tank levels.',
      since: 5,
    }),
  ),
};
