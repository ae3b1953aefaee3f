import type { CounterWords } from '../../en/fleet/counters.ts';

/** Words of custom counters; they come with the dialog, not with the first load. */
export const counters: CounterWords = {
  newTitle: 'Новый счётчик',
  change: 'Изменить счётчик',
  sources: {
    manual: 'Показания, введённые людьми',
    'sensor-total': 'Накопленное значение датчика',
    'sensor-hours': 'Часы, пока датчик включён',
  },
  source: 'Считать по',
  sourceHint: 'При смене источника насчитанное сохраняется.',
  sensor: 'Датчик',
  sensorGone: 'удалённый датчик',
  noSensor: 'У машины нет подходящего датчика: сначала добавьте его.',
  unit: 'Единица',
  startsAt: 'Считать с',
  startsAtHint: 'Пусто: с этого момента. С более раннего времени считается всё, что сохранено.',
  saved: 'Счётчик сохранён.',
  deleted: 'Счётчик удалён.',
  remove: (name: string) => `Удалить «${name}»? Его исправления тоже будут удалены.`,
  planCounter: 'Свой счётчик',
  planCounterHint: 'По названию: план идёт по счётчику каждой машины, у которой есть счётчик с таким названием.',
  planAmount: 'По счётчику',
};
