import type { Words } from '../en.ts';

export const me: Words['me'] = {
  title: 'Mein Konto',
  account: 'Konto',
  preferences: 'Einstellungen',
  passwordHint: 'Mit einem neuen Passwort enden alle anderen Sitzungen.',
  nameSaved: 'Der Name wurde gespeichert.',
};
