import { ApiError, type UnknownTerminal } from '@outrider/client';
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { SubmitButton } from '../../parts/buttons.tsx';
import { Field } from '../../parts/forms/field.tsx';
import { GroupPicker } from '../../parts/forms/picker.tsx';
import { bytesOfHex, hexLines } from '../../parts/hex.ts';
import { Icon } from '../../parts/icon.tsx';
import { Failure, Message } from '../../parts/message.tsx';
import { api } from '../../session.ts';
import { unisolated } from '../../words/isolate.ts';
import { t } from '../../words/words.ts';
import { terminalProtocols } from '../vehicles/protocols.ts';
import { vehicleWords } from '../vehicles/words.ts';
import { identityOf, keyOf, makerOf, shortId } from './names.ts';
import { terminalWords } from './words.ts';

/** Often enough to notice a terminal during its installation, yet only a small part of the calls allowed per minute. */
const POLL_MS = 3000;
const MOST_SHOWN = 200;

/** A vehicle that was created here and waits for its first position. */
export interface Added {
  id: string;
  name: string;
}

/** Unknown terminals, polled: gateways record them, but no live message announces them. */
export function Waiting({ onAdded }: { onAdded: (vehicle: Added) => void }) {
  const terminals = useSignal<readonly UnknownTerminal[] | null>(null);
  const error = useSignal<unknown>(null);
  const opened = useSignal<string | null>(null);
  const groupIds = useSignal<readonly string[]>([]);
  const isStopped = useSignal(false);
  const read = async () => {
    try {
      terminals.value = (await api.get('/api/v1/unknown-terminals', { query: { limit: MOST_SHOWN } })).items;
      error.value = null;
    } catch (reason) {
      error.value = reason;
      isStopped.value = reason instanceof ApiError && reason.status === 403;
    }
  };
  useEffect(() => {
    void read();
    const timer = setInterval(() => {
      if (!document.hidden && !isStopped.peek()) void read();
    }, POLL_MS);
    return () => clearInterval(timer);
  }, []);
  if (error.value !== null && terminals.value === null)
    return <Message icon="warning" title={describeError(error.value)} action={t().retry} onAction={read} />;
  if (terminals.value === null) return <Message title={t().loading} />;
  if (terminals.value.length === 0)
    return <Message icon="terminal" title={terminalWords().nobodyWaits} hint={terminalWords().nobodyWaitsHint} />;
  return (
    <>
      <p>
        <small>{terminalWords().waitingHint}</small>
      </p>
      <ul class="cards" aria-live="polite">
        {terminals.value.map((terminal) => (
          <Card
            key={keyOf(terminal)}
            terminal={terminal}
            isOpen={opened.value === keyOf(terminal)}
            onOpen={() => (opened.value = keyOf(terminal))}
            groupIds={groupIds}
            onAdded={(vehicle) => {
              opened.value = null;
              onAdded(vehicle);
              void read();
            }}
          />
        ))}
      </ul>
    </>
  );
}

interface CardProps {
  terminal: UnknownTerminal;
  isOpen: boolean;
  onOpen: () => void;
  /** Kept for the next vehicle: a fleet is usually installed group by group. */
  groupIds: Signal<readonly string[]>;
  onAdded: (vehicle: Added) => void;
}

/** A terminal that identified itself, or an unrecognised device, shown by its address with its possible protocols. */
function Card({ terminal, isOpen, onOpen, groupIds, onAdded }: CardProps) {
  const terminals = terminalWords();
  const { protocol, address, firstSeen, lastSeen, attempts, guesses, detail, reason } = terminal;
  const title = terminalProtocols.value?.items.find(({ name }) => name === protocol)?.title ?? protocol;
  const ago = (at: string) => formats().ago((Date.now() - Date.parse(at)) / 1000);
  const { refusals } = t().fleetMap;
  // The terminal belongs to a vehicle, but its connection was refused for this reason.
  const refusal = Object.entries(refusals).find(([name]) => name === reason)?.[1] ?? null;
  const known = refusal === null ? identityOf(terminal, title) : null;
  return (
    <li>
      <div>
        <strong>{terminal.terminalId ?? terminals.notUnderstood}</strong>
        <small>
          {title} · <bdi>{address}</bdi>
        </small>
        <small>
          {terminals.lastSeen}: {ago(lastSeen)} · {terminals.firstSeen}: {formats().moment(firstSeen)} ·{' '}
          {terminals.attempts(attempts)}
        </small>
        {refusal !== null && (
          <small>
            {t().fleetMap.lastRefusal}: {refusal}
          </small>
        )}
        {terminal.terminalId === null && detail !== null && (
          <small>
            <bdi lang="en">{detail}</bdi>
          </small>
        )}
        {guesses.map((guess) => (
          <Guess key={guess.protocol} guess={guess} isRightPort={guess.protocol === protocol} />
        ))}
      </div>
      {known !== null && !isOpen && (
        <button type="button" onClick={onOpen}>
          <Icon name="plus" /> {terminals.addVehicle}
        </button>
      )}
      {known !== null && isOpen && (
        <AddForm
          terminalId={known.terminalId}
          name={unisolated(terminals.vehicleName(makerOf(known.title), shortId(known.terminalId)))}
          groupIds={groupIds}
          onAdded={onAdded}
        />
      )}
      <FirstBytes terminal={terminal} />
    </li>
  );
}

/** A possible protocol of a device, and the port that it should use. */
function Guess({ guess, isRightPort }: { guess: UnknownTerminal['guesses'][number]; isRightPort: boolean }) {
  const terminals = terminalWords();
  const { title, port, terminalId } = guess;
  return (
    <span class="guess">
      <Icon name="search" /> {terminals.looksLike(title)}
      {terminalId !== null && (
        <>
          {' '}
          <strong>{terminalId}</strong>
        </>
      )}
      {!isRightPort && port !== null && <> {terminals.pointAt(String(port))}</>}
    </span>
  );
}

/** The first bytes received, in hexadecimal and as text. */
function FirstBytes({ terminal: { firstBytes, receivedBytes } }: Pick<CardProps, 'terminal'>) {
  const terminals = terminalWords();
  if (firstBytes === null || firstBytes === '') return null;
  const bytes = bytesOfHex(firstBytes);
  return (
    <details class="first-bytes">
      <summary>{terminals.firstBytes(bytes.length, receivedBytes ?? bytes.length)}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls is reached by keyboard. */}
      <section class="hex" dir="ltr" tabIndex={0} aria-label={terminals.bytes}>
        <pre>{hexLines(bytes, 8).join('\n')}</pre>
      </section>
    </details>
  );
}

interface AddFormProps extends Pick<CardProps, 'groupIds' | 'onAdded'> {
  terminalId: string;
  name: string;
}

function AddForm({ terminalId, name: proposed, groupIds, onAdded }: AddFormProps) {
  const name = useSignal(proposed);
  const error = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const at = (pointer: string) => (error.value instanceof ApiError ? error.value.at(pointer) : []);
  const add = async (event: SubmitEvent) => {
    event.preventDefault();
    isBusy.value = true;
    try {
      const body = { name: name.value.trim(), terminalId, groupIds: [...groupIds.value] };
      const vehicle = await api.post('/api/v1/vehicles', { body });
      onAdded({ id: vehicle.id, name: vehicle.name });
    } catch (reason) {
      error.value = reason;
      isBusy.value = false;
    }
  };
  const isOfAField = at('/name').length + at('/groupIds').length > 0;
  return (
    <form class="add" onSubmit={add}>
      <Field
        label={vehicleWords().fields.name}
        required
        maxLength={200}
        value={name.value}
        errors={at('/name')}
        onInput={(event) => (name.value = event.currentTarget.value)}
      />
      <GroupPicker
        label={vehicleWords().groups}
        chosen={groupIds.value}
        errors={at('/groupIds')}
        onChange={(ids) => (groupIds.value = ids)}
      />
      <SubmitButton disabled={isBusy.value}>{terminalWords().createVehicle}</SubmitButton>
      {error.value !== null && !isOfAField && <Failure>{describeError(error.value)}</Failure>}
    </form>
  );
}
