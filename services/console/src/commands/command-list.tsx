import type { Command } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../errors.ts';
import { formats } from '../format.ts';
import { live } from '../live/live.ts';
import { confirmed } from '../parts/dialog.tsx';
import { toast } from '../parts/toast.tsx';
import { api } from '../session.ts';
import { t } from '../words/words.ts';
import { secondsLeft } from './model.ts';
import { commandText, outcomeText } from './words.ts';
import '../style/commands.css';
import { commandWords } from './command-words.ts';

const TICK_MS = 1000;

/** Current time, updated each second while a countdown runs. */
export function useNow(isTicking: boolean): number {
  const now = useSignal(Date.now());
  useEffect(() => {
    if (!isTicking) return;
    now.value = Date.now();
    const timer = setInterval(() => (now.value = Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isTicking, now]);
  return now.value;
}

export function CommandChip({ state }: Pick<Command, 'state'>) {
  return <span class={`chip command-${state}`}>{commandWords().states[state]}</span>;
}

/** Remaining time of a waiting command. */
export function TimeLeft({ command }: { command: Command }) {
  const now = useNow(command.state === 'queued');
  const seconds = secondsLeft(command, now);
  return seconds === null ? null : <small>{commandWords().left(formats().duration(seconds))}</small>;
}

/** Cancels a command that was not sent yet, after a confirmation. */
export function CancelButton({ command }: { command: Command }) {
  const words = commandWords();
  if (command.state !== 'queued') return null;
  const cancel = async () => {
    const text = commandText(command);
    if (!(await confirmed(words.cancel, words.cancelQuestion(text), words.cancel))) return;
    try {
      const path = { id: command.vehicleId, command_id: command.id };
      await api.delete('/api/v1/vehicles/{id}/commands/{command_id}', { path });
      toast(words.cancelled);
      live.command.value = await api.get('/api/v1/vehicles/{id}/commands/{command_id}', { path });
    } catch (error) {
      toast(describeError(error), 'error');
    }
  };
  return (
    <button type="button" aria-label={`${words.cancel}: ${commandText(command)}`} onClick={() => void cancel()}>
      {words.cancel}
    </button>
  );
}

/** Commands, newest first: the outcome of each, and how long a waiting one still waits. */
export function CommandList({ commands }: { commands: readonly Command[] }) {
  return (
    <ol class="commands" aria-label={t().pages.commands}>
      {commands.map((command) => (
        <li key={command.id}>
          <time dateTime={command.createdAt}>{formats().moment(command.createdAt)}</time>
          <div>
            <span>
              <bdi>{commandText(command)}</bdi>
            </span>
            <span class="outcome" aria-live="polite">
              <CommandChip state={command.state} /> <TimeLeft command={command} />
            </span>
            {outcomeText(command) !== null && (
              <small>
                <bdi>{outcomeText(command)}</bdi>
              </small>
            )}
          </div>
          <CancelButton command={command} />
        </li>
      ))}
    </ol>
  );
}
