import { describeEvents, type EventOf } from './description.ts';
import { after } from './said.ts';

export const powerCut = describeEvents({
  record: 'PowerCut',
  prefix: 'PowerCut',
  about: 'The terminal was without external power.',
  since: 1,
  kinds: {
    'power-cut': {
      meaning: 'The terminal reports that it has no external power.',
      isUnwanted: true,
      words: {
        en: {
          name: 'Power cut',
          hint: 'The terminal loses its external power.',
          begin: ({ vehicle }) => `${vehicle} lost its external power`,
          end: (said) => `${said.vehicle} has external power again${after(said, 'after')}`,
        },
        ru: {
          name: 'Отключение питания',
          hint: 'Терминал лишился внешнего питания.',
          begin: ({ vehicle }) => `${vehicle}: внешнее питание пропало`,
          end: (said) => `${said.vehicle}: внешнее питание восстановлено${after(said, 'через')}`,
        },
        de: {
          name: 'Stromausfall',
          hint: 'Das Terminal verliert die externe Stromversorgung.',
          begin: ({ vehicle }) => `${vehicle} ist ohne externe Stromversorgung`,
          end: (said) => `${said.vehicle} hat wieder externe Stromversorgung${after(said, 'nach')}`,
        },
        es: {
          name: 'Corte de corriente',
          hint: 'El terminal pierde la alimentación externa.',
          begin: ({ vehicle }) => `${vehicle} perdió la alimentación externa`,
          end: (said) => `${said.vehicle} recuperó la alimentación externa${after(said, 'tras')}`,
        },
        he: {
          name: 'ניתוק מתח',
          hint: 'המסוף ברכב איבד את המתח החיצוני.',
          begin: ({ vehicle }) => `רכב ${vehicle} איבד את אספקת החשמל החיצונית`,
          end: (said) => `לרכב ${said.vehicle} חזרה אספקת החשמל החיצונית${after(said, 'לאחר')}`,
        },
      },
    },
  },
  fields: {},
  endReasons: ['restored', 'no-longer-watched'],
});

/** The terminal was without external power. */
export type PowerCut = EventOf<typeof powerCut>;
