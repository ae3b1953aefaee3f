import type { Words } from '../en.ts';

export const app = {
  newVersion: 'Hay una versión nueva disponible.',
  reload: 'Recargar',
  install: 'Instalar como aplicación',
} satisfies Words['app'];
