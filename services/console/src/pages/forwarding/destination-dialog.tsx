import { ApiError, EVENT_KINDS, type ForwardingDestination, type NewForwardingDestination } from '@outrider/client';
import { type Signal, useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { CancelButton, SubmitButton } from '../../parts/buttons.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { GroupPicker, Picker, VehiclePicker } from '../../parts/forms/picker.tsx';
import { Failure } from '../../parts/message.tsx';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { forwardingWords } from './words.ts';

type Kind = ForwardingDestination['kind'];
const KINDS: readonly Kind[] = ['http', 'mqtt', 'kafka', 'wialon-ips', 'egts'];
const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
const SECRET_BYTES = 32;

/** Fields of all kinds of destination. Only those of the chosen kind are sent. */
interface Draft {
  url: string;
  /** One header per line, `Name: value`. */
  headers: string;
  /** In the same format. A stored header that is listed without a value is removed. */
  secretHeaders: string;
  ca: string;
  host: string;
  port: string;
  tls: boolean;
  username: string;
  topicPrefix: string;
  homeAssistant: boolean;
  discoveryPrefix: string;
  brokers: string;
  topic: string;
  mechanism: string;
  dispatcherId: string;
}

const PORTS: Readonly<Partial<Record<Kind, string>>> = { mqtt: '1883', 'wialon-ips': '20332' };

function draftOf(settings: ForwardingDestination['settings']): Draft {
  return {
    url: settings.url ?? '',
    headers: Object.entries(settings.headers ?? {})
      .map(([header, value]) => `${header}: ${value}`)
      .join('\n'),
    secretHeaders: '',
    ca: settings.ca ?? '',
    host: settings.host ?? '',
    port: settings.port === undefined ? '' : `${settings.port}`,
    tls: settings.tls ?? false,
    username: settings.username ?? '',
    topicPrefix: settings.topicPrefix ?? 'outrider',
    homeAssistant: settings.homeAssistant ?? false,
    discoveryPrefix: settings.discoveryPrefix ?? 'homeassistant',
    brokers: settings.brokers?.join(', ') ?? '',
    topic: settings.topic ?? '',
    mechanism: settings.mechanism ?? '',
    dispatcherId: settings.dispatcherId === undefined ? '' : `${settings.dispatcherId}`,
  };
}

function settingsOf(kind: Kind, draft: Draft): object {
  const { url, topicPrefix, homeAssistant, discoveryPrefix, topic, tls } = draft;
  const username = draft.username === '' ? null : draft.username;
  const to = { host: draft.host.trim(), port: Number(draft.port), tls };
  const ca = draft.ca.trim() === '' ? null : draft.ca.trim();
  switch (kind) {
    case 'http':
      return { url: url.trim(), headers: Object.fromEntries(headersOf(draft.headers)), ca };
    case 'mqtt':
      return { ...to, username, topicPrefix, homeAssistant, discoveryPrefix, ca: tls ? ca : null };
    case 'kafka': {
      const brokers = draft.brokers.split(',').map((broker) => broker.trim());
      const mechanism = draft.mechanism === '' ? null : draft.mechanism;
      const to = { brokers, topic: topic.trim(), tls, ca: tls ? ca : null };
      return { ...to, mechanism, username: mechanism === null ? null : username };
    }
    case 'wialon-ips':
      return to;
    case 'egts':
      return { ...to, dispatcherId: Number(draft.dispatcherId), username };
  }
}

function headersOf(lines: string): [name: string, value: string][] {
  return lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => [
      line.split(':', 1)[0]?.trim() ?? '',
      line.includes(':') ? line.slice(line.indexOf(':') + 1).trim() : '',
    ]);
}

/** A stored secret header that is listed without a value is set to null, which removes it. */
function secretHeadersOf(lines: string, stored: readonly string[]): Record<string, string | null> {
  const isStored = (name: string) => stored.some((each) => each.toLowerCase() === name.toLowerCase());
  return Object.fromEntries(
    headersOf(lines).map(([name, value]) => [name, value === '' && isStored(name) ? null : value]),
  );
}

/** Generates a secret for signing batches, so that nobody has to invent one. */
function newSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))))}`;
}

interface Props {
  /** Null: a new one. */
  destination: ForwardingDestination | null;
  onSaved: () => void;
  onClose: () => void;
}

export function DestinationDialog({ destination, onSaved, onClose }: Props) {
  const words = forwardingWords();
  const kind = useSignal<Kind>(destination?.kind ?? 'http');
  const name = useSignal(destination?.name ?? '');
  const draft = useSignal(draftOf(destination?.settings ?? {}));
  const secret = useSignal(destination === null ? newSecret() : '');
  const filter = useSignal(
    destination?.filter ?? { vehicleIds: null, groupIds: null, positions: true, events: false, eventKinds: null },
  );
  const error = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const at = (pointer: string) => (error.value instanceof ApiError ? [...error.value.at(pointer)] : []);
  const carriesEvents = kind.value !== 'wialon-ips' && kind.value !== 'egts';
  const choose = (chosen: Kind) => {
    kind.value = chosen;
    draft.value = { ...draft.peek(), port: PORTS[chosen] ?? '' };
    secret.value = chosen === 'http' ? newSecret() : '';
  };
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    isBusy.value = true;
    const secretHeaders = secretHeadersOf(draft.peek().secretHeaders, destination?.secretHeaderNames ?? []);
    const body = {
      name: name.peek(),
      ...(kind.peek() === 'http' ? { secretHeaders } : {}),
      settings: settingsOf(kind.peek(), draft.peek()),
      filter: { ...filter.peek(), events: carriesEvents && filter.peek().events },
      ...(secret.peek() === '' ? {} : { secret: secret.peek() }),
    };
    try {
      if (destination !== null)
        await api.patch('/api/v1/forwarding-destinations/{id}', { path: { id: destination.id }, body });
      else {
        const wish = { ...body, kind: kind.peek() } as NewForwardingDestination;
        await api.post('/api/v1/forwarding-destinations', { body: wish });
      }
      onSaved();
    } catch (reason) {
      error.value = reason;
      isBusy.value = false;
    }
  };
  return (
    <Dialog title={destination === null ? words.new : words.editOf(destination.name)} onClose={onClose}>
      <form class="form" onSubmit={save}>
        <Field
          label={t().name}
          required
          maxLength={100}
          value={name.value}
          errors={at('/name')}
          onInput={(event) => (name.value = event.currentTarget.value)}
        />
        {destination === null && (
          <Choice label={words.kind} value={kind.value} onChange={(chosen) => choose(chosen as Kind)}>
            {KINDS.map((each) => (
              <option key={each} value={each} selected={each === kind.value}>
                {words.kinds[each]}
              </option>
            ))}
          </Choice>
        )}
        <SettingsFields
          kind={kind.value}
          draft={draft}
          storedHeaders={destination?.secretHeaderNames ?? []}
          at={at}
          error={error.value}
        />
        <SecretField
          kind={kind.value}
          secret={secret}
          isKept={destination?.hasSecret ?? false}
          errors={at('/secret')}
        />
        <FilterFields filter={filter} carriesEvents={carriesEvents} at={at} />
        {error.value !== null && <Failure>{describeError(error.value)}</Failure>}
        <div class="actions">
          <SubmitButton disabled={isBusy.value}>{t().save}</SubmitButton>
          <CancelButton onClick={onClose} />
        </div>
      </form>
    </Dialog>
  );
}

interface SecretProps {
  kind: Kind;
  secret: Signal<string>;
  /** A secret is stored, and is kept unless a new one is entered. */
  isKept: boolean;
  errors: string[];
}

/**
 * Field for a password, which is hidden, or for the signing secret, which is generated here to be copied to the
 * receiving system.
 */
function SecretField({ kind, secret, isKept, errors }: SecretProps) {
  const words = forwardingWords();
  const more = {
    autocomplete: 'off' as const,
    dir: 'ltr' as const,
    value: secret.value,
    errors,
    onInput: (event: InputEvent & { currentTarget: HTMLInputElement }) => (secret.value = event.currentTarget.value),
  };
  return kind === 'http' ? (
    <Field label={words.secret} hint={isKept ? words.kept : words.secretHint} {...more} />
  ) : (
    <Field label={words.password} type="password" {...(isKept && { hint: words.kept })} {...more} />
  );
}

interface PartProps {
  at: (pointer: string) => string[];
}

interface SettingsProps extends PartProps {
  kind: Kind;
  draft: Signal<Draft>;
  /** Names of secret headers that are stored. */
  storedHeaders: readonly string[];
  error: unknown;
}

function SettingsFields({ kind, draft, storedHeaders, at, error }: SettingsProps) {
  const words = forwardingWords();
  type TextName = { [Name in keyof Draft]: Draft[Name] extends string ? Name : never }[keyof Draft];
  const text = (field: TextName, label: string, more: object = {}) => (
    <Field
      label={label}
      dir="ltr"
      value={draft.value[field]}
      errors={field === 'brokers' ? brokerErrors(at) : at(`/settings/${field}`)}
      onInput={(event) => (draft.value = { ...draft.value, [field]: event.currentTarget.value })}
      {...more}
    />
  );
  const check = (field: 'tls' | 'homeAssistant', label: string) => (
    <label class="check">
      <input
        type="checkbox"
        checked={draft.value[field]}
        onChange={(event) => (draft.value = { ...draft.value, [field]: event.currentTarget.checked })}
      />
      <span>{label}</span>
    </label>
  );
  const area = (field: 'headers' | 'secretHeaders' | 'ca', label: string, hint: string, pointer: string) => (
    <Lines
      label={label}
      hint={hint}
      value={draft.value[field]}
      errors={errorsWithin(error, pointer)}
      onInput={(value) => (draft.value = { ...draft.value, [field]: value })}
    />
  );
  const ca = () => area('ca', words.ca, words.caHint, '/settings/ca');
  if (kind === 'http') {
    const kept = storedHeaders.length === 0 ? '' : ` ${words.storedHeaders(storedHeaders.join(', '))}`;
    return (
      <>
        {text('url', 'URL', { required: true, placeholder: 'https://' })}
        {area('headers', words.headers, words.headersHint, '/settings/headers')}
        {area('secretHeaders', words.secretHeaders, `${words.secretHeadersHint}${kept}`, '/secretHeaders')}
        {draft.value.url.startsWith('https:') && ca()}
      </>
    );
  }
  const number = { required: true, inputMode: 'numeric' };
  return (
    <>
      {kind === 'kafka' ? (
        <>
          {text('brokers', words.brokers, { required: true })}
          {text('topic', words.topic, { required: true })}
        </>
      ) : (
        <>
          {text('host', words.host, { required: true })}
          {text('port', words.port, number)}
        </>
      )}
      {check('tls', words.tls)}
      {draft.value.tls && (kind === 'mqtt' || kind === 'kafka') && ca()}
      {kind === 'mqtt' && text('topicPrefix', words.topicPrefix, { required: true })}
      {kind === 'mqtt' && check('homeAssistant', words.homeAssistant)}
      {kind === 'mqtt' &&
        draft.value.homeAssistant &&
        text('discoveryPrefix', words.discoveryPrefix, { required: true })}
      {kind === 'egts' && text('dispatcherId', words.dispatcherId, number)}
      {kind === 'kafka' && (
        <Choice
          label={words.mechanism}
          value={draft.value.mechanism}
          onChange={(mechanism) => (draft.value = { ...draft.value, mechanism })}
        >
          <option value="">{words.noLogin}</option>
          {MECHANISMS.map((each) => (
            <option key={each} value={each} selected={each === draft.value.mechanism}>
              {each.toUpperCase()}
            </option>
          ))}
        </Choice>
      )}
      {kind !== 'wialon-ips' && text('username', words.username, { autocomplete: 'off' })}
    </>
  );
}

interface LinesProps {
  label: string;
  hint: string;
  value: string;
  errors: string[];
  onInput: (value: string) => void;
}

function Lines({ label, hint, value, errors, onInput }: LinesProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={2}
        dir="ltr"
        spellcheck={false}
        value={value}
        aria-invalid={errors.length > 0}
        aria-describedby={`${id}-hint`}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <small id={`${id}-hint`}>{hint}</small>
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
    </div>
  );
}

/** Errors of a field, including those of its parts, such as one header. */
function errorsWithin(error: unknown, pointer: string): string[] {
  if (!(error instanceof ApiError)) return [];
  return (error.problem.errors ?? [])
    .filter((each) => each.pointer === pointer || each.pointer?.startsWith(`${pointer}/`))
    .map(({ detail }) => detail);
}

const MAX_BROKERS = 20;
function brokerErrors(at: PartProps['at']): string[] {
  return [
    at('/settings/brokers'),
    ...Array.from({ length: MAX_BROKERS }, (_, nth) => at(`/settings/brokers/${nth}`)),
  ].flat();
}

interface FilterProps extends PartProps {
  filter: Signal<ForwardingDestination['filter']>;
  carriesEvents: boolean;
}

function FilterFields({ filter, carriesEvents, at }: FilterProps) {
  const words = forwardingWords();
  const { vehicleIds, groupIds, positions, events, eventKinds } = filter.value;
  const set = (change: Partial<ForwardingDestination['filter']>) => (filter.value = { ...filter.value, ...change });
  const orAll = <T extends string>(ids: readonly T[]) => (ids.length === 0 ? null : [...ids]);
  return (
    <fieldset>
      <legend>{words.what}</legend>
      <label class="check">
        <input
          type="checkbox"
          checked={positions}
          onChange={(event) => set({ positions: event.currentTarget.checked })}
        />
        <span>{words.positions}</span>
      </label>
      {carriesEvents && (
        <label class="check">
          <input type="checkbox" checked={events} onChange={(event) => set({ events: event.currentTarget.checked })} />
          <span>{words.events}</span>
        </label>
      )}
      {at('/filter').length > 0 && <p class="error">{at('/filter').join('; ')}</p>}
      {carriesEvents && events && (
        <Picker
          label={words.eventKinds}
          items={EVENT_KINDS.map((each) => ({ id: each, name: t().events[each] ?? each }))}
          chosen={eventKinds ?? []}
          all={words.allKinds}
          onChange={(kinds) => set({ eventKinds: orAll(kinds) as typeof eventKinds })}
        />
      )}
      <VehiclePicker
        chosen={vehicleIds ?? []}
        all={words.allVehicles}
        onChange={(ids) => set({ vehicleIds: orAll(ids) })}
      />
      <GroupPicker chosen={groupIds ?? []} all={words.allGroups} onChange={(ids) => set({ groupIds: orAll(ids) })} />
      <small>{words.filterHint}</small>
    </fieldset>
  );
}
