import type { Tagged, User } from '@outrider/client';
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { CustomFields } from '../../custom-fields/custom-fields.tsx';
import { customFieldLabels } from '../../custom-fields/words.ts';
import { describeError } from '../../errors.ts';
import { groups } from '../../fleet/store.ts';
import { live } from '../../live/live.ts';
import { confirmed } from '../../parts/dialog.tsx';
import { Edit } from '../../parts/forms/edit.ts';
import { CheckField, ChoiceField, EditForm, TextField } from '../../parts/forms/edit-form.tsx';
import { GroupPicker } from '../../parts/forms/picker.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Message } from '../../parts/message.tsx';
import { Panel } from '../../parts/panel.tsx';
import { toast } from '../../parts/toast.tsx';
import { ExportData } from '../../protection/export-data.tsx';
import { FleetRetentionForm } from '../../protection/fleet-retention.tsx';
import { isOperator } from '../../rights.ts';
import { api, user as me } from '../../session.ts';
import { EmailForm } from '../../sign-in/email.tsx';
import { ExpiryForm } from '../../sign-in/expiry.tsx';
import { RemoveSecondFactor } from '../../sign-in/second-factor.tsx';
import { signInWords } from '../../sign-in/words.ts';
import { joined, t } from '../../words/words.ts';
import { ApiKeyList } from './api-keys.tsx';
import { dealers, loadDealers } from './dealers.ts';
import {
  draftOf,
  newDraft,
  newUserBody,
  RIGHTS,
  type Right,
  SERVICES,
  type Service,
  suggestedPassword,
  type UserDraft,
  userPatch,
  withService,
} from './draft.ts';
import { PasswordDialog, SuggestedPassword } from './password.tsx';
import { QuotaList } from './quotas.tsx';
import { SessionList } from './sessions.tsx';
import { StateChip } from './state-chip.tsx';
import { userWords } from './words.ts';

interface Props {
  /** Id of an account, or `new`. */
  id: string;
  onClose: () => void;
  /** @param id account to open; if left out, the panel stays unchanged */
  onSaved: (id?: string | null) => void;
}

/** One account, or a new one. */
export function UserPanel({ id, onClose, onSaved }: Props) {
  const known = useSignal<Tagged<User> | null>(null);
  const error = useSignal<unknown>(null);
  /** True while an action outside the form changes the account's version: the form waits for it. */
  const isActing = useSignal(false);
  const read = async () => {
    if (id === 'new') return;
    try {
      known.value = await api.getTagged('/api/v1/users/{id}', { path: { id } });
      error.value = null;
    } catch (reason) {
      error.value = reason;
    }
  };
  useEffect(() => void read(), [id]);
  const changes = live.changes.value;
  useEffect(() => {
    const change = changes.find((one) => one.kind === 'user' && one.id === id);
    // The API decides whether the account is still visible. If it is, the form keeps the user's changes.
    if (change?.change === 'removed') void read();
  }, [changes]);
  const account = known.value;
  const changed = async () => {
    await read();
    onSaved();
  };
  return (
    <Panel
      kind="side-panel"
      label={userWords().account}
      onClose={onClose}
      head={
        <div>
          <h2>
            <bdi>{id === 'new' ? userWords().new : (account?.body.login ?? '')}</bdi>
          </h2>
          {account !== null && (
            <small>
              {userWords().roles[account.body.role]} · <StateChip isBlocked={account.body.blocked} />
            </small>
          )}
        </div>
      }
    >
      {error.value !== null && <Message icon="warning" title={describeError(error.value)} />}
      {error.value === null && (id === 'new' || account !== null) && (
        <div class="scrolled">
          <AccountForm
            // A block creates a new version, from which the form starts again.
            key={`${id} ${account?.etag}`}
            account={account}
            isActing={isActing}
            onSaved={(saved) => (saved === undefined ? void changed() : onSaved(saved))}
          />
          {account !== null && <More account={account.body} isActing={isActing} onChange={changed} />}
        </div>
      )}
    </Panel>
  );
}

function mayChange(account: User | null): boolean {
  const caller = me.value;
  return caller ? isOperator(caller) || account === null || account.dealerId === caller.id : false;
}

interface AccountFormProps {
  account: Tagged<User> | null;
  isActing: Signal<boolean>;
  onSaved: Props['onSaved'];
}

function AccountForm({ account, isActing, onSaved }: AccountFormProps) {
  const words = userWords();
  const isOperated = me.value ? isOperator(me.value) : false;
  const edit = useMemo(() => editOf(account, isOperated, onSaved), []);
  const { role } = edit.draft.value;
  const isUser = role === 'user';
  const labels = {
    login: t().login,
    name: userWords().name,
    email: signInWords().email.label,
    dealerId: words.dealer,
    apiAccess: words.apiAccess,
    services: words.services,
    rights: words.rights,
    groupIds: words.groups,
    ...customFieldLabels(),
  };
  const dealerOptions = [['', words.noDealer] as const, ...dealers.value.map(({ id, name }) => [id, name] as const)];
  const describe = (name: string, value: unknown) => {
    if (name === 'groupIds') return groupNames(value as readonly string[]);
    if (name === 'services')
      return (value as readonly Service[]).map((one) => words.serviceNames[one]).join(', ') || '–';
    if (name === 'rights') return (value as readonly Right[]).map((one) => words.rightNames[one]).join(', ') || '–';
    return name === 'dealerId' ? dealerOptions.find(([id]) => id === (value ?? ''))?.[1] : undefined;
  };
  if (!mayChange(account?.body ?? null)) return <p class="body">{words.readOnly}</p>;
  const isSelf = account?.body.id === me.value?.id;
  const removal = account !== null &&
    !isSelf && {
      question: words.deleteQuestion(account.body.login, account.body.role === 'dealer'),
      done: words.deleted(account.body.login),
      run: async (etag: string | null) => {
        await api.delete('/api/v1/users/{id}', {
          path: { id: account.body.id },
          headers: etag === null ? {} : { 'If-Match': etag },
        });
        onSaved(null);
      },
    };
  return (
    <EditForm
      edit={edit}
      isWaiting={isActing.value}
      labels={labels}
      describe={describe}
      saved={words.saved}
      onSaved={() => account !== null && onSaved()}
      {...(removal ? { removal } : {})}
    >
      {account === null && isOperated && (
        <>
          <ChoiceField
            edit={edit}
            name="role"
            label={words.role}
            options={(['user', 'dealer', 'operator'] as const).map((one) => [one, words.roles[one]] as const)}
          />
          <small>{words.roleHints[role]}</small>
        </>
      )}
      <TextField edit={edit} name="login" label={t().login} required maxLength={100} autocomplete="off" />
      <TextField edit={edit} name="name" label={userWords().name} maxLength={200} required={account !== null} />
      {account === null && (
        <>
          <TextField edit={edit} name="email" label={signInWords().email.label} maxLength={320} autocomplete="off" />
          <small>{signInWords().email.newHint}</small>
        </>
      )}
      {account === null && edit.draft.value.email.trim() === '' && (
        <SuggestedPassword
          value={edit.draft.value.password}
          errors={edit.at('/password')}
          onChange={(password) => edit.set({ password })}
        />
      )}
      {isOperated && isUser && dealers.value.length > 0 && (
        <ChoiceField edit={edit} name="dealerId" label={words.dealer} options={dealerOptions} />
      )}
      {isUser && (
        <>
          <GroupPicker
            label={words.groups}
            chosen={edit.draft.value.groupIds}
            onChange={(groupIds) => edit.set({ groupIds })}
            errors={edit.at('/groupIds')}
          />
          <small>{account === null ? words.ownGroupHint : words.groupsHint}</small>
          <Rights edit={edit} />
          <Services edit={edit} />
        </>
      )}
      {isOperated && !(isSelf && edit.draft.value.apiAccess) && (
        <CheckField edit={edit} name="apiAccess" label={words.apiAccess} hint={words.apiAccessHint} />
      )}
      <CustomFields edit={edit} />
    </EditForm>
  );
}

/** What a user may change. */
function Rights({ edit }: { edit: Edit<UserDraft> }) {
  const words = userWords();
  const set = (right: Right, isGiven: boolean) => {
    const others = edit.draft.peek().rights.filter((one) => one !== right);
    edit.set({ rights: RIGHTS.filter((one) => others.includes(one) || (isGiven && one === right)) });
  };
  return (
    <Checklist
      edit={edit}
      name="rights"
      legend={words.rights}
      all={RIGHTS}
      names={words.rightNames}
      hints={words.rightHints}
      noneHint={words.noRightsHint}
      onChange={set}
    />
  );
}

/** Services that a user may use, beyond seeing vehicles. */
function Services({ edit }: { edit: Edit<UserDraft> }) {
  const words = userWords();
  const set = (service: Service, isGranted: boolean) =>
    edit.set({ services: withService(edit.draft.peek().services, service, isGranted) });
  return (
    <Checklist
      edit={edit}
      name="services"
      legend={words.services}
      all={SERVICES}
      names={words.serviceNames}
      hints={words.serviceHints}
      onChange={set}
    />
  );
}

interface ChecklistProps<T extends string> {
  edit: Edit<UserDraft>;
  /** The field that holds the checked items. */
  name: 'rights' | 'services';
  legend: string;
  all: readonly T[];
  names: Readonly<Record<T, string>>;
  hints: Readonly<Partial<Record<T, string>>>;
  /** Shown if nothing is checked. */
  noneHint?: string;
  onChange: (one: T, isChecked: boolean) => void;
}

function Checklist<T extends string>({ edit, name, legend, all, names, hints, noneHint, onChange }: ChecklistProps<T>) {
  const checked: readonly string[] = edit.draft.value[name];
  const errors = [edit.at(`/${name}`), ...all.map((_, nth) => edit.at(`/${name}/${nth}`))].flat();
  return (
    <fieldset>
      <legend>{legend}</legend>
      {all.map((one) => (
        <label key={one} class="check">
          <input
            type="checkbox"
            checked={checked.includes(one)}
            onChange={({ currentTarget }) => onChange(one, currentTarget.checked)}
          />
          <span>
            {names[one]}
            {hints[one] !== undefined && <small>{hints[one]}</small>}
          </span>
        </label>
      ))}
      {noneHint !== undefined && checked.length === 0 && <small>{noneHint}</small>}
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
    </fieldset>
  );
}

function editOf(account: Tagged<User> | null, isOperated: boolean, onSaved: Props['onSaved']): Edit<UserDraft> {
  if (account === null)
    return new Edit<UserDraft>({
      value: newDraft(suggestedPassword()),
      etag: null,
      save: async (fields) => {
        const added = await api.post('/api/v1/users', { body: newUserBody(fields as UserDraft, isOperated) });
        if (added.role === 'dealer') void loadDealers();
        onSaved(added.id);
      },
    });
  const path = { id: account.body.id };
  return new Edit<UserDraft>({
    value: draftOf(account.body),
    etag: account.etag,
    read: async () => {
      const { body, etag } = await api.getTagged('/api/v1/users/{id}', { path });
      return { body: draftOf(body), etag };
    },
    save: async (fields, etag) => {
      const patch = userPatch(account.body.customAttributes, fields);
      if (Object.keys(patch).length > 0)
        await api.patch('/api/v1/users/{id}', {
          path,
          body: patch,
          headers: etag === null ? {} : { 'If-Match': etag },
        });
      if (fields.apiAccess === true) await api.put('/api/v1/users/{id}/api-access', { path });
      if (fields.apiAccess === false) await api.delete('/api/v1/users/{id}/api-access', { path });
    },
  });
}

function groupNames(ids: readonly string[]): string {
  return joined(
    ids.map((id) => groups.peek().find((group) => group.id === id)?.name ?? id),
    ', ',
  );
}

interface MoreProps {
  account: User;
  isActing: Signal<boolean>;
  onChange: () => Promise<void>;
}

/** Actions on an account that are not part of its form. */
function More({ account, isActing, onChange }: MoreProps) {
  const words = userWords();
  const isAsking = useSignal(false);
  const { id, login, role, blocked } = account;
  const isSelf = id === me.value?.id;
  const mayWrite = mayChange(account);
  const block = async () => {
    const question = role === 'dealer' ? words.blockDealerQuestion(login) : words.blockQuestion(login);
    if (!blocked && !(await confirmed(words.block, question, words.block))) return;
    isActing.value = true;
    try {
      await api.post(blocked ? '/api/v1/users/{id}/unblock' : '/api/v1/users/{id}/block', { path: { id } });
      toast(blocked ? words.unblockedDone(login) : words.blockedDone(login));
      await onChange();
    } catch (error) {
      toast(describeError(error), 'error');
    } finally {
      isActing.value = false;
    }
  };
  return (
    <>
      {mayWrite && !isSelf && (
        <div class="body actions">
          <button type="button" disabled={isActing.value} onClick={block}>
            <Icon name="lock" /> {blocked ? words.unblock : words.block}
          </button>
          <button type="button" onClick={() => (isAsking.value = true)}>
            <Icon name="edit" /> {words.setPassword}
          </button>
        </div>
      )}
      {mayWrite && !isSelf && (
        <>
          <EmailForm key={id} userId={id} isOwn={false} />
          <ExpiryForm key={`expiry ${id}`} userId={id} onChange={onChange} />
          <ExportData key={`export ${id}`} person="user" id={id} />
        </>
      )}
      {role !== 'user' && (mayWrite || isSelf) && (
        <FleetRetentionForm key={`retention ${id}`} userId={id} role={role} />
      )}
      {me.value && (isOperator(me.value) || isSelf) && (
        <>
          {!isSelf && <RemoveSecondFactor key={id} userId={id} login={login} />}
          <SessionList userId={id} />
          <ApiKeyList userId={id} isOwn={isSelf} apiAccess={account.apiAccess} />
        </>
      )}
      <QuotaList account={account} isEditable={mayWrite} />
      {isAsking.value && <PasswordDialog account={account} onClose={() => (isAsking.value = false)} />}
    </>
  );
}
