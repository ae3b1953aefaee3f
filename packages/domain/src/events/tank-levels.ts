import { number, optional } from './description.ts';

/** Fuel levels over a time range. A field is missing where the vehicle has no tank, or nothing was measured. */
export const TANK_LEVELS = {
  fuelStartL: optional(
    number({
      about: 'Litres in the tank when it began, where they are known.',
      column: 'level_before_l',
      since: 5,
    }),
  ),
  fuelEndL: optional(
    number({ about: 'Litres in the tank when it ended, where they are known.', column: 'level_after_l', since: 5 }),
  ),
  fuelUsedL: optional(
    number({
      about: 'Litres that the engine used, where they are known: by its counter, or by the levels.',
      since: 5,
    }),
  ),
};
