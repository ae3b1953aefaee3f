import { ApiError } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { describeError } from '../../errors.ts';
import { Field } from '../../parts/forms/field.tsx';
import { Failure } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { api, user as me } from '../../session.ts';
import { t } from '../../words/words.ts';
import { channelWords } from './channel-words.ts';
import '../../style/list-page.css';
import '../../style/me.css';
import { ExportData } from '../../protection/export-data.tsx';
import { EmailForm } from '../../sign-in/email.tsx';
import { OpenIdSection } from '../../sign-in/openid-link.tsx';
import { PasskeySection } from '../../sign-in/passkey-section.tsx';
import { SecondFactorSection } from '../../sign-in/second-factor.tsx';
import { signInWords } from '../../sign-in/words.ts';
import { ApiKeyList } from '../users/api-keys.tsx';
import { QuotaList } from '../users/quotas.tsx';
import { SessionList } from '../users/sessions.tsx';
import { userWords } from '../users/words.ts';
import { MessageChannelList } from './message-channels.tsx';
import { PasswordForm, PreferencesForm } from './preferences.tsx';

/** The user's own account: name, preferences, password, second factor, sessions and API keys, limits. */
export function MePage() {
  const account = me.value;
  /** Passkeys are second factors as well: each change reloads the section of second factors. */
  const passkeyChanges = useSignal(0);
  if (!account) return null;
  return (
    <div class="page me">
      <section class="card" aria-labelledby="me-account">
        <h2 id="me-account">{t().me.account}</h2>
        <NameForm key={account.id} />
        <dl class="facts">
          <dt>{t().login}</dt>
          <dd>
            <bdi>{account.login}</bdi>
          </dd>
          <dt>{userWords().role}</dt>
          <dd>{userWords().roles[account.role]}</dd>
        </dl>
      </section>
      <section class="card" aria-labelledby="me-preferences">
        <h2 id="me-preferences">{t().me.preferences}</h2>
        <PreferencesForm />
      </section>
      <section class="card" aria-labelledby="me-channels">
        <h2 id="me-channels">{channelWords().title}</h2>
        <small>{channelWords().hint}</small>
        <MessageChannelList />
      </section>
      <section class="card" aria-labelledby="me-password">
        <h2 id="me-password">{t().changePassword}</h2>
        <small>{t().me.passwordHint}</small>
        <PasswordForm />
      </section>
      <section class="card" aria-labelledby="me-email">
        <h2 id="me-email">{signInWords().email.label}</h2>
        <EmailForm userId={account.id} isOwn />
      </section>
      <SecondFactorSection key={passkeyChanges.value} />
      <PasskeySection onChange={() => passkeyChanges.value++} />
      <OpenIdSection />
      <div class="card">
        <SessionList userId={account.id} />
        <ApiKeyList userId={account.id} isOwn apiAccess={account.apiAccess} />
      </div>
      <div class="card">
        <ExportData person="user" id={account.id} isOwn />
      </div>
      <div class="card">
        <QuotaList account={account} isEditable={false} />
      </div>
    </div>
  );
}

function NameForm() {
  const error = useSignal<unknown>(null);
  const errors = error.value instanceof ApiError ? error.value.at('/name') : [];
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    try {
      me.value = await api.patch('/api/v1/me', { body: { name: String(data.get('name')) } });
      error.value = null;
      toast(t().me.nameSaved);
    } catch (reason) {
      error.value = reason;
    }
  };
  return (
    <form class="form" onSubmit={save}>
      <Field
        label={userWords().name}
        name="name"
        autocomplete="name"
        maxLength={200}
        required
        defaultValue={me.value?.name}
        errors={errors}
      />
      {error.value !== null && errors.length === 0 && <Failure>{describeError(error.value)}</Failure>}
      <div class="actions">
        <button type="submit">{t().save}</button>
      </div>
    </form>
  );
}
