import { counted } from '../counted.ts';
import type { Words } from '../en.ts';

export const parts: Words['parts'] = {
  changedMeanwhile: 'Тем временем запись изменил кто-то другой. Ничего не сохранено.',
  mine: 'У вас',
  theirs: 'У другого',
  takeTheirs: 'Взять его вариант',
  keepMine: 'Оставить свой',
  chooseRow: 'Выбрать строку',
  chooseAll: 'Выбрать все строки',
  chooseNone: 'Снять выбор',
  nothingChosen: 'Ничего не выбрано',
  noneFound: 'Ничего не найдено',
  chosen: (count: number) => counted('ru', count, { one: 'Выбран #', other: 'Выбрано #' }),
  showMore: 'Показать ещё',
  interval: 'Интервал',
  ownInterval: 'С … по …',
  from: 'С',
  to: 'По',
  presets: {
    today: 'Сегодня',
    yesterday: 'Вчера',
    last7days: 'Последние 7 дней',
    thisWeek: 'Эта неделя',
    lastWeek: 'Прошлая неделя',
    thisMonth: 'Этот месяц',
    lastMonth: 'Прошлый месяц',
    last30days: 'Последние 30 дней',
  },
  jobStates: {
    queued: 'В очереди',
    running: 'Выполняется',
    done: 'Готово',
    failed: 'Ошибка',
    cancelled: 'Отменено',
  },
};
