import type { Words } from '../en.ts';

export const maps: Words['maps'] = {
  map: 'Mapa',
  world: 'Mundo (sin conexión)',
  online: 'Mapa en línea',
  measure: 'Medir una distancia',
  measureHint: 'Haga clic en puntos del mapa',
  failed: 'No se puede mostrar el mapa elegido; este es el mapa del mundo.',
};
