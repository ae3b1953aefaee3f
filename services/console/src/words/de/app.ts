import type { Words } from '../en.ts';

export const app = {
  newVersion: 'Eine neue Version ist verfügbar.',
  reload: 'Neu laden',
  install: 'Als App installieren',
} satisfies Words['app'];
