import {
  ApiError,
  type HttpChannelSettings,
  type MessageChannel,
  type MessageChannelTest,
  type TelegramSettings,
  type WebPushSettings,
} from '@outrider/client';
import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { isOf, isPushSupported, thisBrowser, turnOff, turnOn } from '../../installed/push.ts';
import { CancelButton, IconButton } from '../../parts/buttons.tsx';
import { confirmed } from '../../parts/dialog.tsx';
import { Choice, Field } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Failure } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { api, user as me } from '../../session.ts';
import { hasRight } from '../../views.ts';
import { t } from '../../words/words.ts';
import { channelWords } from './channel-words.ts';

/** The user's own, as last loaded. */
export const messageChannels = signal<readonly MessageChannel[]>([]);

export async function loadMessageChannels(): Promise<void> {
  messageChannels.value = (await api.get('/api/v1/me/message-channels', {})).items;
}

const POLL_MS = 700;
const NEW_HTTP: HttpChannelSettings = {
  method: 'POST',
  url: '',
  headers: [],
  contentType: 'application/json',
  body: '{"to":"{to}","text":"{title}"}',
  to: '',
};

/** Chats and calls of other services that rules can send messages by. */
export function MessageChannelList() {
  const words = channelWords();
  const edited = useSignal<MessageChannel | 'telegram' | 'http' | null>(null);
  const error = useSignal<unknown>(null);
  useEffect(() => void loadMessageChannels().catch((reason) => (error.value = reason)), []);
  const mayAdd = Boolean(me.value && hasRight(me.value, 'edit-notifications'));
  const saved = () => {
    edited.value = null;
    toast(words.saved);
    void loadMessageChannels();
  };
  return (
    <>
      {error.value !== null && <p class="error">{describeError(error.value)}</p>}
      {mayAdd && <ThisBrowser />}
      {messageChannels.value.length === 0 && edited.value === null && <p>{words.empty}</p>}
      {messageChannels.value.length > 0 && (
        <ul class="facts-list" aria-label={words.title}>
          {messageChannels.value.map((channel) => (
            <Channel key={channel.id} channel={channel} onEdit={() => (edited.value = channel)} />
          ))}
        </ul>
      )}
      {edited.value !== null && (
        <ChannelForm
          key={typeof edited.value === 'string' ? edited.value : edited.value.id}
          edited={edited.value}
          onSaved={saved}
          onCancel={() => (edited.value = null)}
        />
      )}
      {mayAdd && edited.value === null && (
        <div class="actions">
          {(['telegram', 'http'] as const).map((kind) => (
            <button key={kind} type="button" onClick={() => (edited.value = kind)}>
              <Icon name="plus" /> {words.add[kind]}
            </button>
          ))}
        </div>
      )}
    </>
  );
}

function Channel({ channel, onEdit }: { channel: MessageChannel; onEdit: () => void }) {
  const words = channelWords();
  const { id, name, kind, state } = channel;
  const test = useSignal<MessageChannelTest | null>(null);
  const to = targetOf(channel);
  const send = async () => {
    try {
      test.value = await api.post('/api/v1/me/message-channels/{id}/tests', { path: { id } });
      while (test.peek()?.state === 'pending') {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        const { items } = await api.get('/api/v1/me/message-channels/{id}/tests', { path: { id } });
        test.value = items.find((each) => each.id === test.peek()?.id) ?? null;
      }
    } catch (reason) {
      toast(describeError(reason), 'error');
    }
  };
  const remove = async () => {
    if (!(await confirmed(words.remove, words.removeQuestion(name), words.remove))) return;
    try {
      if (isOf(channel, browser.peek())) await turnOff(channel);
      else await api.delete('/api/v1/me/message-channels/{id}', { path: { id } });
      await loadMessageChannels();
    } catch (reason) {
      toast(describeError(reason), 'error');
    }
  };
  return (
    <li>
      <div>
        <strong>
          <bdi>{name}</bdi>
        </strong>{' '}
        <small>
          {words.kinds[kind]} <bdi>{to}</bdi>
        </small>
        {isOf(channel, browser.value) && <small class="chip">{words.thisBrowser}</small>}
        {state === 'pending' && <small class="mail-pending">{words.pending}</small>}
        <div class="actions">
          <button type="button" disabled={test.value?.state === 'pending'} onClick={() => void send()}>
            {state === 'pending' ? words.sendCode : words.test}
          </button>
          <output>
            {test.value && (
              <span class={`chip ${test.value.state}`}>
                {t().rules.testStates[test.value.state]}
                {test.value.responseStatus !== null && ` (${test.value.responseStatus})`}
              </span>
            )}
            {test.value?.lastError && <small class="error">{test.value.lastError}</small>}
          </output>
        </div>
        {state === 'pending' && <CodeForm id={id} />}
      </div>
      <div class="actions">
        <IconButton icon="edit" label={words.editOf(name)} onClick={onEdit} />
        <IconButton icon="trash" label={words.removeOf(name)} onClick={() => void remove()} />
      </div>
    </li>
  );
}

function targetOf({ kind, settings }: MessageChannel): string {
  if (kind === 'telegram') return (settings as TelegramSettings).chatId;
  return kind === 'web-push' ? (settings as WebPushSettings).service : ((settings as HttpChannelSettings).to ?? '');
}

/** What this browser is known by; null: it takes no push messages. */
const browser = signal<string | null>(null);

/** Push messages of this browser: they are asked for only where somebody turns them on. */
function ThisBrowser() {
  const words = channelWords();
  const isBusy = useSignal(false);
  const account = me.value;
  const isSupported = isPushSupported();
  const isOn = messageChannels.value.some((channel) => isOf(channel, browser.value));
  useEffect(() => void thisBrowser().then((known) => (browser.value = known)), []);
  const turn = async () => {
    if (!account) return;
    isBusy.value = true;
    try {
      if (!(await turnOn(account.id))) toast(words.pushRefused, 'error');
      browser.value = await thisBrowser();
      await loadMessageChannels();
    } catch (reason) {
      toast(reason instanceof ApiError ? describeError(reason) : words.pushFailed, 'error');
    }
    isBusy.value = false;
  };
  if (isOn) return null;
  return (
    <div class="field">
      <small>{isSupported ? words.pushHint : words.pushUnsupported}</small>
      {isSupported && (
        <div class="actions">
          <button type="button" disabled={isBusy.value} onClick={() => void turn()}>
            <Icon name="bell" /> {words.pushOn}
          </button>
        </div>
      )}
    </div>
  );
}

function CodeForm({ id }: { id: string }) {
  const words = channelWords();
  const code = useSignal('');
  const error = useSignal<unknown>(null);
  const confirm = async (event: SubmitEvent) => {
    event.preventDefault();
    try {
      const body = { code: code.value.trim() };
      await api.post('/api/v1/me/message-channels/{id}/confirm', { path: { id }, body });
      toast(words.confirmed);
      await loadMessageChannels();
    } catch (reason) {
      error.value = reason;
    }
  };
  return (
    <form class="with-button" onSubmit={confirm}>
      <Field
        label={words.code}
        hint={words.codeHint}
        inputMode="numeric"
        autocomplete="one-time-code"
        maxLength={6}
        value={code.value}
        errors={error.value === null ? [] : errorsAt(error.value, '/code')}
        onInput={(event) => (code.value = event.currentTarget.value)}
      />
      <button type="submit">{words.confirm}</button>
    </form>
  );
}

function errorsAt(error: unknown, pointer: string): string[] {
  const at = error instanceof ApiError ? error.at(pointer) : [];
  return at.length > 0 ? [...at] : [describeError(error)];
}

interface FormProps {
  edited: MessageChannel | 'telegram' | 'http';
  onSaved: () => void;
  onCancel: () => void;
}

function ChannelForm({ edited, onSaved, onCancel }: FormProps) {
  const words = channelWords();
  const current = typeof edited === 'string' ? null : edited;
  const kind = typeof edited === 'string' ? edited : edited.kind;
  const name = useSignal(current?.name ?? words.kinds[kind]);
  const secret = useSignal('');
  const chatId = useSignal(kind === 'telegram' && current ? (current.settings as TelegramSettings).chatId : '');
  const http = useSignal({
    ...NEW_HTTP,
    ...(kind === 'http' && current ? (current.settings as HttpChannelSettings) : {}),
  });
  const error = useSignal<unknown>(null);
  const at = (pointer: string) => (error.value instanceof ApiError ? [...error.value.at(pointer)] : []);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const settings =
      kind === 'telegram'
        ? { settings: { chatId: chatId.value.trim() } }
        : kind === 'http'
          ? { settings: http.value }
          : {};
    const given = secret.value === '' ? {} : { secret: secret.value };
    try {
      if (current !== null) {
        const body = { name: name.value, ...settings, ...given };
        await api.patch('/api/v1/me/message-channels/{id}', { path: { id: current.id }, body });
      } else if (kind === 'telegram')
        await api.post('/api/v1/me/message-channels', {
          body: { kind, name: name.value, settings: { chatId: chatId.value.trim() }, secret: secret.value },
        });
      else if (kind === 'http')
        await api.post('/api/v1/me/message-channels', {
          body: { kind, name: name.value, settings: http.value, ...given },
        });
      onSaved();
    } catch (reason) {
      error.value = reason;
    }
  };
  return (
    <form class="form" onSubmit={save}>
      <Field
        label={t().name}
        required
        maxLength={100}
        value={name.value}
        errors={at('/name')}
        onInput={(event) => (name.value = event.currentTarget.value)}
      />
      {kind === 'telegram' ? (
        <Field
          label={words.chat}
          hint={words.chatHint}
          required
          value={chatId.value}
          errors={at('/settings/chatId')}
          onInput={(event) => (chatId.value = event.currentTarget.value)}
        />
      ) : kind === 'http' ? (
        <HttpFields value={http.value} at={at} onChange={(change) => (http.value = { ...http.value, ...change })} />
      ) : null}
      {kind !== 'web-push' && (
        <Field
          label={kind === 'telegram' ? words.token : words.secret}
          hint={current?.hasSecret ? words.secretKept : kind === 'telegram' ? words.tokenHint : words.secretHint}
          type="password"
          autocomplete="off"
          required={kind === 'telegram' && current === null}
          value={secret.value}
          errors={at('/secret')}
          onInput={(event) => (secret.value = event.currentTarget.value)}
        />
      )}
      {error.value !== null && <Failure>{describeError(error.value)}</Failure>}
      <div class="actions">
        <button type="submit">{t().save}</button>
        <CancelButton onClick={onCancel} />
      </div>
    </form>
  );
}

interface HttpProps {
  value: HttpChannelSettings;
  at: (pointer: string) => string[];
  onChange: (change: Partial<HttpChannelSettings>) => void;
}

const METHODS = ['POST', 'GET', 'PUT'] as const;
const TYPES = ['application/json', 'application/x-www-form-urlencoded', 'text/plain', 'application/xml'] as const;

function HttpFields({ value, at, onChange }: HttpProps) {
  const words = channelWords();
  const { method, url, headers, contentType, body, to } = value;
  const lines = headers.map((each) => `${each.name}: ${each.value}`).join('\n');
  const typed = useSignal(lines);
  const headerErrors = headers.flatMap((_, nth) => [
    ...at(`/settings/headers/${nth}/name`),
    ...at(`/settings/headers/${nth}/value`),
  ]);
  const readHeaders = (text: string) => {
    typed.value = text;
    const read = text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => ({ name: line.split(':', 1)[0]?.trim() ?? '', value: line.slice(line.indexOf(':') + 1).trim() }));
    onChange({ headers: read });
  };
  return (
    <>
      <p>
        <small>{words.placeholders}</small>
      </p>
      <Field
        label={words.to}
        hint={words.toHint}
        value={to}
        errors={at('/settings/to')}
        onInput={(event) => onChange({ to: event.currentTarget.value })}
      />
      <Choice
        label={words.method}
        value={method}
        onChange={(chosen) => onChange({ method: chosen as (typeof METHODS)[number] })}
      >
        {METHODS.map((each) => (
          <option key={each} selected={each === method}>
            {each}
          </option>
        ))}
      </Choice>
      <Field
        label="URL"
        required
        placeholder="https://"
        value={url}
        errors={at('/settings/url')}
        onInput={(event) => onChange({ url: event.currentTarget.value })}
      />
      <label class="field">
        <span>{words.headers}</span>
        <textarea
          rows={2}
          dir="ltr"
          value={typed.value}
          aria-invalid={headerErrors.length > 0}
          onInput={(event) => readHeaders(event.currentTarget.value)}
        />
        {headerErrors.length > 0 && <span class="error">{headerErrors.join('; ')}</span>}
      </label>
      {method !== 'GET' && (
        <>
          <Choice
            label={words.contentType}
            value={contentType}
            onChange={(chosen) => onChange({ contentType: chosen as (typeof TYPES)[number] })}
          >
            {TYPES.map((each) => (
              <option key={each} selected={each === contentType}>
                {each}
              </option>
            ))}
          </Choice>
          <label class="field">
            <span>{words.body}</span>
            <textarea
              rows={4}
              dir="ltr"
              value={body}
              aria-invalid={at('/settings/body').length > 0}
              onInput={(event) => onChange({ body: event.currentTarget.value })}
            />
            {at('/settings/body').length > 0 && <span class="error">{at('/settings/body').join('; ')}</span>}
          </label>
        </>
      )}
    </>
  );
}
