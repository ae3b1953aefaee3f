import { ApiError } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { chosenMap, loadMaps, maps, ONLINE, WORLD } from '../../map/base.ts';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { Failure } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { change, type Preferences, preferences } from '../../preferences.ts';
import { api } from '../../session.ts';
import { LANGUAGES, language, t } from '../../words/words.ts';

const DEVICE_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

const options = (words: Record<string, string>, chosen: string) =>
  Object.entries(words).map(([value, word]) => (
    <option key={value} value={value} selected={value === chosen}>
      {word}
    </option>
  ));

/** Language, theme, units and time zone. Changes apply at once. */
export function PreferencesForm() {
  const { theme, units, timeZone, map } = preferences.value;
  useEffect(() => void loadMaps(), []);
  const mapName = (name: string) => (name === WORLD ? t().maps.world : name === ONLINE ? t().maps.online : name);
  const names = Object.fromEntries(Object.entries(LANGUAGES).map(([tag, { name }]) => [tag, name]));
  return (
    <>
      <Choice label={t().language} value={language.value} onChange={(tag) => change({ language: tag })}>
        {options(names, language.value)}
      </Choice>
      <Choice label={t().theme} value={theme} onChange={(to) => change({ theme: to as Preferences['theme'] })}>
        {options(t().themes, theme)}
      </Choice>
      <Choice label={t().units} value={units} onChange={(to) => change({ units: to as Preferences['units'] })}>
        {options(t().unitSystems, units)}
      </Choice>
      <Choice label={t().timeZone} value={timeZone ?? ''} onChange={(zone) => change({ timeZone: zone || null })}>
        <option value="">{t().ownTimeZone(DEVICE_ZONE)}</option>
        {Intl.supportedValuesOf('timeZone').map((zone) => (
          <option key={zone} value={zone} selected={zone === timeZone}>
            {zone.replaceAll('_', ' ')}
          </option>
        ))}
      </Choice>
      {maps.value.length > 1 && (
        <Choice
          label={t().maps.map}
          value={chosenMap(maps.value, map)?.name ?? WORLD}
          onChange={(name) => change({ map: name })}
        >
          {maps.value.map(({ name }) => (
            <option key={name} value={name} selected={name === (chosenMap(maps.value, map)?.name ?? WORLD)}>
              {mapName(name)}
            </option>
          ))}
        </Choice>
      )}
    </>
  );
}

/** Changes the user's own password, which ends all other sessions. */
export function PasswordForm() {
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
    <form class="form" onSubmit={submit}>
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
      {error.value !== null && !isOfAField && <Failure>{describeError(error.value)}</Failure>}
      <button type="submit">{t().changePassword}</button>
    </form>
  );
}
