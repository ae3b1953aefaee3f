import type { Words } from '../en.ts';

export const maps: Words['maps'] = {
  map: 'Подложка',
  world: 'Мир (без сети)',
  online: 'Онлайн-карта',
  measure: 'Измерить расстояние',
  measureHint: 'Щёлкайте точки на карте',
  failed: 'Выбранную карту показать нельзя; это карта мира.',
};
