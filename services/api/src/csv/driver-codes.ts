import { driverCodeOf, MAX_DRIVER_CODE } from '@outrider/domain';
import { z } from 'zod';
import { line } from '../fields/plain-fields.ts';

const MAX_CODES = 10;

/** All codes of a driver, as requests set them. */
export const driverCodes = z
  .array(
    line(MAX_DRIVER_CODE).refine(
      (text) => driverCodeOf(text) !== '',
      'It must be a code: zeros alone say that no card is there.',
    ),
  )
  .max(MAX_CODES)
  .meta({
    description:
      'Cards, keys and tags (iButton, RFID, driver card), each as the terminal sends it: upper or lower case, spaces, colons and dashes make no difference. Unique among the drivers of a dealer.',
  });
