import type { Words } from '../en.ts';

export const me: Words['me'] = {
  title: 'Mi cuenta',
  account: 'Cuenta',
  preferences: 'Preferencias',
  passwordHint: 'Con una contraseña nueva terminan las demás sesiones.',
  nameSaved: 'El nombre se ha guardado.',
};
