import { driverCodeOf, MAX_DRIVER_CODE } from '@outrider/domain';
import { z } from 'zod';
import { line } from '../fields/plain-fields.ts';

const MAX_CODES = 10;

/** All codes of a driver, as requests set them. */
export const driverCodes = z
  .array(
    line(MAX_DRIVER_CODE).refine(
      (text) => driverCodeOf(text) !== '',
      'It must be a code. A value of zeros alone means that there is no card.',
    ),
  )
  .max(MAX_CODES)
  .meta({
    description:
      'Codes of cards, keys and tags (iButton, RFID, driver card), as the terminal sends them. Upper or lower case, spaces, colons and dashes make no difference. A code is unique among the drivers of a dealer.',
  });
