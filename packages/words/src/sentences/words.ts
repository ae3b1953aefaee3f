import type { EventSentences, Said } from '@outrider/domain/said';

/** Words for sentences about events in one language, besides those described with each kind of event. */
export interface SentenceWords {
  /** Sentence about the expiry of a driving licence, which has no end phase. */
  licenceExpiry: (said: Said) => string;
  /** Sentences for unknown kinds. */
  otherSentences: EventSentences;
  threshold: {
    above: (max: string) => string;
    below: (min: string) => string;
    inside: (min: string, max: string) => string;
    outside: (min: string, max: string) => string;
    other: string;
  };
  /** Days, hours, minutes, seconds. */
  durationUnits: readonly [string, string, string, string];
}
