import type { Words } from '../en.ts';

export const app = {
  newVersion: 'גרסה חדשה זמינה.',
  reload: 'טעינה מחדש',
  install: 'התקנה כאפליקציה',
} satisfies Words['app'];
