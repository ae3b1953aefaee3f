import type { Command } from '@outrider/client';
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { CancelButton, CommandChip, TimeLeft } from '../../commands/command-list.tsx';
import { COMMAND_STATES, type CommandState, withCommand } from '../../commands/model.ts';
import { SendDialog } from '../../commands/send-dialog.tsx';
import { commandText, outcomeText } from '../../commands/words.ts';
import { fleet, hasNoVehicles, loaded } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { live } from '../../live/live.ts';
import { VehiclePicker } from '../../parts/forms/picker.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Paged } from '../../parts/lists/paged.tsx';
import { usePages } from '../../parts/lists/pages.ts';
import { type Column, Table } from '../../parts/lists/table.tsx';
import { Message } from '../../parts/message.tsx';
import { route, setQuery } from '../../router.ts';
import { api, user } from '../../session.ts';
import { t } from '../../words/words.ts';
import { NoVehicles } from '../map/no-vehicles.tsx';
import '../../style/list-page.css';
import '../../style/commands.css';
import { commandWords } from '../../commands/command-words.ts';

const PAGE = 100;

/** Commands to the terminals of vehicles, with sender and outcome. The address has the vehicle and the state. */
export function CommandsPage() {
  const { query } = route.value;
  const vehicleId = query.get('vehicle') ?? '';
  const state = COMMAND_STATES.find((one) => one === query.get('state'));
  const isSending = useSignal(false);
  void loaded.value;
  void fleet.version.value;
  const vehicle = fleet.vehicles[fleet.indexOf(vehicleId)];
  const words = commandWords();
  return (
    <div class="list-page">
      <div class="list">
        <search class="filter-row command-filters">
          <VehiclePicker
            chosen={vehicleId === '' ? [] : [vehicleId]}
            isSingle
            onChange={([id]) => setQuery({ vehicle: id ?? null })}
          />
          <div class="field">
            <label for="command-state">{t().state}</label>
            <select id="command-state" onChange={({ currentTarget }) => setQuery({ state: currentTarget.value })}>
              <option value="">{words.allStates}</option>
              {COMMAND_STATES.map((one) => (
                <option key={one} value={one} selected={one === state}>
                  {words.states[one]}
                </option>
              ))}
            </select>
          </div>
          {vehicle !== undefined && (
            <button type="button" class="primary" onClick={() => (isSending.value = true)}>
              <Icon name="send" /> {words.send}
            </button>
          )}
        </search>
        {vehicleId === '' && hasNoVehicles() ? (
          <NoVehicles />
        ) : vehicleId === '' ? (
          <Message icon="send" title={words.chooseVehicle} hint={words.chooseVehicleHint} />
        ) : (
          <List key={vehicleId} vehicleId={vehicleId} state={state} />
        )}
      </div>
      {isSending.value && vehicle !== undefined && (
        <SendDialog
          vehicleId={vehicle.id}
          vehicleName={vehicle.name}
          onClose={() => (isSending.value = false)}
          onSent={(command) => (live.command.value = command)}
        />
      )}
    </div>
  );
}

function List({ vehicleId, state }: { vehicleId: string; state: CommandState | undefined }) {
  const words = commandWords();
  const list = usePages<Command>(
    (cursor, signal) =>
      api.get('/api/v1/vehicles/{id}/commands', {
        path: { id: vehicleId },
        query: { limit: PAGE, ...(state === undefined ? {} : { state }), ...(cursor ? { cursor } : {}) },
        signal,
      }),
    [vehicleId, state],
  );
  const isConnected = live.status.value === 'open';
  useEffect(() => {
    // Loads changes made while the connection was down.
    if (isConnected && list.items.peek() !== null) void list.reload();
  }, [isConnected]);
  useSignalEffect(() => {
    const command = live.command.value;
    const items = list.items.peek();
    if (command?.vehicleId !== vehicleId || items === null) return;
    const changed = withCommand(items, command);
    list.items.value = state === undefined ? changed : changed.filter((one) => one.state === state);
  });
  const empty =
    state === undefined ? (
      <Message icon="send" title={words.none} hint={words.noneHint} />
    ) : (
      <Message
        icon="search"
        title={words.noneOfFilter}
        action={words.showAll}
        onAction={() => setQuery({ state: null })}
      />
    );
  return (
    <Paged list={list} empty={empty}>
      {(items) => <Table label={t().pages.commands} columns={columns()} rows={items} rowKey={({ id }) => id} />}
    </Paged>
  );
}

function columns(): Column<Command>[] {
  const words = commandWords();
  const format = formats();
  return [
    { key: 'time', title: words.time, cell: ({ createdAt }) => format.moment(createdAt) },
    { key: 'command', title: words.type, cell: (command) => <bdi>{commandText(command)}</bdi> },
    {
      key: 'state',
      title: t().state,
      cell: (command) => (
        <>
          <CommandChip state={command.state} /> <TimeLeft command={command} />
        </>
      ),
    },
    {
      key: 'outcome',
      title: words.answer,
      cell: (command) => <bdi title={outcomeText(command) ?? undefined}>{outcomeText(command)}</bdi>,
    },
    { key: 'by', title: words.by, cell: sender },
    {
      key: 'finished',
      title: words.finished,
      cell: ({ finishedAt }) => (finishedAt === null ? '' : format.moment(finishedAt)),
    },
    { key: 'cancel', title: words.cancel, cell: (command) => <CancelButton command={command} /> },
  ];
}

function sender({ byRule, ruleId, createdBy }: Command) {
  const words = commandWords();
  if (ruleId !== null) return <a href={`/rules?rule=${ruleId}`}>{words.byRule}</a>;
  if (byRule) return words.byRule;
  return createdBy === user.value?.id ? words.byMe : words.bySomebody;
}
