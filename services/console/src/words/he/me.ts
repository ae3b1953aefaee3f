import type { Words } from '../en.ts';

export const me: Words['me'] = {
  title: 'החשבון שלי',
  account: 'חשבון',
  preferences: 'העדפות',
  passwordHint: 'עם סיסמה חדשה מסתיימות כל ההפעלות האחרות.',
  nameSaved: 'השם נשמר.',
};
