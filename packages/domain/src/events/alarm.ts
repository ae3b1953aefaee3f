import { ALARMS } from '../position.ts';
import { choice, describeEvents, type EventOf } from './description.ts';
import { after } from './said.ts';

export const alarm = describeEvents({
  record: 'AlarmRaised',
  prefix: 'Alarm',
  about: 'The terminal raised an alarm.',
  since: 1,
  kinds: {
    alarm: {
      meaning:
        'The terminal raises an alarm, from the first record that reports it to the first that does not. `alarm` is its kind.',
      isUnwanted: true,
      words: {
        en: {
          name: 'Alarm',
          hint: 'The terminal raises an alarm.',
          begin: ({ vehicle, alarm }) => `Alarm of ${vehicle}: ${alarm}`,
          end: (said) => `Alarm of ${said.vehicle} ended${after(said, 'after')}: ${said.alarm}`,
        },
        ru: {
          name: 'Тревога',
          hint: 'Терминал подал тревогу.',
          begin: ({ vehicle, alarm }) => `${vehicle}: тревога: ${alarm}`,
          end: (said) => `${said.vehicle}: тревога закончилась${after(said, 'через')}: ${said.alarm}`,
        },
        de: {
          name: 'Alarm',
          hint: 'Das Terminal löst einen Alarm aus.',
          begin: ({ vehicle, alarm }) => `Alarm von ${vehicle}: ${alarm}`,
          end: (said) => `Alarm von ${said.vehicle} beendet${after(said, 'nach')}: ${said.alarm}`,
        },
        es: {
          name: 'Alarma',
          hint: 'El terminal emite una alarma.',
          begin: ({ vehicle, alarm }) => `Alarma de ${vehicle}: ${alarm}`,
          end: (said) => `Terminó la alarma de ${said.vehicle}${after(said, 'tras')}: ${said.alarm}`,
        },
        he: {
          name: 'אזעקה',
          hint: 'המסוף ברכב מפעיל אזעקה.',
          begin: ({ vehicle, alarm }) => `אזעקה של רכב ${vehicle}: ${alarm}`,
          end: (said) => `האזעקה של רכב ${said.vehicle} הסתיימה${after(said, 'לאחר')}: ${said.alarm}`,
        },
      },
    },
  },
  // Never `power-cut` nor harsh driving, which are separate kinds; before version 6 harsh driving was an alarm.
  fields: { alarm: choice(ALARMS, { enumName: 'Alarm' }) },
  subject: ['alarm'],
  endReasons: ['cleared', 'no-longer-watched'],
});

/** The terminal raised an alarm. It lasts from the first record with the alarm to the first without it. */
export type AlarmRaised = EventOf<typeof alarm>;
