import {
  type CommandAbility,
  type CommandId,
  type CommandNews,
  type CommandOrder,
  type CommandState,
  type CommandType,
  type Directory,
  hasScope,
  isGuarded,
  mayCommand,
  orderFault,
  type ProtocolName,
  protocolOfTerminal,
  type User,
  type UserId,
  unsafeNow,
  VEHICLE_COMMAND_CHANNEL,
  type Vehicle,
  type VehicleCommand,
  type VehicleStatus,
} from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import { type Page, type Paging, type Registry, TooManyCommandsError } from '@outrider/registry';
import { badField, notFound, Problem, rightNeeded, scopeNeeded } from './problem.ts';
import { isOperator, rightToUser } from './rights.ts';

export interface CommandConfig {
  /** Highest speed at which a vehicle's engine may be blocked. */
  maxSpeedKmh: number;
  /** Maximum age of the fix from which the speed is taken. */
  positionMaxAgeMs: number;
  /** Default time that a command waits for its terminal; below, the longest. */
  defaultExpirySeconds: number;
  maxExpirySeconds: number;
  /** Commands of one account per minute. */
  perMinute: number;
}

export interface CommandSources {
  registry: Registry;
  directory: Directory;
  hub: Pick<Hub, 'latest' | 'connections' | 'publish'>;
  /** Commands that terminals of a protocol support. */
  abilitiesOf(protocol: ProtocolName): readonly CommandAbility[];
  config: { commands: CommandConfig };
}

/** A command as requested by a caller. */
export interface CommandWish {
  order: CommandOrder;
  confirm: boolean;
  maxSpeedKmh?: number | undefined;
  expiresInSeconds?: number | undefined;
}

/** Commands that the vehicle's terminal supports and the caller may send. */
export interface CommandTypes {
  protocol: ProtocolName | null;
  connected: boolean;
  /** Why the list is empty. */
  reason: 'no-terminal' | 'protocol-unknown' | 'no-commands' | null;
  abilities: readonly CommandAbility[];
}

/** Commands to the terminal of one vehicle that the caller may see. */
export class CommandAccess {
  readonly #caller: User;
  readonly #sources: CommandSources;
  readonly #vehicle: Vehicle;

  /** @throws {Problem} where the account was not granted commands */
  constructor(caller: User, sources: CommandSources, vehicle: Vehicle) {
    if (!mayCommand(caller, 'position-request')) throw commandsRefused(caller, 'position-request');
    this.#caller = caller;
    this.#sources = sources;
    this.#vehicle = vehicle;
  }

  get config(): CommandConfig {
    return this.#sources.config.commands;
  }

  async types(): Promise<CommandTypes> {
    return (await this.#terminal()).types;
  }

  /** Commands available for the terminal, and the state of its vehicle. */
  async #terminal(): Promise<{ types: CommandTypes; status: VehicleStatus | null }> {
    const { hub, abilitiesOf } = this.#sources;
    const { id, terminalId } = this.#vehicle;
    const [[status = null], connections] = await Promise.all([
      hub.latest([id]),
      hub.connections(terminalId === null ? [] : [terminalId]),
    ]);
    const connection = terminalId === null ? undefined : connections.get(terminalId);
    const protocol = protocolOfTerminal(this.#vehicle, connection?.protocol ?? null, status?.protocol ?? null);
    const can = protocol === null ? [] : abilitiesOf(protocol);
    const abilities = can.filter(({ type }) => mayCommand(this.#caller, type));
    const none = terminalId === null ? 'no-terminal' : protocol === null ? 'protocol-unknown' : 'no-commands';
    const reason = abilities.length > 0 ? null : none;
    return { types: { protocol, connected: connection !== undefined, reason, abilities }, status };
  }

  /** Queues a command. A guarded command is accepted only if the vehicle is known to be slow. */
  async add({ order, confirm, maxSpeedKmh, expiresInSeconds }: CommandWish, nowMs: number): Promise<VehicleCommand> {
    if (!mayCommand(this.#caller, order.type)) throw commandsRefused(this.#caller, order.type);
    const { config } = this;
    const { types, status } = await this.#terminal();
    const { protocol, abilities } = types;
    if (this.#vehicle.terminalId === null) throw new Problem('conflict', 'The vehicle has no terminal.');
    if (protocol === null)
      throw new Problem('conflict', 'The terminal has never connected, so its protocol is unknown.');
    const fault = orderFault(order, abilities);
    if (fault !== null)
      throw badField(fault.parameter === null ? '/type' : `/parameters/${fault.parameter}`, fault.detail);
    const guarded = isGuarded(order, abilities);
    if (!guarded && maxSpeedKmh !== undefined)
      throw badField('/maxSpeedKmh', 'It is only for commands that block the engine.');
    if (guarded && !confirm) throw badField('/confirm', 'It must be true: the command can stop the vehicle.');
    if (maxSpeedKmh !== undefined && maxSpeedKmh > config.maxSpeedKmh)
      throw badField('/maxSpeedKmh', `It must be at most ${config.maxSpeedKmh}.`);
    if (expiresInSeconds !== undefined && expiresInSeconds > config.maxExpirySeconds)
      throw badField('/expiresInSeconds', `It must be at most ${config.maxExpirySeconds}.`);
    const speedBound = guarded ? (maxSpeedKmh ?? config.maxSpeedKmh) : null;
    if (speedBound !== null) this.#requireSlow(status, speedBound, nowMs);
    const wish = {
      vehicleId: this.#vehicle.id,
      order,
      maxSpeedKmh: speedBound,
      createdBy: this.#caller.id,
      expiresAtMs: nowMs + (expiresInSeconds ?? config.defaultExpirySeconds) * 1000,
    };
    const { command, revoked } = await bounded(this.#sources.registry.vehicleCommands.create(wish, config.perMinute));
    for (const changed of [...revoked, command]) await publishCommand(this.#sources.hub, changed);
    return this.#shown(command);
  }

  /** The newest first. */
  async commands(state: CommandState | undefined, paging: Paging): Promise<Page<VehicleCommand>> {
    const page = await this.#sources.registry.vehicleCommands.list(
      {
        vehicleId: this.#vehicle.id,
        ...(state === undefined ? {} : { state }),
        withoutText: !mayCommand(this.#caller, 'text'),
      },
      paging,
    );
    return { ...page, items: page.items.map((command) => this.#shown(command)) };
  }

  async command(id: CommandId): Promise<VehicleCommand> {
    return this.#shown(await this.#command(id));
  }

  /** Cancels a command that was not sent yet. Anyone who may give such a command may do so. */
  async cancel(id: CommandId): Promise<void> {
    await this.#command(id);
    const { command, cancelled } = await this.#sources.registry.vehicleCommands.cancel(id);
    if (!cancelled) throw new Problem('conflict', `The command is already ${command.state}.`);
    await publishCommand(this.#sources.hub, command);
  }

  async #command(id: CommandId): Promise<VehicleCommand> {
    const command = await this.#sources.registry.vehicleCommands.get(id);
    if (command === null || command.vehicleId !== this.#vehicle.id) throw notFound();
    if (!mayCommand(this.#caller, command.order.type)) throw notFound();
    return command;
  }

  #requireSlow(status: VehicleStatus | null, maxSpeedKmh: number, nowMs: number): void {
    const { positionMaxAgeMs } = this.config;
    const unsafe = unsafeNow(status, maxSpeedKmh, positionMaxAgeMs, nowMs);
    if (unsafe === null) return;
    const seconds = positionMaxAgeMs / 1000;
    throw new Problem(
      'unsafe-command',
      unsafe.reason === 'too-fast'
        ? `The vehicle is moving at ${unsafe.speedKmh} km/h; its engine can be blocked at ${maxSpeedKmh} km/h at most.`
        : `The speed of the vehicle is unknown: there is no position from the last ${seconds} s. Request one first.`,
    );
  }

  /** Hides the account and the rule that the caller may not see. */
  #shown(command: VehicleCommand): VehicleCommand {
    const { createdBy } = command;
    const seesRule = isOperator(this.#caller) || createdBy === this.#caller.id;
    return {
      ...command,
      createdBy: this.#seesUser(createdBy) ? createdBy : null,
      ruleId: seesRule ? command.ruleId : null,
      eventId: seesRule ? command.eventId : null,
    };
  }

  #seesUser(id: UserId | null): boolean {
    const user = id === null ? undefined : this.#sources.directory.users.get(id);
    return rightToUser(this.#caller, user) !== 'none';
  }
}

/** Refusal of a command for lack of a service, or of a scope of the API key. */
function commandsRefused(caller: User, type: CommandType): Problem {
  if (!hasScope(caller, 'commands')) return scopeNeeded('commands');
  return rightNeeded(type === 'text' && caller.services.includes('commands') ? 'command-text' : 'commands');
}

/** Notifies the command sender and the subscribers of the live API. */
async function publishCommand(hub: Pick<Hub, 'publish'>, command: VehicleCommand): Promise<void> {
  await hub.publish(VEHICLE_COMMAND_CHANNEL, JSON.stringify({ command } satisfies CommandNews)).catch(() => {});
}

async function bounded<T>(created: Promise<T>): Promise<T> {
  try {
    return await created;
  } catch (error) {
    if (!(error instanceof TooManyCommandsError)) throw error;
    const { bound, most, retryAfterMs } = error;
    if (bound === 'minute')
      throw new Problem('too-many-commands', `An account may send at most ${most} commands a minute.`, {
        headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) },
      });
    const whose = bound === 'vehicle' ? 'The vehicle already has' : 'The account already has';
    throw new Problem('conflict', `${whose} ${most} unfinished commands: cancel some, or wait.`);
  }
}
