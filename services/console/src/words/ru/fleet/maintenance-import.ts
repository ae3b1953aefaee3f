import type { MaintenanceImportWords } from '../../en/fleet/maintenance-import.ts';

export const maintenanceImport: MaintenanceImportWords = {
  readings: 'Показания счётчиков',
  plansHint:
    'Файл CSV со строкой заголовков. Каждая строка создаёт план для машины или группы, указанных в одном из первых столбцов: через столько-то километров, моточасов или дней.',
  readingsHint:
    'Файл CSV со строкой заголовков. Каждая строка сообщает, что показывал счётчик машины: километры или часы, если счётчик — engine-hours. Без времени — сейчас.',
  added: (count: string) => `Новых: ${count}.`,
};
