import { after, measures, type Said } from '@outrider/domain/said';
import type { SentenceWords } from './words.ts';

const licence = ({ driver, licenceExpiresOn, isExpired }: Said) =>
  `El permiso de conducir de ${driver ?? 'un conductor'} ${isExpired ? 'ha caducado' : 'caduca pronto'}${measures(licenceExpiresOn && `último día ${licenceExpiresOn}`)}`;

export const es: SentenceWords = {
  licenceExpiry: licence,
  otherSentences: {
    begin: ({ vehicle, kind }) => `${vehicle}: ${kind}: comienzo`,
    end: (said) => `${said.vehicle}: ${said.kind}: fin${after(said, 'tras')}`,
  },
  threshold: {
    above: (max) => `por encima de ${max}`,
    below: (min) => `por debajo de ${min}`,
    inside: (min, max) => `entre ${min} y ${max}`,
    outside: (min, max) => `fuera de ${min} a ${max}`,
    other: 'fuera de su umbral',
  },
  durationUnits: ['d', 'h', 'min', 's'],
};
