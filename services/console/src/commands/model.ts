import type { Command, CommandTypes, LiveMessage, NewCommand } from '@outrider/client';

export type CommandAbility = CommandTypes['types'][number];
/** As the live API has a command: without who asked for it. */
export type CommandChange = Extract<LiveMessage, { type: 'command' }>['command'] & Partial<Command>;
export type CommandType = Command['type'];
export type CommandState = Command['state'];
type Value = string | number | boolean | null;

/** Every type, in the order in which they are offered. */
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

/** How long a command may wait for its terminal, in the form. */
export const EXPIRIES_SECONDS = [600, 3600, 6 * 3600, 86_400, 7 * 86_400];

/** A command in its form. */
export interface CommandDraft {
  type: CommandType;
  /** By the name of the parameter; null: not entered. */
  values: Readonly<Record<string, Value>>;
  isConfirmed: boolean;
  /** Of a guarded command: it is sent only to a vehicle that is slower. */
  maxSpeedKmh: number | null;
  expiresInSeconds: number;
}

/** A draft with the first value of each parameter. */
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

/** Could it stop the vehicle? Such a command is confirmed, and sent only below a speed. */
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

/** Until a command that waits expires; null for one that does not wait. */
export function secondsLeft({ state, expiresAt }: Pick<Command, 'state' | 'expiresAt'>, nowMs: number): number | null {
  return state === 'queued' ? Math.max(0, Math.ceil((Date.parse(expiresAt) - nowMs) / 1000)) : null;
}

/**
 * A list, newest first, with a command that was made or has changed. Messages may come after a newer answer of the
 * API: what has changed later stays.
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
