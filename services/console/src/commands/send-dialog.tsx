import { ApiError, type Command, type CommandTypes } from '@outrider/client';
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../errors.ts';
import { formats } from '../format.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Choice, Field } from '../parts/forms/field.tsx';
import { Failure, Message } from '../parts/message.tsx';
import { toast } from '../parts/toast.tsx';
import { api } from '../session.ts';
import { t } from '../words/words.ts';
import {
  bodyOf,
  type CommandAbility,
  type CommandDraft,
  type CommandType,
  draftFor,
  EXPIRIES_SECONDS,
  isGuarded,
} from './model.ts';
import '../style/commands.css';
import { commandWords } from './command-words.ts';

interface Props {
  vehicleId: string;
  vehicleName: string;
  onClose: () => void;
  onSent: (command: Command) => void;
}

/** Dialog that sends a command. It offers the commands that the vehicle's terminal supports, with their parameters. */
export function SendDialog({ vehicleId, vehicleName, onClose, onSent }: Props) {
  const offered = useSignal<CommandTypes | null>(null);
  const error = useSignal<unknown>(null);
  const read = () => {
    error.value = null;
    api.get('/api/v1/vehicles/{id}/command-types', { path: { id: vehicleId } }).then(
      (types) => (offered.value = types),
      (reason: unknown) => (error.value = reason),
    );
  };
  useEffect(read, [vehicleId]);
  const { value } = offered;
  const words = commandWords();
  return (
    <Dialog title={words.sendTo(vehicleName)} onClose={onClose}>
      {error.value !== null ? (
        <Message icon="warning" title={describeError(error.value)} action={t().retry} onAction={read} />
      ) : value === null ? (
        <Message title={t().loading} />
      ) : value.types.length === 0 ? (
        <Message icon="terminal" title={words.nothing[value.reason ?? 'no-commands'] ?? ''} />
      ) : (
        <SendForm vehicleId={vehicleId} offered={value} onClose={onClose} onSent={onSent} />
      )}
    </Dialog>
  );
}

interface FormProps extends Pick<Props, 'vehicleId' | 'onClose' | 'onSent'> {
  offered: CommandTypes;
}

function SendForm({ vehicleId, offered, onClose, onSent }: FormProps) {
  const words = commandWords();
  const { types, limits, connected } = offered;
  const draft = useSignal<CommandDraft>(draftFor(types[0] as CommandAbility, limits));
  const error = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const ability = types.find(({ type }) => type === draft.value.type) as CommandAbility;
  const isRisky = isGuarded(ability, draft.value);
  const at = (pointer: string) => (error.value instanceof ApiError ? error.value.at(pointer) : []);
  const choose = (type: string) => {
    const chosen = types.find((one) => one.type === type) as CommandAbility;
    draft.value = { ...draftFor(chosen, limits), expiresInSeconds: draft.value.expiresInSeconds };
    error.value = null;
  };
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    isBusy.value = true;
    try {
      const body = bodyOf(ability, draft.value);
      onSent(await api.post('/api/v1/vehicles/{id}/commands', { path: { id: vehicleId }, body }));
      toast(words.sent);
      onClose();
    } catch (reason) {
      error.value = reason;
      isBusy.value = false;
    }
  };
  return (
    <form class="send-command" onSubmit={send}>
      <p class="note">{connected ? words.connected : words.notConnected}</p>
      <Choice label={words.type} value={draft.value.type} onChange={choose}>
        {types.map(({ type }) => (
          <option key={type} value={type} selected={type === draft.value.type}>
            {words.types[type as CommandType]}
          </option>
        ))}
      </Choice>
      <Errors texts={at('/type')} />
      {ability.parameters.map((parameter) => (
        <ParameterField key={`${ability.type} ${parameter.name}`} parameter={parameter} draft={draft} at={at} />
      ))}
      {isRisky && <Guard draft={draft} limits={limits} at={at} />}
      <Expiry draft={draft} mostSeconds={limits.maxExpirySeconds} />
      <Errors texts={at('/expiresInSeconds')} />
      <small class="how">
        {words.how} <How text={ability.how} />
      </small>
      {error.value !== null && <Refusal error={error.value} shown={shownPointers(ability)} />}
      <div class="actions">
        <button type="submit" class={isRisky ? 'danger' : 'primary'} disabled={isBusy.value}>
          {words.send}
        </button>
        <button type="button" onClick={onClose}>
          {t().close}
        </button>
      </div>
    </form>
  );
}

type At = (pointer: string) => readonly string[];

interface ParameterProps {
  parameter: CommandAbility['parameters'][number];
  draft: Signal<CommandDraft>;
  at: At;
}

function ParameterField({ parameter, draft, at }: ParameterProps) {
  const { name, type, minimum, maximum, maxLength } = parameter;
  const words = commandWords();
  const label = words.parameters[name] ?? name;
  const errors = at(`/parameters/${name}`);
  const value = draft.value.values[name] ?? null;
  const set = (next: string | number | boolean | null) => {
    draft.value = { ...draft.value, isConfirmed: false, values: { ...draft.value.values, [name]: next } };
  };
  if (type === 'boolean')
    return (
      <div class="field">
        <label class="check">
          <input type="checkbox" checked={value === true} onChange={({ currentTarget: { checked } }) => set(checked)} />
          <span>{label}</span>
        </label>
        <Errors texts={errors} />
      </div>
    );
  if (type === 'string')
    return (
      <Field
        label={label}
        required
        {...(maxLength === null ? {} : { maxLength })}
        value={`${value ?? ''}`}
        errors={errors}
        autocomplete="off"
        onInput={({ currentTarget }) => set(currentTarget.value)}
      />
    );
  const hint = minimum === null || maximum === null ? {} : { hint: words.range(String(minimum), String(maximum)) };
  return (
    <Field
      label={label}
      type="number"
      required
      step={1}
      {...(minimum === null ? {} : { min: minimum })}
      {...(maximum === null ? {} : { max: maximum })}
      {...hint}
      value={value === null ? '' : Number(value)}
      errors={errors}
      onInput={({ currentTarget: { valueAsNumber } }) => set(Number.isNaN(valueAsNumber) ? null : valueAsNumber)}
    />
  );
}

/** Explains why a command that could stop the vehicle needs a confirmation, and asks for it. */
function Guard({ draft, limits, at }: { draft: Signal<CommandDraft>; limits: CommandTypes['limits']; at: At }) {
  const words = commandWords();
  const { isConfirmed, maxSpeedKmh } = draft.value;
  return (
    <fieldset class="guard">
      <legend>{words.guardTitle}</legend>
      <p>{words.guard(formats().duration(limits.positionMaxAgeSeconds))}</p>
      <Field
        label={words.maxSpeed}
        type="number"
        required
        min={0}
        max={limits.maxSpeedKmh}
        hint={words.range('0', String(limits.maxSpeedKmh))}
        value={maxSpeedKmh ?? ''}
        errors={at('/maxSpeedKmh')}
        onInput={({ currentTarget: { valueAsNumber } }) => {
          draft.value = { ...draft.value, maxSpeedKmh: Number.isNaN(valueAsNumber) ? null : valueAsNumber };
        }}
      />
      <label class="check">
        <input
          type="checkbox"
          required
          checked={isConfirmed}
          onChange={({ currentTarget: { checked } }) => {
            draft.value = { ...draft.value, isConfirmed: checked };
          }}
        />
        <span>{words.confirm}</span>
      </label>
      <Errors texts={at('/confirm')} />
    </fieldset>
  );
}

function Expiry({ draft, mostSeconds }: { draft: Signal<CommandDraft>; mostSeconds: number }) {
  const { expiresInSeconds } = draft.value;
  const choices = [...new Set([...EXPIRIES_SECONDS, expiresInSeconds])]
    .filter((seconds) => seconds <= mostSeconds)
    .sort((a, b) => a - b);
  return (
    <Choice
      label={commandWords().expiry}
      value={String(expiresInSeconds)}
      onChange={(text) => {
        draft.value = { ...draft.value, expiresInSeconds: Number(text) };
      }}
    >
      {choices.map((seconds) => (
        <option key={seconds} value={seconds} selected={seconds === expiresInSeconds}>
          {formats().duration(seconds)}
        </option>
      ))}
    </Choice>
  );
}

function shownPointers({ parameters }: CommandAbility): readonly string[] {
  return [
    '/type',
    '/confirm',
    '/maxSpeedKmh',
    '/expiresInSeconds',
    ...parameters.map(({ name }) => `/parameters/${name}`),
  ];
}

/** Errors of the API that belong to no field. */
function Refusal({ error, shown }: { error: unknown; shown: readonly string[] }) {
  if (error instanceof ApiError) {
    const { type, detail, errors = [] } = error.problem;
    const others = errors.filter(({ pointer }) => pointer === undefined || !shown.includes(pointer));
    if (errors.length > 0 && others.length === 0) return null;
    if (type === 'urn:outrider:problem:unsafe-command')
      return (
        <Failure>
          {commandWords().unsafe} <span lang="en">{detail}</span>
        </Failure>
      );
  }
  return <Failure>{describeError(error)}</Failure>;
}

function Errors({ texts }: { texts: readonly string[] }) {
  return texts.length === 0 ? null : <Failure>{texts.join('; ')}</Failure>;
}

/** Notes of the service about a protocol, in English, with code between backticks. */
function How({ text }: { text: string }) {
  return (
    <span lang="en" dir="ltr">
      {text.split('`').map((piece, nth) => (nth % 2 === 1 ? <code key={nth}>{piece}</code> : piece))}
    </span>
  );
}
