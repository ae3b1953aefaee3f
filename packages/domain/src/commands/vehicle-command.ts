import type { CommandId, EventId, NotificationRuleId, UserId, VehicleId } from '../ids.ts';
import { isoTime } from '../json.ts';
import type { ProtocolName } from '../position.ts';
import { hasScope, type Keyed } from '../resources/api-key.ts';
import type { User } from '../resources/user.ts';
import type { Vehicle } from '../resources/vehicle.ts';
import { type Caller, maySeeVehicle, type SeenVehicle } from '../rights.ts';
import type { VehicleStatus } from '../vehicle-status.ts';

/** Commands that people and rules can send to the terminal of a vehicle. `text` is sent unchanged. */
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

/** A command with its parameters. */
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
  /** For a command that can stop the vehicle; null: the limit of the settings applies. */
  maxSpeedKmh: number | null;
  /** Counted from the fix of the event, so that late data sends nothing. */
  expiresInSeconds: number;
}

/** The command in the form in which rules store it. */
export function ruleCommandOf(
  { type, parameters }: CommandOrder,
  more: Pick<RuleCommand, 'maxSpeedKmh' | 'expiresInSeconds'>,
): RuleCommand {
  const { output = null, on = null, seconds = null, text = null }: Partial<RuleCommand> = parameters;
  const { maxSpeedKmh, expiresInSeconds } = more;
  return { type, output, on, seconds, text, maxSpeedKmh, expiresInSeconds };
}

/** Inverse of {@link ruleCommandOf}. */
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

/** A command that a protocol can encode for its terminals. */
export type CommandAbility = {
  /** What is sent, in the maker's terms. Markdown. */
  how: string;
} & (
  | {
      type: 'engine-block';
      /** The output that the command switches on; null where the terminal has a separate command for the engine. */
      output: number | null;
    }
  | { type: 'engine-resume' | 'position-request' | 'reboot' }
  | { type: 'output-set'; outputs: NumberRange }
  | { type: 'interval-set'; seconds: NumberRange }
  | { type: 'text'; maxCharacters: number }
);

/**
 * `queued`: waits for the terminal and, where it is guarded, for a fresh position. `sent`: on its way to the terminal.
 * `acknowledged`: the terminal confirmed that it executed the command. `refused`: the terminal rejected it, or a check
 * failed. `expired`: it was not sent in time. `unanswered`: it was or may have been sent, and its result is unknown.
 * `cancelled`: withdrawn before it was sent.
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

/** Reason why a command ended without success. */
export const COMMAND_REASONS = [
  'terminal-refused',
  'not-supported',
  'too-fast',
  'rights-lost',
  'too-many',
  'connection-lost',
  'no-answer',
  'superseded',
  'vehicle-deleted',
] as const;
export type CommandReason = (typeof COMMAND_REASONS)[number];

/** A command to the terminal of a vehicle, with its state and result. */
export interface VehicleCommand {
  id: CommandId;
  vehicleId: VehicleId;
  order: CommandOrder;
  state: CommandState;
  reason: CommandReason | null;
  /** Response text of the terminal, where its protocol has one. */
  answer: string | null;
  /** Highest speed at which the command is sent. Null: the command is not guarded. */
  maxSpeedKmh: number | null;
  /** The account whose rights the command needs. Null: the account was deleted. */
  createdBy: UserId | null;
  /** The rule that sent the command; null: a person sent it. */
  ruleId: NotificationRuleId | null;
  eventId: EventId | null;
  createdAtMs: number;
  changedAtMs: number;
  /** The command is not sent from this time on. */
  expiresAtMs: number;
  sentAtMs: number | null;
  finishedAtMs: number | null;
}

const NEXT: Readonly<Record<CommandState, readonly CommandState[]>> = {
  queued: ['sent', 'refused', 'expired', 'cancelled'],
  // `queued` again where the gateway knows that nothing was sent.
  sent: ['acknowledged', 'refused', 'unanswered', 'queued'],
  acknowledged: [],
  refused: [],
  expired: [],
  unanswered: [],
  cancelled: [],
};

/** Whether a command may change from one state to another. */
export function commandMayBecome(from: CommandState, to: CommandState): boolean {
  return NEXT[from].includes(to);
}

/** Whether the state is final. */
export function isFinalCommand(state: CommandState): boolean {
  return NEXT[state].length === 0;
}

/**
 * Whether the command could stop a moving vehicle: the command that blocks the engine, or the one that switches on the
 * output used for that. Such a command needs a confirmation and a slow vehicle.
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

/** Whether the caller may give commands of this type, apart from the right to see the vehicle. */
export function mayCommand(caller: Pick<User, 'role' | 'blocked' | 'services'> & Keyed, type: CommandType): boolean {
  if (caller.blocked || !hasScope(caller, 'commands')) return false;
  if (caller.role !== 'user') return true;
  return caller.services.includes('commands') && (type !== 'text' || caller.services.includes('command-text'));
}

/** Whether the caller may give this command to the vehicle's terminal and see its result. */
export function mayCommandVehicle(
  caller: Caller & Pick<User, 'services'>,
  vehicle: SeenVehicle,
  type: CommandType,
): boolean {
  return mayCommand(caller, type) && maySeeVehicle(caller, vehicle);
}

/** Why a protocol's terminals can't take a command, with the invalid parameter. Null: they can. */
export function orderFault(
  order: CommandOrder,
  abilities: readonly CommandAbility[],
): { parameter: string | null; detail: string } | null {
  const ability = abilities.find(({ type }) => type === order.type);
  if (ability === undefined) {
    const known = abilities.map(({ type }) => type).join(', ');
    return {
      parameter: null,
      detail: `The terminal of the vehicle does not support this command. Supported: ${known || 'none'}.`,
    };
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
 * Checks that the vehicle is known to be slow, by its last record with a valid fix and a speed. The fix time must not
 * differ from now by more than `maxAgeMs`, in either direction.
 *
 * @returns null where the vehicle is slow enough
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

/** Message of {@link VEHICLE_COMMAND_CHANNEL}: a command that is new or has changed its state. */
export interface CommandNews {
  command: VehicleCommand;
}

/** The command as shown to those who see its vehicle and may give such commands. */
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
