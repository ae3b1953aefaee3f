import type { Command, CommandTypes, LiveMessage, NewCommand } from '@outrider/client';

export type CommandAbility = CommandTypes['types'][number];
/** A command as the live API sends it: without the user who requested it. */
export type CommandChange = Extract<LiveMessage, { type: 'command' }>['command'] & Partial<Command>;
export type CommandType = Command['type'];
export type CommandState = Command['state'];
type Value = string | number | boolean | null;

/** All types, in the order in which the form offers them. */
export const COMMAND_TYPES = [
  'position-request',
  'interval-set',
  'output-set',
  'engine-block',
  'engine-resume',
  'reboot',
  'text',
] as const satisfies readonly CommandType[];

export const COMMAND_STATES = [
  'queued',
  'sent',
  'acknowledged',
  'refused',
  'expired',
  'unanswered',
  'cancelled',
] as const satisfies readonly CommandState[];

/** Choices for how long a command may wait for its terminal. */
export const EXPIRIES_SECONDS = [600, 3600, 6 * 3600, 86_400, 7 * 86_400];

/** State of the form that sends a command. */
export interface CommandDraft {
  type: CommandType;
  /** Values by name of the parameter; null: not entered. */
  values: Readonly<Record<string, Value>>;
  isConfirmed: boolean;
  /** For a guarded command: it is sent only while the vehicle is slower than this. */
  maxSpeedKmh: number | null;
  expiresInSeconds: number;
}

/** Draft with the default value of each parameter. */
export function draftFor(ability: CommandAbility, limits: CommandTypes['limits']): CommandDraft {
  const values = ability.parameters.map(({ name, type, minimum }): [string, Value] => [
    name,
    type === 'boolean' ? true : type === 'integer' ? (name === 'output' ? minimum : null) : '',
  ]);
  return {
    type: ability.type,
    values: Object.fromEntries(values),
    isConfirmed: false,
    maxSpeedKmh: limits.maxSpeedKmh,
    expiresInSeconds: limits.defaultExpirySeconds,
  };
}

/** Whether the command could stop the vehicle. Such a command is confirmed, and sent only below a speed. */
export function isGuarded({ guarded, guardedOutput }: CommandAbility, { values }: CommandDraft): boolean {
  return guarded || (guardedOutput !== null && values.output === guardedOutput && values.on === true);
}

export function bodyOf(ability: CommandAbility, draft: CommandDraft): NewCommand {
  const { type, values, isConfirmed, maxSpeedKmh, expiresInSeconds } = draft;
  const parameters = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
  return {
    type,
    parameters,
    expiresInSeconds,
    ...(isGuarded(ability, draft) ? { confirm: isConfirmed, ...(maxSpeedKmh === null ? {} : { maxSpeedKmh }) } : {}),
  } as NewCommand;
}

/** Seconds until a waiting command expires; null for one that does not wait. */
export function secondsLeft({ state, expiresAt }: Pick<Command, 'state' | 'expiresAt'>, nowMs: number): number | null {
  return state === 'queued' ? Math.max(0, Math.ceil((Date.parse(expiresAt) - nowMs) / 1000)) : null;
}

/**
 * Adds a new or changed command to a list, newest first. A live message may arrive after a newer REST response: the
 * later change of a command wins.
 */
export function withCommand(list: readonly Command[], command: CommandChange): readonly Command[] {
  const at = list.findIndex(({ id }) => id === command.id);
  if (at === -1)
    return [...list, { createdBy: null, ruleId: null, eventId: null, ...command }].sort(
      (a, b) => b.createdAt.localeCompare(a.createdAt) || b.id.localeCompare(a.id),
    );
  const known = list[at] as Command;
  return known.changedAt > command.changedAt ? list : list.with(at, { ...known, ...command });
}
