import type { Command } from '@outrider/client';
import { useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../errors.ts';
import { live } from '../live/live.ts';
import { Icon } from '../parts/icon.tsx';
import { useFresh } from '../parts/loading/fresh.ts';
import { lazy } from '../parts/loading/lazy.tsx';
import { mayCommand } from '../rights.ts';
import { api, user } from '../session.ts';
import { t } from '../words/words.ts';
import { CommandList } from './command-list.tsx';
import { commandWords } from './command-words.ts';
import { type CommandChange, withCommand } from './model.ts';

const SHOWN = 5;

const SendDialog = lazy(async () => (await import('./send-dialog.tsx')).SendDialog);

interface Props {
  vehicleId: string;
  vehicleName: string;
}

/**
 * The last commands of a vehicle, updated live, and the button that sends another. Empty without the right to command.
 */
export function VehicleCommands(props: Props) {
  if (user.value == null || !mayCommand(user.value)) return null;
  return <Allowed {...props} />;
}

function Allowed({ vehicleId, vehicleName }: Props) {
  const words = commandWords();
  const commands = useFresh<readonly Command[]>([], [vehicleId]);
  const error = useFresh<string | null>(null, [vehicleId]);
  const isSending = useFresh(false, [vehicleId]);
  const take = (command: CommandChange) => {
    commands.value = withCommand(commands.peek(), command).slice(0, SHOWN);
  };
  const isConnected = live.status.value === 'open';
  useEffect(() => {
    const ending = new AbortController();
    const path = { id: vehicleId };
    api.get('/api/v1/vehicles/{id}/commands', { path, query: { limit: SHOWN }, signal: ending.signal }).then(
      ({ items }) => {
        commands.value = items;
        error.value = null;
      },
      (reason: unknown) => {
        if (!ending.signal.aborted) error.value = describeError(reason);
      },
    );
    return () => ending.abort();
    // Changes made while the connection was down are read again.
  }, [vehicleId, isConnected]);
  useSignalEffect(() => {
    const command = live.command.value;
    if (command?.vehicleId === vehicleId) take(command);
  });
  return (
    <section>
      <h3>{t().pages.commands}</h3>
      {error.value !== null && <p class="error">{error.value}</p>}
      {commands.value.length > 0 && <CommandList commands={commands.value} />}
      <div class="actions">
        <button type="button" onClick={() => (isSending.value = true)}>
          <Icon name="send" /> {words.send}
        </button>
        {commands.value.length > 0 && (
          <a class="button" href={`/commands?vehicle=${vehicleId}`}>
            <Icon name="list" /> {words.all}
          </a>
        )}
      </div>
      {isSending.value && (
        <SendDialog
          vehicleId={vehicleId}
          vehicleName={vehicleName}
          onClose={() => (isSending.value = false)}
          onSent={take}
        />
      )}
    </section>
  );
}
