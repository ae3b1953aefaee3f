import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const document = JSON.parse(readFileSync(join(import.meta.dirname, '../../../schemas/asyncapi.json'), 'utf8'));

const ajv = new Ajv2020({ strict: false, allErrors: true });
// The package is CommonJS: what its types call the default is the function itself.
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
ajv.addSchema({ $id: 'asyncapi', ...document }, 'asyncapi');

const compiled = new Map<string, ValidateFunction>();

/**
 * Holds a message of the live API against the AsyncAPI document.
 *
 * @throws {Error} when the document does not know such a message, or says otherwise of it
 */
export function holdAgainstLiveDocument(message: { type: string }): void {
  const { type } = message;
  if (document.components.messages[type] === undefined) throw new Error(`no message ${type} is described`);
  let validate = compiled.get(type);
  if (!validate) {
    validate = ajv.compile({ $ref: `asyncapi#/components/messages/${type}/payload` });
    compiled.set(type, validate);
  }
  if (!validate(message))
    throw new Error(`${JSON.stringify(message)} is not what is described: ${JSON.stringify(validate.errors)}`);
}
