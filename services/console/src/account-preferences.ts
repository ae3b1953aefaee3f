import { ConnectionError, type PreferencesPatch, type Preferences as StoredPreferences } from '@outrider/client';
import { effect } from '@preact/signals';
import { describeError } from './errors.ts';
import { toast } from './parts/toast.tsx';
import { onPreferenceChange, type Preferences, preferences, validPreferences } from './preferences.ts';
import { api, user } from './session.ts';
import { bestLanguage } from './words/words.ts';

export interface Account {
  read: () => Promise<Preferences>;
  write: (part: Partial<Preferences>) => Promise<unknown>;
  /** Applies the preferences that are stored with the account. */
  onRead: (stored: Preferences) => void;
  onError: (error: unknown) => void;
}

/** Sends changes to the account, one call after the other. Changes made before the login are sent after it. */
export class PreferenceSender {
  readonly #account: Account;
  #unsent: Partial<Preferences> = {};
  #isRead = false;
  #isSending = false;

  constructor(account: Account) {
    this.#account = account;
  }

  /** Starts after a login. */
  async begin(): Promise<void> {
    try {
      const stored = await this.#account.read();
      this.#isRead = true;
      this.#account.onRead({ ...stored, ...this.#unsent });
      await this.#send();
    } catch (error) {
      this.#account.onError(error);
    }
  }

  /** Stops after a logout. */
  end(): void {
    this.#isRead = false;
    this.#unsent = {};
  }

  async add(part: Partial<Preferences>): Promise<void> {
    this.#unsent = { ...this.#unsent, ...part };
    if (this.#isRead) await this.#send();
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    while (Object.keys(this.#unsent).length > 0) {
      const part = this.#unsent;
      this.#unsent = {};
      try {
        await this.#account.write(part);
      } catch (error) {
        // Without a connection, the change is sent with the next change, or after the next login.
        if (error instanceof ConnectionError) this.#unsent = { ...part, ...this.#unsent };
        this.#account.onError(error);
        break;
      }
    }
    this.#isSending = false;
  }
}

/**
 * Language and time zone of this browser where the account has other ones: messages are written in them. Null: no
 * difference.
 */
export function browserDiffers(
  stored: Pick<StoredPreferences, 'browserLanguage' | 'browserTimeZone'>,
  language: string,
): Pick<PreferencesPatch, 'browserLanguage' | 'browserTimeZone'> | null {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  if (stored.browserLanguage === language && stored.browserTimeZone === timeZone) return null;
  return { browserLanguage: language as StoredPreferences['browserLanguage'], browserTimeZone: timeZone };
}

/** Stores preferences with the account. The browser keeps a copy for the time before the login. */
export function followAccountPreferences(): void {
  const sender = new PreferenceSender({
    read: async () => {
      const stored = await api.get('/api/v1/me/preferences');
      const browser = browserDiffers(stored, bestLanguage(navigator.languages));
      // Not awaited: only later messages use the new language and zone.
      if (browser !== null) void api.patch('/api/v1/me/preferences', { body: browser }).catch(() => {});
      return validPreferences(stored);
    },
    write: (part) => api.patch('/api/v1/me/preferences', { body: part as PreferencesPatch }),
    onRead: (stored) => {
      preferences.value = stored;
    },
    onError: (error) => {
      if (user.peek()) toast(describeError(error), 'error');
    },
  });
  onPreferenceChange((part) => void sender.add(part));
  let userId: string | null = null;
  effect(() => {
    if (user.value === undefined) return;
    const id = user.value?.id ?? null;
    if (id === userId) return;
    userId = id;
    if (id === null) sender.end();
    else void sender.begin();
  });
}
