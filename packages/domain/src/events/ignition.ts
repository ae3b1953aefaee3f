import { describeEvents, type EventOf } from './description.ts';
import { after } from './said.ts';

export const ignition = describeEvents({
  record: 'Ignition',
  prefix: 'Ignition',
  about: 'The ignition was on.',
  since: 1,
  kinds: {
    ignition: {
      meaning: 'The terminal reports that the ignition is on.',
      words: {
        en: {
          name: 'Ignition',
          hint: 'Begins when the ignition is switched on, ends when it is switched off.',
          begin: ({ vehicle }) => `The ignition of ${vehicle} was switched on`,
          end: (said) => `The ignition of ${said.vehicle} was switched off${after(said, 'after')}`,
        },
        ru: {
          name: 'Зажигание',
          hint: 'Начинается при включении зажигания, заканчивается при выключении.',
          begin: ({ vehicle }) => `${vehicle}: зажигание включено`,
          end: (said) => `${said.vehicle}: зажигание выключено${after(said, 'через')}`,
        },
        de: {
          name: 'Zündung',
          hint: 'Beginnt mit dem Einschalten der Zündung und endet mit dem Ausschalten.',
          begin: ({ vehicle }) => `Die Zündung von ${vehicle} wurde eingeschaltet`,
          end: (said) => `Die Zündung von ${said.vehicle} wurde ausgeschaltet${after(said, 'nach')}`,
        },
        es: {
          name: 'Contacto',
          hint: 'Empieza al poner el encendido y termina al apagarlo.',
          begin: ({ vehicle }) => `Se encendió el contacto de ${vehicle}`,
          end: (said) => `Se apagó el contacto de ${said.vehicle}${after(said, 'tras')}`,
        },
        he: {
          name: 'הצתה',
          hint: 'מתחיל בהדלקת ההצתה ומסתיים בכיבויה.',
          begin: ({ vehicle }) => `ההצתה של רכב ${vehicle} הופעלה`,
          end: (said) => `ההצתה של רכב ${said.vehicle} כובתה${after(said, 'לאחר')}`,
        },
      },
    },
  },
  fields: {},
  endReasons: ['switched-off', 'no-longer-watched'],
});

/** The ignition was on. */
export type Ignition = EventOf<typeof ignition>;
