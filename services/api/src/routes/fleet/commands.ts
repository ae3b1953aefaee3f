import type { CommandAccess, CommandTypes } from '@outrider/access';
import {
  COMMAND_REASONS,
  COMMAND_STATES,
  COMMAND_TYPES,
  type CommandAbility,
  type CommandId,
  guardedOutput,
  type VehicleCommand,
  vehicleCommandJson,
} from '@outrider/domain';
import { MAX_OPEN_COMMANDS_PER_VEHICLE } from '@outrider/registry';
import { z } from 'zod';
import {
  MAX_COMMAND_EXPIRY_SECONDS,
  MIN_COMMAND_EXPIRY_SECONDS,
  orderIn,
  speedBound,
} from '../../fields/command-fields.ts';
import { id, idOut, pageAsked, pageReply, paging, timeOut } from '../../fields/fields.ts';
import { pageOf } from '../../http/whole-list.ts';
import { callsOf, type Route } from '../../route.ts';
import { vehicleKey } from './vehicles.ts';

const { get, post, remove } = callsOf('Vehicles');

const BASE = '/api/v1/vehicles/{id}/commands';
const COMMAND_EXAMPLE = {
  id: '01961f3d-6fa2-7c3d-8e4f-7a8b9c0d1e2f',
  vehicleId: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
  type: 'output-set' as const,
  parameters: { output: 2, on: true },
  state: 'acknowledged' as const,
  reason: null,
  answer: 'DOUT2:1',
  maxSpeedKmh: null,
  byRule: false,
  createdAt: '2026-01-15T12:00:00.000Z',
  changedAt: '2026-01-15T12:00:02.500Z',
  expiresAt: '2026-01-16T12:00:00.000Z',
  sentAt: '2026-01-15T12:00:00.100Z',
  finishedAt: '2026-01-15T12:00:02.500Z',
  createdBy: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
  ruleId: null,
  eventId: null,
};
const CommandOut = z
  .strictObject({
    id: idOut,
    vehicleId: idOut,
    type: z.enum(COMMAND_TYPES),
    parameters: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    state: z.enum(COMMAND_STATES).meta({
      description:
        '`queued`: it waits for the terminal, and where it can stop the vehicle for a fresh position. `sent`: it is on its way to the terminal, which has not answered. ' +
        '`acknowledged`: the terminal answered that it did it. `refused`: the terminal refused, or a check before it was sent failed; see `reason`. `expired`: it was not sent in time. ' +
        '`unanswered`: it was, or may have been, sent, and whether the terminal did it is not known. `cancelled`: withdrawn before it was sent.',
    }),
    reason: z
      .enum(COMMAND_REASONS)
      .nullable()
      .meta({
        description:
          '`superseded`: a later command took it back. `rights-lost`: who asked for it may not do so any more. `too-fast`: the vehicle was not slow when it was to be sent. ' +
          '`connection-lost`: the connection ended before an answer.',
      }),
    answer: z
      .string()
      .nullable()
      .meta({ description: 'What the terminal answered, where its protocol answers with text.' }),
    maxSpeedKmh: z
      .number()
      .nullable()
      .meta({ description: 'It is sent only while the vehicle is not faster; null: it can’t stop the vehicle.' }),
    byRule: z.boolean().meta({ description: 'A notification rule sent it.' }),
    createdAt: timeOut,
    changedAt: timeOut,
    expiresAt: timeOut.meta({ description: 'It is not sent from then on.' }),
    sentAt: timeOut.nullable(),
    finishedAt: timeOut.nullable(),
    createdBy: idOut.nullable().meta({
      description: 'Who asked for it, or whose rule; null: an account that is gone, or that the caller may not see.',
    }),
    ruleId: idOut.nullable().meta({ description: 'Shown to the owner of the rule, and to operators.' }),
    eventId: idOut.nullable().meta({ description: 'Why the rule sent it; shown as `ruleId` is.' }),
  })
  .meta({ id: 'Command', examples: [COMMAND_EXAMPLE] });

const ParameterOut = z.strictObject({
  name: z.string(),
  type: z.enum(['integer', 'boolean', 'string']),
  minimum: z.number().nullable(),
  maximum: z.number().nullable(),
  maxLength: z.int().nullable(),
  unit: z.string().nullable(),
});
const TypesOut = z
  .strictObject({
    protocol: z.string().nullable().meta({ description: 'What the terminal speaks; null where it is not known.' }),
    connected: z.boolean(),
    reason: z
      .enum(['no-terminal', 'protocol-unknown', 'no-commands'])
      .nullable()
      .meta({ description: 'Why `types` is empty.' }),
    types: z.array(
      z.strictObject({
        type: z.enum(COMMAND_TYPES),
        guarded: z.boolean().meta({
          description: 'It can stop the vehicle: it needs `confirm`, and a vehicle that is known to be slow.',
        }),
        guardedOutput: z
          .int()
          .nullable()
          .meta({ description: 'The output that is guarded when it is switched on: it blocks the engine.' }),
        how: z.string().meta({ description: 'What is sent, in the maker’s words. Markdown.' }),
        parameters: z.array(ParameterOut).meta({ description: 'All are required.' }),
      }),
    ),
    limits: z.strictObject({
      maxSpeedKmh: z.number().meta({ description: 'Of guarded commands.' }),
      positionMaxAgeSeconds: z.number(),
      defaultExpirySeconds: z.int(),
      maxExpirySeconds: z.int(),
      maxOpen: z.int().meta({ description: 'Commands of a vehicle that wait or are under way.' }),
    }),
  })
  .meta({
    id: 'CommandTypes',
    examples: [
      {
        protocol: 'teltonika',
        connected: true,
        reason: null,
        types: [
          {
            type: 'output-set',
            guarded: false,
            guardedOutput: 1,
            how: 'Codec 12: `setdigout`',
            parameters: [
              { name: 'output', type: 'integer', minimum: 1, maximum: 2, maxLength: null, unit: null },
              { name: 'on', type: 'boolean', minimum: null, maximum: null, maxLength: null, unit: null },
            ],
          },
        ],
        limits: {
          maxSpeedKmh: 20,
          positionMaxAgeSeconds: 120,
          defaultExpirySeconds: 86_400,
          maxExpirySeconds: 604_800,
          maxOpen: MAX_OPEN_COMMANDS_PER_VEHICLE,
        },
      },
    ],
  });

function commandBody(command: VehicleCommand): z.output<typeof CommandOut> {
  const { createdBy, ruleId, eventId } = command;
  const shown = vehicleCommandJson(command);
  return { ...shown, parameters: { ...shown.parameters }, createdBy, ruleId, eventId };
}

function parametersOf(ability: CommandAbility): z.output<typeof ParameterOut>[] {
  const parameter = (name: string, type: 'integer' | 'boolean' | 'string') => ({
    ...{ name, type, minimum: null, maximum: null, maxLength: null, unit: null },
  });
  switch (ability.type) {
    case 'output-set': {
      const { min, max } = ability.outputs;
      return [{ ...parameter('output', 'integer'), minimum: min, maximum: max }, parameter('on', 'boolean')];
    }
    case 'interval-set': {
      const { min, max } = ability.seconds;
      return [{ ...parameter('seconds', 'integer'), minimum: min, maximum: max, unit: 's' }];
    }
    case 'text':
      return [{ ...parameter('text', 'string'), maxLength: ability.maxCharacters }];
    default:
      return [];
  }
}

function typesBody(
  { abilities, ...terminal }: CommandTypes,
  { config }: Pick<CommandAccess, 'config'>,
): z.output<typeof TypesOut> {
  return {
    ...terminal,
    types: abilities.map((ability) => ({
      type: ability.type,
      guarded: ability.type === 'engine-block',
      guardedOutput: ability.type === 'output-set' ? guardedOutput(abilities) : null,
      how: ability.how,
      parameters: parametersOf(ability),
    })),
    limits: {
      maxSpeedKmh: config.maxSpeedKmh,
      positionMaxAgeSeconds: config.positionMaxAgeMs / 1000,
      defaultExpirySeconds: config.defaultExpirySeconds,
      maxExpirySeconds: config.maxExpirySeconds,
      maxOpen: MAX_OPEN_COMMANDS_PER_VEHICLE,
    },
  };
}

const byVehicle = z.object({ id: vehicleKey });
const byCommand = z.object({ id: vehicleKey, command_id: id<CommandId>() });

export const commandRoutes: Route[] = [
  get('/api/v1/vehicles/{id}/command-types', {
    operationId: 'listCommandTypes',
    scope: 'commands',
    summary: 'What the vehicle’s terminal can be asked to do, and the caller may ask.',
    description:
      'Commands are for operators, dealers, and users who were granted the service `commands`; those of type `text` for users who were granted `command-text` as well. ' +
      'Which there are depends on the protocol of the terminal.',
    params: byVehicle,
    answers: { 200: { description: 'The types, with their parameters.', body: TypesOut } },
    problems: ['not-found', 'vehicle-suspended', 'forbidden'],
    async handle({ params }, { access }) {
      const commands = await access.vehicles.commands(params.id);
      return { status: 200, body: typesBody(await commands.types(), commands) };
    },
  }),
  get(BASE, {
    operationId: 'listCommands',
    scope: 'commands',
    summary: 'Commands to the vehicle’s terminal, the newest first.',
    description: 'Those of type `text` are shown to those who may send such.',
    params: byVehicle,
    query: z.object({
      ...paging,
      state: z.enum(COMMAND_STATES).optional().meta({ description: 'Only those in this state.' }),
    }),
    answers: { 200: pageOf(CommandOut) },
    problems: ['not-found', 'vehicle-suspended', 'forbidden'],
    async handle({ params, query }, { access }) {
      const asked = pageAsked(query);
      const commands = await access.vehicles.commands(params.id);
      return pageReply(await commands.commands(query.state, asked), commandBody);
    },
  }),
  post(BASE, {
    operationId: 'addCommand',
    scope: 'commands',
    summary: 'Ask the vehicle’s terminal to do something.',
    description:
      'The command is sent once the terminal is connected, and not after it expired. It is sent once at most, and one at a time for each vehicle, in the order in which they were asked for. ' +
      'A guarded command can stop the vehicle: `engine-block`, and `output-set` that switches on the output that blocks the engine. It needs `confirm`, and a fresh position that shows the vehicle to be slow, ' +
      'when it is asked for and when it is sent. `engine-resume` cancels an `engine-block` that was not sent, and `output-set` an earlier one of the same output.',
    params: byVehicle,
    body: orderIn({
      confirm: z
        .boolean()
        .default(false)
        .meta({ description: 'Must be true for a guarded command: somebody was asked, and is sure.' }),
      maxSpeedKmh: speedBound.optional().meta({
        description: 'Of a guarded command: the vehicle must not be faster. Default: `ENGINE_BLOCK_MAX_KMH`.',
      }),
      expiresInSeconds: z.int().min(MIN_COMMAND_EXPIRY_SECONDS).max(MAX_COMMAND_EXPIRY_SECONDS).optional().meta({
        description:
          'How long it may wait; default `COMMAND_EXPIRY_HOURS`, at most `COMMAND_MAX_EXPIRY_HOURS`, which `command-types` shows in seconds.',
      }),
    }).meta({ id: 'NewCommand', examples: [{ type: 'output-set', parameters: { output: 2, on: true } } as never] }),
    answers: {
      201: {
        description: 'The command, which waits for its terminal.',
        body: CommandOut,
        headers: { Location: 'URL of the command.' },
      },
    },
    problems: ['not-found', 'vehicle-suspended', 'forbidden', 'conflict', 'unsafe-command', 'too-many-commands'],
    async handle({ params, body }, { access, nowMs }) {
      const { confirm, maxSpeedKmh, expiresInSeconds, ...order } = body;
      const commands = await access.vehicles.commands(params.id);
      const command = await commands.add({ order, confirm, maxSpeedKmh, expiresInSeconds }, nowMs);
      return {
        status: 201,
        body: commandBody(command),
        headers: { location: `/api/v1/vehicles/${command.vehicleId}/commands/${command.id}` },
      };
    },
  }),
  get(`${BASE}/{command_id}`, {
    operationId: 'getCommand',
    scope: 'commands',
    summary: 'One command, and what became of it.',
    params: byCommand,
    answers: { 200: { description: 'The command, with its state and what the terminal answered.', body: CommandOut } },
    problems: ['not-found', 'vehicle-suspended', 'forbidden'],
    async handle({ params }, { access }) {
      const commands = await access.vehicles.commands(params.id);
      return { status: 200, body: commandBody(await commands.command(params.command_id)) };
    },
  }),
  remove(`${BASE}/{command_id}`, {
    operationId: 'cancelCommand',
    scope: 'commands',
    summary: 'Cancel a command that was not sent.',
    params: byCommand,
    answers: { 204: { description: 'The command is not sent any more.' } },
    problems: ['not-found', 'vehicle-suspended', 'forbidden', 'conflict'],
    async handle({ params }, { access }) {
      await (await access.vehicles.commands(params.id)).cancel(params.command_id);
      return { status: 204 };
    },
  }),
];
