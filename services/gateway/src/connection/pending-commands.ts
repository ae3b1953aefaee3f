import type { Clock, CommandOutcome, TerminalAnswer, TerminalCommand } from '@outrider/domain';
import type { Session } from '@outrider/protocols';

/** Maximum of unanswered commands per terminal. */
const MAX_COMMANDS = 16;

/** Unanswered commands of a terminal, by the correlation of their answers. */
export class PendingCommands {
  readonly #commands = new Map<number, { type: TerminalCommand['type']; finish(outcome: CommandOutcome): void }>();

  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#commands.size === 0;
  }

  /**
   * Encodes a command by the session's protocol and sends it. Resolves with its answer, or with the reason why there is
   * none.
   *
   * @param send is passed the encoded command
   */
  give(
    session: Session,
    command: TerminalCommand,
    timeoutMs: number,
    send: (bytes: Buffer) => void,
  ): Promise<CommandOutcome> {
    if (this.#commands.size >= MAX_COMMANDS) return Promise.resolve({ outcome: 'overloaded' });
    const sent = session.command?.(command);
    if (!sent) return Promise.resolve({ outcome: 'unsupported' });
    return new Promise((resolve) => {
      const finish = (outcome: CommandOutcome) => {
        timer.cancel();
        if (this.#commands.get(sent.correlation)?.finish === finish) this.#commands.delete(sent.correlation);
        resolve(outcome);
      };
      const timer = this.#clock.after(timeoutMs, () => finish({ outcome: 'unanswered' }));
      this.#commands.get(sent.correlation)?.finish({ outcome: 'unanswered' });
      this.#commands.set(sent.correlation, { type: command.type, finish });
      send(sent.bytes);
    });
  }

  take(correlation: number, answer: TerminalAnswer): void {
    const command = this.#commands.get(correlation);
    // The answer to an unknown command, or to one that timed out.
    if (command === undefined) return;
    // Some terminals first acknowledge the command and send its result later.
    if (command.type === 'list-recordings' && answer.type === 'acknowledged' && answer.result === 'done') return;
    command.finish({ outcome: 'answered', answer });
  }

  /** To be called when the terminal is disconnected. It may have executed commands that were sent before. */
  end(): void {
    for (const { finish } of [...this.#commands.values()]) finish({ outcome: 'offline', maybeSent: true });
  }
}
