import {
  type Clock,
  type CommandAbility,
  type CommandNews,
  type CommandOutcome,
  type Directory,
  isGuarded,
  mayCommandVehicle,
  orderFault,
  type ProtocolName,
  protocolOfTerminal,
  type TerminalId,
  unsafeNow,
  VEHICLE_COMMAND_CHANNEL,
  type VehicleCommand,
  type VehicleId,
} from '@outrider/domain';
import { type Hub, openTerminalCommands, type TerminalCommands, type Unsubscribe } from '@outrider/hub';
import type { CommandEnd, CommandJudgement, Registry } from '@outrider/registry';
import { Counter, type Logger, type Metrics, type Part } from '@outrider/runtime';

export interface CommandSenderConfig {
  /** Highest speed at which the engine of a vehicle may be blocked. */
  maxSpeedKmh: number;
  positionMaxAgeMs: number;
  /** How long ended commands are retained. */
  retentionDays: number;
  /** How long a terminal may take to answer. Default: 45 s. */
  answerMs?: number;
}

export interface CommandSenderParts {
  config: CommandSenderConfig;
  registry: Pick<Registry, 'vehicleCommands'>;
  directory: Directory;
  hub: Hub;
  /** Commands that terminals of a protocol support. */
  abilitiesOf(protocol: ProtocolName): readonly CommandAbility[];
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
}

const DEFAULT_ANSWER_MS = 45_000;
/** Longest delay with which the hub returns an outcome. */
const ANSWER_GRACE_MS = 15_000;
const POLL_MS = 1000;
/** Queued commands read per poll. */
const WAITING_AT_ONCE = 1000;
const ENDED_AT_ONCE = 500;
const CLEAN_EVERY_MS = 600_000;
const DAY_MS = 86_400_000;
/** Most vehicles whose commands this process sends at the same time. */
const MAX_UNDER_WAY = 500;

/**
 * Sends queued commands to connected terminals, each through the gateway that the terminal is connected to. A command
 * is marked as sent in the registry before it is passed to the gateway. After a crash in between it is not sent again
 * and expires as unanswered. Any number of instances work side by side: the instance that marks a command sends it.
 */
export function createCommandSender(parts: CommandSenderParts): Part {
  return new CommandSender(parts);
}

class CommandSender implements Part {
  readonly name = 'commands';
  readonly #parts: CommandSenderParts;
  readonly #answerMs: number;
  readonly #stopping = new AbortController();
  readonly #underWay = new Map<VehicleId, Promise<void>>();
  /** Vehicles to check again when their current command has ended. */
  readonly #again = new Set<VehicleId>();
  readonly #ended: Counter;
  #terminals: TerminalCommands | null = null;
  #unsubscribe: Unsubscribe = async () => {};
  #polling: Promise<void> = Promise.resolve();
  #cleanedAtMs = 0;

  constructor(parts: CommandSenderParts) {
    this.#parts = parts;
    this.#answerMs = parts.config.answerMs ?? DEFAULT_ANSWER_MS;
    this.#ended = new Counter({
      name: 'outrider_commands_total',
      help: 'Finished commands to terminals, by final state',
      labelNames: ['state'],
      registers: [parts.metrics],
    });
  }

  async start(): Promise<void> {
    const { hub, directory, logger, clock } = this.#parts;
    this.#terminals = await openTerminalCommands(hub, {
      clock,
      onError: (error) => logger.warn({ err: error }, 'passing a command to a terminal failed'),
    });
    this.#terminals.onPresence((terminalId, online) => {
      const vehicle = online ? directory.vehicleOfTerminal(terminalId) : undefined;
      if (vehicle !== undefined) this.#look(vehicle.id);
    });
    this.#unsubscribe = await hub.subscribe(VEHICLE_COMMAND_CHANNEL, (text) => {
      const { command } = JSON.parse(text) as CommandNews;
      if (command.state === 'queued') this.#look(command.vehicleId);
    });
    this.#polling = this.#poll();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#unsubscribe();
    await this.#polling;
    await this.#terminals?.close();
    await Promise.all(this.#underWay.values());
  }

  /** Finds what no message announces: commands of other instances, fresh positions, expired commands. */
  async #poll(): Promise<void> {
    const { signal } = this.#stopping;
    let after: string | null = null;
    while (!signal.aborted) {
      try {
        await this.#end();
        const waiting = await this.#parts.registry.vehicleCommands.waiting(after, WAITING_AT_ONCE);
        after = waiting.length < WAITING_AT_ONCE ? null : (waiting.at(-1)?.id ?? null);
        for (const vehicleId of new Set(waiting.map((each) => each.vehicleId)))
          if (this.#terminalOf(vehicleId) !== null) this.#look(vehicleId);
      } catch (error) {
        if (!signal.aborted) this.#parts.logger.error({ err: error }, 'reading waiting commands failed; retrying');
      }
      await this.#parts.clock.pause(POLL_MS, signal);
    }
  }

  async #end(): Promise<void> {
    const { registry, config, clock } = this.#parts;
    const ended = await registry.vehicleCommands.expire(this.#answerMs + ANSWER_GRACE_MS, ENDED_AT_ONCE);
    for (const command of ended) await this.#publish(command);
    if (clock.now() - this.#cleanedAtMs < CLEAN_EVERY_MS) return;
    const cleaned = await registry.vehicleCommands.clean(clock.now() - config.retentionDays * DAY_MS, ENDED_AT_ONCE);
    if (cleaned < ENDED_AT_ONCE) this.#cleanedAtMs = clock.now();
  }

  /** The vehicle's terminal; null unless it is connected. */
  #terminalOf(vehicleId: VehicleId): TerminalId | null {
    const terminalId = this.#parts.directory.vehicles.get(vehicleId)?.terminalId ?? null;
    return terminalId !== null && this.#terminals?.isOnline(terminalId) ? terminalId : null;
  }

  #look(vehicleId: VehicleId): void {
    if (this.#stopping.signal.aborted) return;
    if (this.#underWay.has(vehicleId)) {
      this.#again.add(vehicleId);
      return;
    }
    if (this.#underWay.size >= MAX_UNDER_WAY) return;
    const sending = this.#sendAll(vehicleId)
      .catch((error) => this.#parts.logger.error({ err: error, vehicleId }, 'sending a command failed'))
      .finally(() => {
        this.#underWay.delete(vehicleId);
        if (this.#again.delete(vehicleId)) this.#look(vehicleId);
      });
    this.#underWay.set(vehicleId, sending);
  }

  async #sendAll(vehicleId: VehicleId): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const terminalId = this.#terminalOf(vehicleId);
      if (terminalId === null) return;
      const { registry } = this.#parts;
      const queued = await registry.vehicleCommands.next(vehicleId);
      if (queued.length === 0) return;
      const judge = await this.#judge(vehicleId, terminalId);
      if (queued.every((command) => judge(command) === 'wait')) return;
      // A command marked as sent is never sent twice, so the connection is verified before.
      if (!(await this.#terminals?.isReachable(terminalId))) return;
      const { sent, ended } = await registry.vehicleCommands.begin(vehicleId, judge);
      for (const command of ended) await this.#publish(command);
      if (sent === null) return;
      await this.#publish(sent);
      if (!(await this.#send(sent, terminalId))) return;
    }
  }

  /** Judges by the vehicle's current state whether commands to it may be sent now. */
  async #judge(vehicleId: VehicleId, terminalId: TerminalId): Promise<(command: VehicleCommand) => CommandJudgement> {
    const { hub, directory, abilitiesOf, config, clock } = this.#parts;
    const [[status = null], connections] = await Promise.all([hub.latest([vehicleId]), hub.connections([terminalId])]);
    const vehicle = directory.vehicles.get(vehicleId);
    const connected = connections.get(terminalId)?.protocol ?? null;
    const protocol = vehicle ? protocolOfTerminal(vehicle, connected, status?.protocol ?? null) : null;
    const abilities = protocol === null ? null : abilitiesOf(protocol);
    return (command) => {
      const { order, createdBy } = command;
      const user = createdBy === null ? undefined : directory.users.get(createdBy);
      if (vehicle === undefined || user === undefined || !mayCommandVehicle(user, vehicle, order.type))
        return 'rights-lost';
      // The gateway publishes a connection a moment after the terminal's presence.
      if (abilities === null) return 'wait';
      if (orderFault(order, abilities) !== null) return 'not-supported';
      if (!isGuarded(order, abilities)) return 'send';
      const maxSpeedKmh = Math.min(command.maxSpeedKmh ?? config.maxSpeedKmh, config.maxSpeedKmh);
      const unsafe = unsafeNow(status, maxSpeedKmh, config.positionMaxAgeMs, clock.now());
      if (unsafe === null) return 'send';
      return unsafe.reason === 'too-fast' ? 'too-fast' : 'wait';
    };
  }

  /** @returns whether the next command may be sent at once */
  async #send({ id, order }: VehicleCommand, terminalId: TerminalId): Promise<boolean> {
    const { registry, logger } = this.#parts;
    const { signal } = this.#stopping;
    const outcome = await this.#terminals?.send(terminalId, order, { timeoutMs: this.#answerMs, signal });
    // When the service stops, the command stays marked as sent: its outcome is unknown.
    if (outcome === undefined || outcome.outcome === 'aborted') return false;
    const end = endOf(outcome);
    logger.info({ commandId: id, type: order.type, outcome: outcome.outcome }, 'command to a terminal');
    // A terminal with too many pending commands gets time to work them off.
    if (end === 'again') await this.#parts.clock.pause(POLL_MS, signal);
    const command =
      end === 'again' ? await registry.vehicleCommands.requeue(id) : await registry.vehicleCommands.settle(id, end);
    if (command !== null) await this.#publish(command);
    return end !== 'again';
  }

  async #publish(command: VehicleCommand): Promise<void> {
    if (command.finishedAtMs !== null) this.#ended.inc({ state: command.state });
    const message: CommandNews = { command };
    await this.#parts.hub.publish(VEHICLE_COMMAND_CHANNEL, JSON.stringify(message)).catch((error) => {
      this.#parts.logger.warn({ err: error }, 'publishing the state of a command failed');
    });
  }
}

/** Final state of a command that was marked as sent; `again` if it certainly was not sent. */
function endOf(outcome: Exclude<CommandOutcome, { outcome: 'aborted' }>): CommandEnd | 'again' {
  switch (outcome.outcome) {
    case 'answered': {
      const { answer } = outcome;
      if (answer.type !== 'acknowledged') return { state: 'acknowledged', answer: null };
      const text = answer.text ?? null;
      if (answer.result === 'done') return { state: 'acknowledged', answer: text };
      const reason = answer.result === 'unsupported' ? 'not-supported' : 'terminal-refused';
      return { state: 'refused', reason, answer: text };
    }
    case 'unsupported':
      return { state: 'refused', reason: 'not-supported' };
    case 'unanswered':
      return { state: 'unanswered', reason: 'no-answer' };
    case 'overloaded':
      return 'again';
    case 'offline':
      return outcome.maybeSent ? { state: 'unanswered', reason: 'connection-lost' } : 'again';
  }
}
