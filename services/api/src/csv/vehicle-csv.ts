import type { VehicleLine } from '@outrider/access';
import { fieldsIn, type PlainField, VEHICLE_FIELDS, type Vehicle } from '@outrider/domain';
import { VEHICLE } from '../fields/field-schemas.ts';
import { accessOf, canShowSecret, TERMINAL_ACCESS_FIELDS, type TerminalAccessIn } from '../terminal-access.ts';
import { DefinitionCsv } from './definition-csv.ts';

const namesOf = (type: PlainField['type']) =>
  fieldsIn(VEHICLE_FIELDS).flatMap(([name, field]) => (field.type === type ? [name] : []));

/** Columns of a terminal's access settings, each with its field. Secrets are read but never written. */
const ACCESS = [
  ['terminalProtocol', 'protocol'],
  ['terminalNetworks', 'networks'],
  ['terminalSecret', 'secret'],
] as const;

export const VEHICLE_CSV = new DefinitionCsv<Vehicle, VehicleLine>({
  columns: [
    'id',
    ...namesOf('text'),
    ...['dealerId', 'groups', 'customAttributes'],
    ...namesOf('number'),
    ...ACCESS.map(([column]) => column),
  ],
  fields: VEHICLE_FIELDS,
  schemas: VEHICLE.set,
  digits: ['terminalId'],
  write: ({ terminalAccess }) => ({
    terminalProtocol: terminalAccess.protocol,
    terminalNetworks: terminalAccess.networks.join(' '),
  }),
  read(cells, wrong) {
    const said: TerminalAccessIn = {};
    for (const [column, field] of ACCESS) {
      const cell = cells[column];
      if (cell === undefined || cell === '') continue;
      const result = TERMINAL_ACCESS_FIELDS[field].safeParse(field === 'networks' ? cell.split(/\s+/) : cell);
      if (result.success) Object.assign(said, { [field]: result.data });
      else for (const { message } of result.error.issues) wrong(column, message);
    }
    if (said.secret && !canShowSecret(said.protocol)) {
      wrong('terminalSecret', `Terminals of the protocol ${said.protocol} cannot send a secret.`);
      delete said.secret;
    }
    return { access: accessOf(said) };
  },
});
