import type { DriverLine } from '@outrider/access';
import { DRIVER_FIELDS, type Driver, driverCodeOf, EXTERNAL_ID } from '@outrider/domain';
import { presentCodes } from '@outrider/registry';
import { externalId } from '../fields/custom-fields.ts';
import { DRIVER } from '../fields/field-schemas.ts';
import { DefinitionCsv, ROUNDED, ROUNDED_DETAIL } from './definition-csv.ts';
import { driverCodes } from './driver-codes.ts';

/** Separates the codes in a cell, and likewise the groups. */
const SEPARATOR = '|';

export const DRIVER_CSV = new DefinitionCsv<Driver, DriverLine>({
  columns: [
    ...new Set(['id', 'name', 'codes', ...Object.keys(DRIVER_FIELDS)]),
    ...['dealerId', 'groups', 'externalId', 'customAttributes'],
  ],
  fields: { ...DRIVER_FIELDS, externalId: EXTERNAL_ID },
  schemas: { ...DRIVER.set, externalId },
  write: (driver) => ({ codes: presentCodes(driver).join(SEPARATOR) }),
  read({ codes: cell }, wrong) {
    if (cell === undefined) return {};
    const codes = cell
      .split(SEPARATOR)
      .map((code) => code.trim())
      .filter((code) => code !== '');
    const result = driverCodes.safeParse(codes);
    if (codes.some((code) => ROUNDED.test(code))) wrong('codes', ROUNDED_DETAIL);
    else if (result.success) return { fields: { codes: [...new Set(result.data.map(driverCodeOf))] } };
    else for (const { message } of result.error.issues) wrong('codes', message);
    return {};
  },
});
