import { driverCodeOf, type GroupId, MAX_DRIVER_CODE } from '@outrider/domain';
import { z } from 'zod';
import { CUSTOM_EXAMPLE } from './custom-fields.ts';
import { id, line } from './fields.ts';

const MAX_CODES = 10;

export const DRIVER_EXAMPLE = {
  id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d99',
  name: 'Anna Berg',
  codes: ['0100000F28F8E5'],
  phone: '+49 151 0000000',
  licenceNumber: 'B072RRE2I55',
  licenceExpiresOn: '2027-05-31',
  dealerId: null,
  groupIds: [],
  ...CUSTOM_EXAMPLE,
};

export const licenceDate = z.iso
  .date({ error: 'It must be a date such as 2027-05-31.' })
  .nullable()
  .meta({ description: 'The last day on which the licence is valid.' });

/** What is set of a driver. */
export const DRIVER_FIELDS = {
  name: line(100),
  codes: z
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
    }),
  phone: line(40).nullable(),
  licenceNumber: line(40).nullable(),
  licenceExpiresOn: licenceDate,
  groupIds: z.array(id<GroupId>()).max(1000).meta({ description: 'Users of these groups may see the driver.' }),
};
