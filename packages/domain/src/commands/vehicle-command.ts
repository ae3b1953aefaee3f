import type { CommandId, EventId, NotificationRuleId, UserId, VehicleId } from '../ids.ts';
import { isoTime } from '../json.ts';
import type { ProtocolName } from '../position.ts';
import { hasScope, type Keyed } from '../resources/api-key.ts';
import type { User } from '../resources/user.ts';
import type { Vehicle } from '../resources/vehicle.ts';
import { type Caller, maySeeVehicle, type SeenVehicle } from '../rights.ts';
import type { VehicleStatus } from '../vehicle-status.ts';

/** What people and rules can ask of the terminal of a vehicle. `text` is sent as it is. */
export const COMMAND_TYPES = [
  'engine-block',
  'engine-resume',
  'output-set',
  'position-request',
  'interval-set',
  'reboot',
  'text',
] as const;
export type CommandType = (typeof COMMAND_TYPES)[number];

/** A command with what it needs to know. */
export type CommandOrder =
  | {
      type: 'engine-block' | 'engine-resume' | 'position-request' | 'reboot';
      parameters: Readonly<Record<string, never>>;
    }
  | { type: 'output-set'; parameters: { output: number; on: boolean } }
  | { type: 'interval-set'; parameters: { seconds: number } }
  | { type: 'text'; parameters: { text: string } };

/** A command that a rule sends to the terminal of the vehicle. Parameters that its type does not have are null. */
export interface RuleCommand {
  type: CommandType;
  output: number | null;
  on: boolean | null;
  seconds: number | null;
  text: string | null;
  /** Of a command that can stop the vehicle; null: what the settings allow. */
  maxSpeedKmh: number | null;
  /** Counted from the fix of the event: late data sends nothing. */
  expiresInSeconds: number;
}

/** As rules store it. */
export function ruleCommandOf(
  { type, parameters }: CommandOrder,
  more: Pick<RuleCommand, 'maxSpeedKmh' | 'expiresInSeconds'>,
): RuleCommand {
  const { output = null, on = null, seconds = null, text = null }: Partial<RuleCommand> = parameters;
  const { maxSpeedKmh, expiresInSeconds } = more;
  return { type, output, on, seconds, text, maxSpeedKmh, expiresInSeconds };
}

/** What {@link ruleCommandOf} was given. */
export function orderOfRule({ type, output, on, seconds, text }: RuleCommand): CommandOrder {
  switch (type) {
    case 'output-set':
      return { type, parameters: { output: output ?? 0, on: on ?? false } };
    case 'interval-set':
      return { type, parameters: { seconds: seconds ?? 0 } };
    case 'text':
      return { type, parameters: { text: text ?? '' } };
    default:
      return { type, parameters: {} };
  }
}

/** Inclusive. */
export interface NumberRange {
  min: number;
  max: number;
}

/** What a protocol can put into its terminals' words. */
export type CommandAbility = {
  /** What is sent, by the maker's words. Markdown. */
  how: string;
} & (
  | {
      type: 'engine-block';
      /** The output that it switches on; null where the engine has a command of its own. */
      output: number | null;
    }
  | { type: 'engine-resume' | 'position-request' | 'reboot' }
  | { type: 'output-set'; outputs: NumberRange }
  | { type: 'interval-set'; seconds: NumberRange }
  | { type: 'text'; maxCharacters: number }
);

/**
 * `queued`: it waits for the terminal, and where it is guarded for a fresh position. `sent`: it is on its way to the
 * terminal. `acknowledged`: the terminal answered that it did it. `refused`: the terminal did not want to, or a check
 * failed. `expired`: it was not sent in time. `unanswered`: it was, or may have been, sent, and nobody knows what
 * became of it. `cancelled`: somebody withdrew it before it was sent.
 */
export const COMMAND_STATES = [
  'queued',
  'sent',
  'acknowledged',
  'refused',
  'expired',
  'unanswered',
  'cancelled',
] as const;
export type CommandState = (typeof COMMAND_STATES)[number];

/** Why a command came to its end without success. */
export const COMMAND_REASONS = [
  'terminal-refused',
  'not-supported',
  'too-fast',
  'rights-lost',
  'too-many',
  'connection-lost',
  'no-answer',
  'vehicle-deleted',
] as const;
export type CommandReason = (typeof COMMAND_REASONS)[number];

/** A command to the terminal of a vehicle, and what became of it. */
export interface VehicleCommand {
  id: CommandId;
  vehicleId: VehicleId;
  order: CommandOrder;
  state: CommandState;
  reason: CommandReason | null;
  /** What the terminal answered, where its protocol answers with text. */
  answer: string | null;
  /** Guarded: the vehicle must not be faster when it is sent. Null: not guarded. */
  maxSpeedKmh: number | null;
  /** Whose right it needs. Null: the account is gone. */
  createdBy: UserId | null;
  /** The rule that sent it; null: a person did. */
  ruleId: NotificationRuleId | null;
  eventId: EventId | null;
  createdAtMs: number;
  changedAtMs: number;
  /** Not sent from then on. */
  expiresAtMs: number;
  sentAtMs: number | null;
  finishedAtMs: number | null;
}

const NEXT: Readonly<Record<CommandState, readonly CommandState[]>> = {
  queued: ['sent', 'refused', 'expired', 'cancelled'],
  // Queued again: where the gateway is sure that nothing was sent.
  sent: ['acknowledged', 'refused', 'unanswered', 'queued'],
  acknowledged: [],
  refused: [],
  expired: [],
  unanswered: [],
  cancelled: [],
};

/** May a command go from one state to another? */
export function commandMayBecome(from: CommandState, to: CommandState): boolean {
  return NEXT[from].includes(to);
}

/** Nothing more will become of a command in this state. */
export function isFinalCommand(state: CommandState): boolean {
  return NEXT[state].length === 0;
}

/**
 * Could the command stop a vehicle that moves? Then it needs a confirmation and a slow vehicle: the command that blocks
 * the engine, and the output that this command switches on.
 */
export function isGuarded(order: CommandOrder, abilities: readonly CommandAbility[]): boolean {
  if (order.type === 'engine-block') return true;
  if (order.type !== 'output-set' || !order.parameters.on) return false;
  return guardedOutput(abilities) === order.parameters.output;
}

/** The output that blocks the engine; null where none does. */
export function guardedOutput(abilities: readonly CommandAbility[]): number | null {
  const block = abilities.find((ability) => ability.type === 'engine-block');
  return block?.type === 'engine-block' ? block.output : null;
}

/** The services that a command needs beside the right to see its vehicle. */
export function mayCommand(caller: Pick<User, 'role' | 'blocked' | 'services'> & Keyed, type: CommandType): boolean {
  if (caller.blocked || !hasScope(caller, 'commands')) return false;
  if (caller.role !== 'user') return true;
  return caller.services.includes('commands') && (type !== 'text' || caller.services.includes('command-text'));
}

/** May the caller give this command to the vehicle's terminal, and see what became of it? */
export function mayCommandVehicle(
  caller: Caller & Pick<User, 'services'>,
  vehicle: SeenVehicle,
  type: CommandType,
): boolean {
  return mayCommand(caller, type) && maySeeVehicle(caller, vehicle);
}

/** What is wrong with a command for terminals of a protocol: where in its parameters, and what. Null: nothing. */
export function orderFault(
  order: CommandOrder,
  abilities: readonly CommandAbility[],
): { parameter: string | null; detail: string } | null {
  const ability = abilities.find(({ type }) => type === order.type);
  if (ability === undefined) {
    const known = abilities.map(({ type }) => type).join(', ');
    return { parameter: null, detail: `The vehicle’s terminal has no such command; it has: ${known || 'none'}.` };
  }
  if (order.type === 'output-set' && ability.type === 'output-set')
    return outside('output', order.parameters.output, ability.outputs);
  if (order.type === 'interval-set' && ability.type === 'interval-set')
    return outside('seconds', order.parameters.seconds, ability.seconds);
  if (order.type === 'text' && ability.type === 'text' && order.parameters.text.length > ability.maxCharacters)
    return { parameter: 'text', detail: `It may have ${ability.maxCharacters} characters.` };
  return null;
}

function outside(parameter: string, value: number, { min, max }: NumberRange) {
  return value >= min && value <= max ? null : { parameter, detail: `It must be from ${min} to ${max}.` };
}

/** Why a guarded command can't be sent now. */
export type UnsafeReason = { reason: 'too-fast'; speedKmh: number } | { reason: 'no-fresh-position' };

/**
 * Is the vehicle known to be slow? By its last record with a fix and a speed. The fix must not be older than the bound,
 * nor further in the future.
 *
 * @returns null where it is
 */
export function unsafeNow(
  status: Pick<VehicleStatus, 'record' | 'position'> | null,
  maxSpeedKmh: number,
  maxAgeMs: number,
  nowMs: number,
): UnsafeReason | null {
  const { record = null, position = null } = status ?? {};
  const fix = record?.valid && record.speedKmh !== null ? record : position;
  if (fix === null || fix.speedKmh === null || Math.abs(nowMs - fix.fixTimeMs) > maxAgeMs)
    return { reason: 'no-fresh-position' };
  return fix.speedKmh > maxSpeedKmh ? { reason: 'too-fast', speedKmh: fix.speedKmh } : null;
}

/** The protocol that the terminal of a vehicle speaks, by its connection, its data, or its profile; null: not known. */
export function protocolOfTerminal(
  vehicle: Pick<Vehicle, 'terminalId' | 'terminalAccess'>,
  connected: ProtocolName | null,
  seen: ProtocolName | null,
): ProtocolName | null {
  if (vehicle.terminalId === null) return null;
  const { protocol } = vehicle.terminalAccess;
  return connected ?? (protocol === 'learn' || protocol === 'any' ? seen : protocol);
}

/** Channel of the hub on which every change of a command is published, as {@link CommandNews}. */
export const VEHICLE_COMMAND_CHANNEL = 'vehicle-command';

/** A command that is new, or has another state. */
export interface CommandNews {
  command: VehicleCommand;
}

/** The command as all may see it who see its vehicle and may give such commands. */
export function vehicleCommandJson(command: VehicleCommand) {
  const { order, createdAtMs, changedAtMs, expiresAtMs, sentAtMs, finishedAtMs, ...fields } = command;
  return {
    id: fields.id,
    vehicleId: fields.vehicleId,
    type: order.type,
    parameters: order.parameters,
    state: fields.state,
    reason: fields.reason,
    answer: fields.answer,
    maxSpeedKmh: fields.maxSpeedKmh,
    byRule: fields.ruleId !== null,
    createdAt: isoTime(createdAtMs),
    changedAt: isoTime(changedAtMs),
    expiresAt: isoTime(expiresAtMs),
    sentAt: sentAtMs === null ? null : isoTime(sentAtMs),
    finishedAt: finishedAtMs === null ? null : isoTime(finishedAtMs),
  };
}
