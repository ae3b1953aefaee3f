import type { MaintenancePlanId } from '../ids.ts';
import { choice, describeEvents, type EventOf, id, text } from './description.ts';

export const maintenanceDue = describeEvents({
  record: 'MaintenanceDue',
  prefix: 'Maintenance',
  about:
    'A service of the vehicle is due soon or overdue. `fixTime` is the time of the last fix, or of the event if there was no fix since.',
  since: 5,
  kinds: {
    'maintenance-due': {
      meaning:
        'A service of a maintenance plan is due soon (`stage` is `warning`) or due, by distance, engine hours, days or a counter, whichever is reached first.',
      words: {
        en: {
          name: 'Maintenance',
          hint: 'A service is near or due.',
          begin: ({ vehicle, plan, isDue }) =>
            `${plan ?? 'Maintenance'} of ${vehicle} ${isDue ? 'is due' : 'will be due soon'}`,
          end: ({ vehicle, plan, maintenanceEnd }) => {
            const ends = {
              due: 'is due now',
              serviced: 'was done',
              corrected: 'is not due any more: a counter was corrected',
              'plan-changed': 'is not due any more: the plan was changed',
            };
            return `${plan ?? 'Maintenance'} of ${vehicle} ${maintenanceEnd === null ? 'ended' : ends[maintenanceEnd]}`;
          },
        },
        ru: {
          name: 'Техобслуживание',
          hint: 'ТО скоро или уже нужно.',
          begin: ({ vehicle, plan, isDue }) =>
            `${vehicle}: ${isDue ? 'пора проводить' : 'скоро'} ТО${plan === null ? '' : ` ${plan}`}`,
          end: ({ vehicle, plan, maintenanceEnd }) => {
            const ends = {
              due: 'пора проводить',
              serviced: 'проведено',
              corrected: 'больше не требуется: исправлен счётчик',
              'plan-changed': 'больше не требуется: изменён план',
            };
            return `${vehicle}: ТО${plan === null ? '' : ` ${plan}`} ${maintenanceEnd === null ? 'снято' : ends[maintenanceEnd]}`;
          },
        },
        de: {
          name: 'Wartung',
          hint: 'Eine Wartung steht bevor oder ist fällig.',
          begin: ({ vehicle, plan, isDue }) =>
            `${plan ?? 'Wartung'} von ${vehicle} ${isDue ? 'ist fällig' : 'ist bald fällig'}`,
          end: ({ vehicle, plan, maintenanceEnd }) => {
            const ends = {
              due: 'ist jetzt fällig',
              serviced: 'ist erledigt',
              corrected: 'ist nicht mehr fällig: ein Zähler wurde korrigiert',
              'plan-changed': 'ist nicht mehr fällig: der Plan wurde geändert',
            };
            return `${plan ?? 'Wartung'} von ${vehicle} ${maintenanceEnd === null ? 'ist beendet' : ends[maintenanceEnd]}`;
          },
        },
        es: {
          name: 'Mantenimiento',
          hint: 'Un mantenimiento está próximo o ya corresponde.',
          begin: ({ vehicle, plan, isDue }) =>
            `Mantenimiento${plan === null ? '' : ` ${plan}`} de ${vehicle}: ${isDue ? 'vencido' : 'vence pronto'}`,
          end: ({ vehicle, plan, maintenanceEnd }) => {
            const ends = {
              due: 'vencido',
              serviced: 'realizado',
              corrected: 'ya no vence: se corrigió un contador',
              'plan-changed': 'ya no vence: se cambió el plan',
            };
            return `Mantenimiento${plan === null ? '' : ` ${plan}`} de ${vehicle}: ${maintenanceEnd === null ? 'terminado' : ends[maintenanceEnd]}`;
          },
        },
        he: {
          name: 'טיפול',
          hint: 'טיפול מתקרב או שהגיע מועדו.',
          begin: ({ vehicle, plan, isDue }) =>
            `הגיע מועד הטיפול${isDue ? '' : ' בקרוב'}${plan === null ? '' : ` ${plan}`} ברכב ${vehicle}`,
          end: ({ vehicle, plan, maintenanceEnd }) => {
            const ends = {
              due: 'הגיע המועד',
              serviced: 'בוצע',
              corrected: 'כבר לא נדרש: מונה תוקן',
              'plan-changed': 'כבר לא נדרש: התוכנית שונתה',
            };
            return `טיפול${plan === null ? '' : ` ${plan}`} ברכב ${vehicle}: ${maintenanceEnd === null ? 'הסתיים' : ends[maintenanceEnd]}`;
          },
        },
      },
    },
  },
  fields: {
    planId: id<MaintenancePlanId>(),
    planName: text({ about: 'Name of the plan at that time.' }),
    // `warning`: less than the plan's warning distance is left. `due`: nothing is left.
    stage: choice(['warning', 'due']),
    cause: choice(['distance', 'engine-hours', 'days', 'counter'], {
      about: 'The interval of the plan that was reached first.',
    }),
  },
  subject: ['planId'],
  // `corrected`: a counter was set, or late data moved it.
  endReasons: ['due', 'serviced', 'corrected', 'plan-changed', 'no-longer-watched'],
  isOfWorker: true,
});

/**
 * The vehicle is near its next service, or overdue. A worker detects it by counters and calendar, not the engine by a
 * fix: `fixTimeMs` is the time of the begin or end, and the place is that of the last fix.
 */
export type MaintenanceDue = EventOf<typeof maintenanceDue>;
