import { useSignal } from '@preact/signals';
import { describeError } from '../../errors.ts';
import { CancelButton, SubmitButton } from '../../parts/buttons.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Choice } from '../../parts/forms/field.tsx';
import { useTask } from '../../parts/forms/task-form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Failure } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { api, user } from '../../session.ts';
import { chunks } from './bulk.ts';
import { dealers } from './dealers.ts';
import { vehicleWords } from './words.ts';

/** Maximum number of vehicles that one call moves. */
const MOST_AT_ONCE = 1000;
const HISTORIES = ['apart', 'along'] as const;

/** Whether the user may move vehicles to dealers, and dealers exist. */
export function mayMove(): boolean {
  return user.value?.role === 'operator' && dealers.value.length > 0;
}

interface Props {
  ids: readonly string[];
  onDone: () => void;
}

export function MoveButton(props: Props) {
  const isAsking = useSignal(false);
  if (!mayMove()) return null;
  const close = () => (isAsking.value = false);
  return (
    <>
      <button type="button" onClick={() => (isAsking.value = true)}>
        <Icon name="user" /> {vehicleWords().move.button}
      </button>
      {isAsking.value && (
        <MoveDialog
          {...props}
          onClose={close}
          onDone={() => {
            close();
            props.onDone();
          }}
        />
      )}
    </>
  );
}

/** Moves vehicles to another dealer, and asks whether their history moves along. */
export function MoveDialog({ ids, onClose, onDone }: Props & { onClose: () => void }) {
  const vehicles = vehicleWords();
  const words = vehicles.move;
  const dealerId = useSignal('');
  const history = useSignal<(typeof HISTORIES)[number]>('apart');
  const { error, isBusy, submit } = useTask(async () => {
    const to = { dealerId: dealerId.value === '' ? null : dealerId.value, history: history.value };
    for (const some of chunks(ids, MOST_AT_ONCE))
      await api.post('/api/v1/vehicles/move', { body: { ids: some, ...to } });
    toast(words.done(ids.length));
    onDone();
  });
  return (
    <Dialog title={ids.length === 1 ? words.title : `${words.title} (${ids.length})`} onClose={onClose}>
      <form class="body" onSubmit={submit}>
        <Choice label={vehicles.owner} value={dealerId.value} onChange={(id) => (dealerId.value = id)}>
          <option value="">{vehicles.operatorsOwn}</option>
          {dealers.value.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Choice>
        <fieldset>
          <legend>{words.history}</legend>
          {HISTORIES.map((each) => (
            <label key={each} class="check">
              <input
                type="radio"
                name="history"
                checked={history.value === each}
                onChange={() => (history.value = each)}
              />
              <span>{words.histories[each]}</span>
            </label>
          ))}
        </fieldset>
        <p>{words.hints[history.value]}</p>
        {error.value !== null && <Failure>{describeError(error.value)}</Failure>}
        <div class="actions">
          <SubmitButton disabled={isBusy.value}>{words.submit}</SubmitButton>
          <CancelButton onClick={onClose} />
        </div>
      </form>
    </Dialog>
  );
}
