import { ApiError, type ApiKey, type CreatedApiKey } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { groups } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { CancelButton, SubmitButton } from '../../parts/buttons.tsx';
import { confirmed, Dialog } from '../../parts/dialog.tsx';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { GroupPicker } from '../../parts/forms/picker.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Failure } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { api } from '../../session.ts';
import { joined, t } from '../../words/words.ts';
import '../../style/manage.css';
import { userWords } from './words.ts';

type Scope = ApiKey['scopes'][number];
const SCOPES: readonly Scope[] = ['read', 'write', 'commands', 'video'];
const DAY_MS = 86_400_000;
/** Lifetimes of a key, in days; 0: it does not expire. */
const LIFETIMES = [30, 90, 365, 0];

interface Props {
  userId: string;
  /** Whether the caller may create keys here. Keys of others can only be revoked. */
  isOwn: boolean;
  /** Whether the account may use the API. Without this right, its keys are useless and no new ones can be created. */
  apiAccess: boolean;
}

/** API keys with which programs act for an account: their scopes, and their last use. */
export function ApiKeyList({ userId, isOwn, apiAccess }: Props) {
  const words = userWords().apiKeys;
  const keys = useSignal<readonly ApiKey[] | null>(null);
  const error = useSignal<string | null>(null);
  const isMaking = useSignal(false);
  const read = async () => {
    try {
      const query = isOwn ? {} : { userId };
      keys.value = (await api.get('/api/v1/api-keys', { query: { limit: 100, ...query } })).items;
      error.value = null;
    } catch (reason) {
      error.value = describeError(reason);
    }
  };
  useEffect(() => void read(), [userId]);
  const revoke = async ({ id, name }: ApiKey) => {
    if (!(await confirmed(words.revoke, words.revokeQuestion(name), words.revoke))) return;
    try {
      await api.delete('/api/v1/api-keys/{id}', { path: { id } });
      toast(words.revoked(name));
    } catch (reason) {
      toast(describeError(reason), 'error');
    }
    await read();
  };
  return (
    <section class="body" aria-label={words.title}>
      <h3>{words.title}</h3>
      {isOwn && <small>{apiAccess ? words.hint : words.noApiAccess}</small>}
      {error.value !== null && <p class="error">{error.value}</p>}
      {keys.value?.length === 0 && <p>{words.none}</p>}
      <ul class="facts-list">
        {keys.value?.map((key) => (
          <li key={key.id}>
            <div>
              <strong>
                <bdi>{key.name}</bdi>
              </strong>
              <small>
                {key.scopes.map((scope) => words.scopes[scope]).join(', ')} · {groupsOf(key)}
              </small>
              <small>
                {key.lastUsedAt === null
                  ? words.neverUsed
                  : `${userWords().sessions.lastUsed(formats().moment(key.lastUsedAt))} · ${key.lastUsedAddress}`}
              </small>
              <small>
                {key.expiresAt === null ? words.noExpiry : words.expires(formats().dateTime(key.expiresAt))}
              </small>
            </div>
            <button type="button" aria-label={words.revokeOf(key.name)} onClick={() => void revoke(key)}>
              {words.revoke}
            </button>
          </li>
        ))}
      </ul>
      {isOwn && apiAccess && (
        <button type="button" onClick={() => (isMaking.value = true)}>
          <Icon name="plus" /> {words.make}
        </button>
      )}
      {isMaking.value && (
        <KeyDialog
          onMade={() => void read()}
          onClose={() => {
            isMaking.value = false;
          }}
        />
      )}
    </section>
  );
}

function groupsOf({ groupIds }: ApiKey): string {
  if (groupIds === null) return userWords().apiKeys.allGroups;
  const names = groups.value.filter(({ id }) => groupIds.includes(id)).map(({ name }) => name);
  return names.length === 0 ? userWords().apiKeys.noGroups : joined(names, ', ');
}

/** Chooses the scopes of a key, creates it, and shows it once. */
function KeyDialog({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const words = userWords().apiKeys;
  const name = useSignal('');
  const scopes = useSignal<readonly Scope[]>(['read']);
  const groupIds = useSignal<readonly string[]>([]);
  const days = useSignal(365);
  const error = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const made = useSignal<CreatedApiKey | null>(null);
  const make = async (event: SubmitEvent) => {
    event.preventDefault();
    isBusy.value = true;
    error.value = null;
    const body = {
      name: name.peek(),
      scopes: [...scopes.peek()],
      groupIds: groupIds.peek().length === 0 ? null : [...groupIds.peek()],
      expiresAt: days.peek() === 0 ? null : new Date(Date.now() + days.peek() * DAY_MS).toISOString(),
    };
    try {
      made.value = await api.post('/api/v1/api-keys', { body });
      onMade();
    } catch (reason) {
      error.value = reason;
    } finally {
      isBusy.value = false;
    }
  };
  const at = (pointer: string) => (error.value instanceof ApiError ? error.value.at(pointer) : []);
  const isElsewhere = error.value !== null && ['/name', '/groupIds'].every((pointer) => at(pointer).length === 0);
  const toggle = (scope: Scope) => {
    const chosen = scopes.peek();
    scopes.value = chosen.includes(scope) ? chosen.filter((each) => each !== scope) : [...chosen, scope];
  };
  return (
    <Dialog title={words.make} onClose={onClose}>
      {made.value === null ? (
        <form class="form" onSubmit={make}>
          <Field
            label={t().name}
            hint={words.nameHint}
            required
            maxLength={100}
            value={name.value}
            errors={at('/name')}
            onInput={(event) => {
              name.value = event.currentTarget.value;
            }}
          />
          <fieldset>
            <legend>{words.mayDo}</legend>
            {SCOPES.map((scope) => (
              <label key={scope} class="check">
                <input type="checkbox" checked={scopes.value.includes(scope)} onChange={() => toggle(scope)} />
                <span>{words.scopes[scope]}</span>
              </label>
            ))}
          </fieldset>
          <GroupPicker
            label={userWords().groups}
            all={words.allGroups}
            chosen={groupIds.value}
            errors={at('/groupIds')}
            onChange={(ids) => {
              groupIds.value = ids;
            }}
          />
          {groupIds.value.length > 0 && <small>{words.limitedHint}</small>}
          <Choice
            label={words.lasts}
            value={`${days.value}`}
            onChange={(value) => {
              days.value = Number(value);
            }}
          >
            {LIFETIMES.map((each) => (
              <option key={each} value={each} selected={each === days.value}>
                {each === 0 ? words.noExpiry : t().share.days(each)}
              </option>
            ))}
          </Choice>
          {isElsewhere && <Failure>{describeError(error.value)}</Failure>}
          <div class="actions">
            <SubmitButton disabled={isBusy.value || scopes.value.length === 0}>{words.make}</SubmitButton>
            <CancelButton onClick={onClose} />
          </div>
        </form>
      ) : (
        <Made text={made.value.key ?? ''} onClose={onClose} />
      )}
    </Dialog>
  );
}

function Made({ text, onClose }: { text: string; onClose: () => void }) {
  const words = userWords();
  const box = useRef<HTMLDivElement>(null);
  const copy = async () => {
    box.current?.querySelector('input')?.select();
    try {
      // Without TLS, scripts have no clipboard: copy the selection instead.
      if (navigator.clipboard) await navigator.clipboard.writeText(text);
      else document.execCommand('copy');
      toast(words.copied);
    } catch {
      toast(words.notCopied, 'error');
    }
  };
  return (
    <div class="form" ref={box}>
      <Field
        label={words.apiKeys.key}
        hint={words.apiKeys.once}
        readOnly
        dir="ltr"
        value={text}
        onFocus={(event) => event.currentTarget.select()}
      />
      <div class="actions">
        <button type="button" class="primary" onClick={() => void copy()}>
          <Icon name="copy" /> {words.copy}
        </button>
        <button type="button" onClick={onClose}>
          {t().close}
        </button>
      </div>
    </div>
  );
}
