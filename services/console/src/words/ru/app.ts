import type { Words } from '../en.ts';

export const app = {
  newVersion: 'Доступна новая версия.',
  reload: 'Обновить',
  install: 'Установить приложение',
} satisfies Words['app'];
