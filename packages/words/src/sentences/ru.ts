import { after, measures, type Said } from '@outrider/domain/said';
import type { SentenceWords } from './words.ts';

const licence = ({ driver, licenceExpiresOn, isExpired }: Said) =>
  `Водительское удостоверение (${driver ?? 'водитель'}) ${isExpired ? 'просрочено' : 'скоро истекает'}${measures(licenceExpiresOn && `последний день ${licenceExpiresOn}`)}`;

export const ru: SentenceWords = {
  licenceExpiry: licence,
  otherSentences: {
    begin: ({ vehicle, kind }) => `${vehicle}: ${kind}: начало`,
    end: (said) => `${said.vehicle}: ${said.kind}: конец${after(said, 'через')}`,
  },
  threshold: {
    above: (max) => `выше ${max}`,
    below: (min) => `ниже ${min}`,
    inside: (min, max) => `от ${min} до ${max}`,
    outside: (min, max) => `вне пределов от ${min} до ${max}`,
    other: 'за пределами порога',
  },
  durationUnits: ['д', 'ч', 'мин', 'с'],
};
