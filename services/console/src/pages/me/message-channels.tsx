import { ApiError, type MessageChannel, type MessageChannelTest } from '@outrider/client';
import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { isOf, isPushSupported, thisBrowser, turnOff, turnOn } from '../../installed/push.ts';
import { IconButton } from '../../parts/buttons.tsx';
import { confirmed } from '../../parts/dialog.tsx';
import { Field } from '../../parts/forms/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { toast } from '../../parts/toast.tsx';
import { hasRight } from '../../rights.ts';
import { api, user as me } from '../../session.ts';
import { ruleWords } from '../rules/words.ts';
import { ChannelForm } from './channel-form.tsx';
import { type ChannelKindName, type ChannelSettings, KIND_NAMES, KINDS, said } from './channel-kind.ts';
import { channelWords } from './channel-words.ts';

/** The user's own channels, as last loaded. */
export const messageChannels = signal<readonly MessageChannel[]>([]);

export async function loadMessageChannels(): Promise<void> {
  messageChannels.value = (await api.get('/api/v1/me/message-channels', {})).items;
}

const POLL_MS = 700;

/** Messengers and webhooks of other services through which rules can send messages. */
export function MessageChannelList() {
  const words = channelWords();
  const edited = useSignal<MessageChannel | ChannelKindName | null>(null);
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
          {KIND_NAMES.map((kind) => {
            const { add } = KINDS[kind];
            return (
              add && (
                <button key={kind} type="button" onClick={() => (edited.value = kind)}>
                  <Icon name="plus" /> {said(add)}
                </button>
              )
            );
          })}
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
          {said(KINDS[kind].name)} <bdi>{to}</bdi>
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
                {ruleWords().testStates[test.value.state]}
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
  return String((settings as ChannelSettings)[KINDS[kind].target] ?? '');
}

/** Fingerprint of this browser's push subscription; null: no push messages. */
const browser = signal<string | null>(null);

/** Push messages of this browser. Permission is requested only when the user turns them on. */
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
