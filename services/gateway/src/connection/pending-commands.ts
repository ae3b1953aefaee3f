import type { Clock, CommandOutcome, TerminalAnswer, TerminalCommand } from '@outrider/domain';
import type { Session } from '@outrider/protocols';

/** Unanswered commands to a terminal, at most. */
const MAX_COMMANDS = 16;

/** Commands that a terminal has not answered, by what its answer will be known by. */
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
   * Puts a command into the terminal's words, and sends it. Resolves with its answer, or with why it got none.
   *
   * @param send is given what the session made of it
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
    // The answer to a command that timed out, or to none.
    if (command === undefined) return;
    // Some terminals acknowledge the command first, and send the result after it.
    if (command.type === 'list-recordings' && answer.type === 'acknowledged' && answer.result === 'done') return;
    command.finish({ outcome: 'answered', answer });
  }

  /** The terminal is gone. It may have done what was sent before. */
  end(): void {
    for (const { finish } of [...this.#commands.values()]) finish({ outcome: 'offline', maybeSent: true });
  }
}
