import type { ChannelTest, NewChannelTest, NotificationRule } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { IconButton } from '../../parts/buttons.tsx';
import { confirmed } from '../../parts/dialog.tsx';
import type { Edit } from '../../parts/forms/edit.ts';
import { Field } from '../../parts/forms/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { toast } from '../../parts/toast.tsx';
import { api } from '../../session.ts';
import { KINDS, said } from '../me/channel-kind.ts';
import { channelWords } from '../me/channel-words.ts';
import { loadMessageChannels, messageChannels } from '../me/message-channels.tsx';
import { newSecret, type RuleFields, toggled } from './draft.ts';
import { ruleWords } from './words.ts';

interface Props {
  edit: Edit<RuleFields>;
  /** Null: a new one. */
  rule: NotificationRule | null;
  onSecret: (secret: string) => void;
  onRule: (rule: NotificationRule) => void;
}

/** Channels of a rule: always the console, optionally e-mail and webhook. Each can be tested after saving. */
export function Channels({ edit, rule, onSecret, onRule }: Props) {
  const words = ruleWords();
  return (
    <fieldset>
      <legend>{words.how}</legend>
      <p>
        <strong>{words.inApp}</strong> <small>{words.inAppHint}</small>
      </p>
      <Addresses edit={edit} rule={rule} name="emails" label={words.emails} />
      <ChosenChannels edit={edit} />
      <Webhook edit={edit} rule={rule} onSecret={onSecret} onRule={onRule} />
      {rule === null && <small>{words.testAfterSaving}</small>}
    </fieldset>
  );
}

/**
 * Message channels that the user has set up. If the rule has another owner, that owner's channels are kept unchanged.
 */
function ChosenChannels({ edit }: Pick<Props, 'edit'>) {
  const words = channelWords();
  const { channelIds, push } = edit.draft.value;
  const own = messageChannels.value.filter(({ kind }) => kind !== 'web-push');
  const browsers = messageChannels.value.length - own.length;
  useEffect(() => void loadMessageChannels().catch(() => {}), []);
  const all = [...new Set([...own.map(({ id }) => id), ...channelIds])];
  const errors = [...edit.at('/channelIds'), ...channelIds.flatMap((_, nth) => edit.at(`/channelIds/${nth}`))];
  return (
    <fieldset class="options">
      <legend>{words.chosen}</legend>
      <label class="check">
        <input type="checkbox" checked={push} onChange={(event) => edit.set({ push: event.currentTarget.checked })} />
        <span>
          {words.push}{' '}
          <small>{browsers > 0 ? words.browserCount(browsers) : <a href="/me">{words.noBrowser}</a>}</small>
        </span>
      </label>
      {own.length === 0 && (
        <small>
          <a href="/me">{words.none}</a>
        </small>
      )}
      {own.map(({ id, name, kind, state }) => (
        <label key={id} class="check">
          <input
            type="checkbox"
            checked={channelIds.includes(id)}
            onChange={() => edit.set({ channelIds: toggled(channelIds, all, id) })}
          />
          <span>
            <bdi>{name}</bdi> <small>{state === 'pending' ? words.pending : said(KINDS[kind].name)}</small>
          </span>
        </label>
      ))}
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
    </fieldset>
  );
}

interface AddressesProps extends Pick<Props, 'edit' | 'rule'> {
  name: 'emails' | 'escalateTo';
  /** Label of the list. */
  label: string;
}

/** Addresses that get e-mails of the rule, each with whether its holder has confirmed it. */
export function Addresses({ edit, rule, name, label }: AddressesProps) {
  const words = ruleWords();
  const typed = useSignal('');
  const addresses = edit.draft.value[name];
  const add = () => {
    const address = typed.value.trim();
    if (address === '') return;
    if (!addresses.includes(address)) edit.set({ [name]: [...addresses, address] });
    typed.value = '';
  };
  return (
    <>
      {addresses.length > 0 && (
        <ul class="facts-list" aria-label={label}>
          {addresses.map((address, at) => (
            <Email
              key={address}
              address={address}
              rule={rule}
              errors={edit.at(`/${name}/${at}`)}
              onRemove={() => edit.set({ [name]: addresses.filter((one) => one !== address) })}
            />
          ))}
        </ul>
      )}
      <div class="with-button">
        <Field
          label={name === 'emails' ? words.addEmail : label}
          type="email"
          value={typed.value}
          errors={edit.at(`/${name}`)}
          onInput={(event) => (typed.value = event.currentTarget.value)}
          onBlur={add}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            add();
          }}
        />
        <button type="button" onClick={add}>
          <Icon name="plus" /> {words.add}
        </button>
      </div>
    </>
  );
}

interface EmailProps {
  address: string;
  rule: NotificationRule | null;
  errors: readonly string[];
  onRemove: () => void;
}

function Email({ address, rule, errors, onRemove }: EmailProps) {
  const words = ruleWords();
  const known = rule?.emailStates.find((each) => each.address === address);
  return (
    <li>
      <div>
        <span class="address">
          <bdi>{address}</bdi>
        </span>
        {known && <small class={`mail-${known.state}`}>{words.emailStates[known.state]}</small>}
        {known !== undefined && known.suppressedToday > 0 && <small>{words.suppressed(known.suppressedToday)}</small>}
        {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
        {rule !== null && known !== undefined && (
          <TestButton ruleId={rule.id} test={{ channel: 'email', address }} target={address} />
        )}
      </div>
      <IconButton icon="trash" label={words.remove(address)} onClick={onRemove} />
    </li>
  );
}

function Webhook({ edit, rule, onSecret, onRule }: Props) {
  const words = ruleWords();
  const { webhook } = edit.draft.value;
  const replaceSecret = async () => {
    if (rule?.webhook == null || !(await confirmed(words.newSecret, words.newSecretQuestion, words.newSecret))) return;
    const secret = newSecret((bytes) => crypto.getRandomValues(bytes));
    try {
      const body = { webhook: { url: rule.webhook.url, secret } };
      onRule(await api.patch('/api/v1/notification-rules/{id}', { path: { id: rule.id }, body }));
      onSecret(secret);
    } catch (error) {
      toast(describeError(error), 'error');
    }
  };
  return (
    <>
      <Field
        label={words.webhookUrl}
        type="url"
        placeholder="https://"
        hint={words.webhookHint}
        value={webhook?.url ?? ''}
        errors={[...edit.at('/webhook/url'), ...edit.at('/webhook')]}
        onInput={({ currentTarget: { value } }) => edit.set({ webhook: value === '' ? null : { url: value } })}
      />
      {rule?.webhook && (
        <>
          <TestButton ruleId={rule.id} test={{ channel: 'webhook' }} target={rule.webhook.url} />
          <div class="actions">
            <button type="button" onClick={() => void replaceSecret()}>
              <Icon name="lock" /> {words.newSecret}
            </button>
          </div>
        </>
      )}
    </>
  );
}

const POLL_MS = 700;

/** Sends a test message over a channel, and shows the outcome. */
function TestButton({ ruleId, test, target }: { ruleId: string; test: NewChannelTest; target: string }) {
  const words = ruleWords();
  const result = useSignal<ChannelTest | null>(null);
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  const send = async () => {
    const { signal } = leaving.current;
    try {
      const path = { id: ruleId };
      result.value = await api.post('/api/v1/notification-rules/{id}/channel-tests', { path, body: test });
      while (result.peek()?.state === 'pending' && !signal.aborted) {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        const { items } = await api.get('/api/v1/notification-rules/{id}/channel-tests', { path, signal });
        result.value = items.find(({ id }) => id === result.peek()?.id) ?? null;
      }
    } catch (error) {
      if (!signal.aborted) toast(describeError(error), 'error');
    }
  };
  const shown = result.value;
  return (
    <div class="test">
      <button
        type="button"
        aria-label={words.testOf(target)}
        disabled={shown?.state === 'pending'}
        onClick={() => void send()}
      >
        {words.test}
      </button>
      <output>
        {shown !== null && (
          <span class={`chip ${shown.state}`}>
            {words.testStates[shown.state]}
            {shown.responseStatus !== null && ` (${shown.responseStatus})`}
          </span>
        )}
        {shown?.lastError && <small class="error">{shown.lastError}</small>}
      </output>
    </div>
  );
}
