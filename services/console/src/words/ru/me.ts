import type { Words } from '../en.ts';

export const me: Words['me'] = {
  title: 'Мой профиль',
  account: 'Учётная запись',
  preferences: 'Настройки',
  passwordHint: 'С новым паролем завершаются все остальные сеансы.',
  nameSaved: 'Имя сохранено.',
};
