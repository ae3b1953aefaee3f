import { ApiError } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { describeError } from '../errors.ts';
import { Choice, Field } from '../parts/field.tsx';
import { Icon } from '../parts/icon.tsx';
import { toast } from '../parts/toast.tsx';
import { change, type Preferences, preferences } from '../preferences.ts';
import { api } from '../session.ts';
import { LANGUAGES, language, t } from '../words/words.ts';

const DEVICE_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Language, theme, units, time zone and password. Changes count at once. */
export function SettingsDialog() {
  const { theme, units, timeZone } = preferences.value;
  const options = (words: Record<string, string>) =>
    Object.entries(words).map(([value, word]) => (
      <option key={value} value={value}>
        {word}
      </option>
    ));
  return (
    <dialog id="settings" aria-labelledby="settings-title" closedby="any">
      <header>
        <h2 id="settings-title">{t().settings}</h2>
        <form method="dialog">
          <button type="submit" class="icon" aria-label={t().close}>
            <Icon name="close" />
          </button>
        </form>
      </header>
      <Choice label={t().language} value={language.value} onChange={(tag) => change({ language: tag })}>
        {options(Object.fromEntries(Object.entries(LANGUAGES).map(([tag, { name }]) => [tag, name])))}
      </Choice>
      <Choice label={t().theme} value={theme} onChange={(to) => change({ theme: to as Preferences['theme'] })}>
        {options(t().themes)}
      </Choice>
      <Choice label={t().units} value={units} onChange={(to) => change({ units: to as Preferences['units'] })}>
        {options(t().unitSystems)}
      </Choice>
      <Choice label={t().timeZone} value={timeZone ?? ''} onChange={(zone) => change({ timeZone: zone || null })}>
        <option value="">{t().ownTimeZone(DEVICE_ZONE)}</option>
        {Intl.supportedValuesOf('timeZone').map((zone) => (
          <option key={zone} value={zone}>
            {zone.replaceAll('_', ' ')}
          </option>
        ))}
      </Choice>
      <PasswordForm />
    </dialog>
  );
}

function PasswordForm() {
  const error = useSignal<unknown>(null);
  const at = (pointer: string) => (error.value instanceof ApiError ? error.value.at(pointer) : []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    const body = { currentPassword: String(data.get('current')), password: String(data.get('new')) };
    try {
      await api.put('/api/v1/me/password', { body });
      error.value = null;
      form.reset();
      toast(t().passwordChanged);
    } catch (reason) {
      error.value = reason;
    }
  };
  const isOfAField = at('/currentPassword').length + at('/password').length > 0;
  return (
    <details>
      <summary>{t().changePassword}</summary>
      <form onSubmit={submit}>
        <Field
          label={t().currentPassword}
          name="current"
          type="password"
          autocomplete="current-password"
          required
          errors={at('/currentPassword')}
        />
        <Field
          label={t().newPassword}
          name="new"
          type="password"
          autocomplete="new-password"
          required
          errors={at('/password')}
        />
        {error.value !== null && !isOfAField && (
          <p class="error" role="alert">
            {describeError(error.value)}
          </p>
        )}
        <button type="submit">{t().changePassword}</button>
      </form>
    </details>
  );
}
