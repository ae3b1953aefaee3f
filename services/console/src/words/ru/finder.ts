import { counted } from '../counted.ts';
import type { finder as english } from '../en/finder.ts';

export const finder: typeof english = {
  placeholder: 'Машина, место, водитель, отчёт, экран',
  none: 'Ничего не найдено',
  groups: {
    vehicles: 'Транспорт',
    geofences: 'Геозоны',
    drivers: 'Водители',
    groups: 'Группы',
    reports: 'Отчёты',
    screens: 'Экраны',
    actions: 'Действия',
  },
  actions: {
    vehicle: 'Добавить машину',
    importVehicles: 'Импортировать машины из файла CSV',
    group: 'Добавить группу',
    driver: 'Добавить водителя',
    assign: 'Назначить водителя',
    user: 'Добавить пользователя',
    rule: 'Добавить правило уведомлений',
    plan: 'Добавить план обслуживания',
    video: 'Запросить видео',
    light: 'Светлая тема',
    dark: 'Тёмная тема',
    auto: 'Тема системы',
  },
  trackOf: (name) => `Трек: ${name}`,
  eventsOf: (name) => `События за сегодня: ${name}`,
  settingsOf: (name) => `Настройки: ${name}`,
  more: (count) => `Ещё ${counted('ru', count, { other: '#' })}: введите больше букв`,
  found: (count) => counted('ru', count, { one: '# результат', few: '# результата', other: '# результатов' }),
};
