import { z } from 'zod';

export const MIN_COMMAND_EXPIRY_SECONDS = 10;
/** Upper bound, whatever the settings allow. */
export const MAX_COMMAND_EXPIRY_SECONDS = 30 * 86_400;
/** Length of the longest text command of any protocol. */
const MAX_TEXT_CHARACTERS = 500;

const output = z.strictObject({ output: z.int().min(1).max(255), on: z.boolean() });
const interval = z.strictObject({ seconds: z.int().min(1).max(86_400) });
const text = z.strictObject({
  text: z
    .string()
    .min(1)
    .max(MAX_TEXT_CHARACTERS)
    .regex(/^[\x20-\x7e]*$/, 'It must contain only printable ASCII characters.')
    .meta({ description: 'Sent unchanged, within the text message of the protocol.' }),
});

/** A speed up to which an engine may be blocked. */
export const speedBound = z.number().min(0).max(100);

/** A command with its parameters, and further fields. */
export function orderIn<Fields extends z.ZodRawShape>(fields: Fields) {
  return z.discriminatedUnion('type', [
    z.strictObject({
      type: z.enum(['engine-block', 'engine-resume', 'position-request', 'reboot']),
      parameters: z.strictObject({}).default({}),
      ...fields,
    }),
    z.strictObject({ type: z.literal('output-set'), parameters: output, ...fields }),
    z.strictObject({ type: z.literal('interval-set'), parameters: interval, ...fields }),
    z.strictObject({ type: z.literal('text'), parameters: text, ...fields }),
  ]);
}
