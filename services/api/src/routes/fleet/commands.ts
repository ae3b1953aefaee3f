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
        '`queued`: waiting for the terminal and, if the command can stop the vehicle, for a recent position. `sent`: on its way to the terminal, which has not answered yet. ' +
        '`acknowledged`: the terminal confirmed that it executed the command. `refused`: the terminal rejected the command, or a check before sending failed; see `reason`. `expired`: not sent in time. ' +
        '`unanswered`: sent, or possibly sent, and it is not known whether the terminal executed it. `cancelled`: withdrawn before it was sent.',
    }),
    reason: z
      .enum(COMMAND_REASONS)
      .nullable()
      .meta({
        description:
          '`superseded`: cancelled by a later command. `rights-lost`: the account that requested the command no longer has the right to do so. `too-fast`: the vehicle was too fast at the time of sending. ' +
          '`connection-lost`: the connection ended before an answer arrived.',
      }),
    answer: z.string().nullable().meta({ description: 'Answer of the terminal, if its protocol answers with text.' }),
    maxSpeedKmh: z.number().nullable().meta({
      description:
        'The command is sent only while the vehicle is not faster than this, in km/h. Null if the command cannot stop the vehicle.',
    }),
    byRule: z.boolean().meta({ description: 'Whether a notification rule sent the command.' }),
    createdAt: timeOut,
    changedAt: timeOut,
    expiresAt: timeOut.meta({ description: 'The command is not sent from this time on.' }),
    sentAt: timeOut.nullable(),
    finishedAt: timeOut.nullable(),
    createdBy: idOut.nullable().meta({
      description:
        'Account that requested the command, or that owns the rule. Null if the account was deleted or is not visible to the caller.',
    }),
    ruleId: idOut.nullable().meta({
      description: 'Notification rule that sent the command. Shown only to the owner of the rule and to operators.',
    }),
    eventId: idOut.nullable().meta({
      description: 'Event because of which the rule sent the command. Shown to the same accounts as `ruleId`.',
    }),
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
    protocol: z.string().nullable().meta({ description: 'Protocol of the terminal. Null if it is not known.' }),
    connected: z.boolean(),
    reason: z
      .enum(['no-terminal', 'protocol-unknown', 'no-commands'])
      .nullable()
      .meta({ description: 'Why `types` is empty.' }),
    types: z.array(
      z.strictObject({
        type: z.enum(COMMAND_TYPES),
        guarded: z.boolean().meta({
          description:
            'Whether the command can stop the vehicle. It then needs `confirm`, and a vehicle that is known to be slow.',
        }),
        guardedOutput: z.int().nullable().meta({
          description:
            'Number of the output that blocks the engine: a command that switches it on is guarded. Null if there is none.',
        }),
        how: z
          .string()
          .meta({ description: 'What is sent to the terminal, in the terms of its manufacturer. Markdown.' }),
        parameters: z.array(ParameterOut).meta({ description: 'Parameters of the command. All are required.' }),
      }),
    ),
    limits: z.strictObject({
      maxSpeedKmh: z.number().meta({
        description: 'Highest speed of the vehicle at which a guarded command is accepted and sent, in km/h.',
      }),
      positionMaxAgeSeconds: z.number(),
      defaultExpirySeconds: z.int(),
      maxExpirySeconds: z.int(),
      maxOpen: z.int().meta({ description: 'Maximum number of commands of a vehicle that are `queued` or `sent`.' }),
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
    summary: 'List the commands that the vehicle’s terminal supports and the caller may send.',
    description:
      'Commands are for operators, dealers, and users who were granted the service `commands`. For commands of type `text`, users need the service `command-text` as well. ' +
      'The supported commands depend on the protocol of the terminal.',
    params: byVehicle,
    answers: { 200: { description: 'The types of commands, with their parameters.', body: TypesOut } },
    problems: ['not-found', 'vehicle-suspended', 'forbidden'],
    async handle({ params }, { access }) {
      const commands = await access.vehicles.commands(params.id);
      return { status: 200, body: typesBody(await commands.types(), commands) };
    },
  }),
  get(BASE, {
    operationId: 'listCommands',
    scope: 'commands',
    summary: 'List the commands to the vehicle’s terminal, the newest first.',
    description: 'Commands of type `text` are shown only to callers who may send them.',
    params: byVehicle,
    query: z.object({
      ...paging,
      state: z.enum(COMMAND_STATES).optional().meta({ description: 'Return only commands in this state.' }),
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
    summary: 'Send a command to the vehicle’s terminal.',
    description:
      'The command is queued until the terminal is connected. It is sent at most once, and not after it has expired. The commands of a vehicle are sent one at a time, in the order in which they were requested, but a guarded command that waits for a recent position lets later ones pass. ' +
      'Guarded commands can stop the vehicle: `engine-block`, and an `output-set` that switches on the output that blocks the engine. They need `confirm`, and a recent position that shows that the vehicle is slow, ' +
      'both when they are requested and when they are sent. `engine-resume` cancels an `engine-block` that was not sent yet. `output-set` cancels an earlier `output-set` of the same output that was not sent yet.',
    params: byVehicle,
    body: orderIn({
      confirm: z.boolean().default(false).meta({
        description: 'Must be true for a guarded command: states that a person was asked and confirmed the command.',
      }),
      maxSpeedKmh: speedBound.optional().meta({
        description:
          'Only for guarded commands: the vehicle must not be faster than this, in km/h. Default and maximum: `ENGINE_BLOCK_MAX_KMH`.',
      }),
      expiresInSeconds: z.int().min(MIN_COMMAND_EXPIRY_SECONDS).max(MAX_COMMAND_EXPIRY_SECONDS).optional().meta({
        description:
          'Time after which an unsent command expires, in seconds. Default: `COMMAND_EXPIRY_HOURS`; maximum: `COMMAND_MAX_EXPIRY_HOURS`. `command-types` shows both in seconds.',
      }),
    }).meta({ id: 'NewCommand', examples: [{ type: 'output-set', parameters: { output: 2, on: true } } as never] }),
    answers: {
      201: {
        description: 'The command, which is queued for the terminal.',
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
    summary: 'Get a command with its current state.',
    params: byCommand,
    answers: { 200: { description: 'The command, with its state and the answer of the terminal.', body: CommandOut } },
    problems: ['not-found', 'vehicle-suspended', 'forbidden'],
    async handle({ params }, { access }) {
      const commands = await access.vehicles.commands(params.id);
      return { status: 200, body: commandBody(await commands.command(params.command_id)) };
    },
  }),
  remove(`${BASE}/{command_id}`, {
    operationId: 'cancelCommand',
    scope: 'commands',
    summary: 'Cancel a command that was not sent yet.',
    params: byCommand,
    answers: { 204: { description: 'The command is cancelled.' } },
    problems: ['not-found', 'vehicle-suspended', 'forbidden', 'conflict'],
    async handle({ params }, { access }) {
      await (await access.vehicles.commands(params.id)).cancel(params.command_id);
      return { status: 204 };
    },
  }),
];
