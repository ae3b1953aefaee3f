import { timeIn, timeOfClock } from '../../days.ts';
import { describeError } from '../../errors.ts';
import { pastError, pastMs, shownPastMs } from '../../fleet/past.ts';
import { formats } from '../../format.ts';
import { secondText } from '../../links.ts';
import { Icon } from '../../parts/icon.tsx';
import { preferences } from '../../preferences.ts';
import { setQuery } from '../../router.ts';
import { t } from '../../words/words.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MINUTES = 24 * 60;

/** Chooses the moment of the past that the map shows: the day, the minute by a slider, steps of an hour. */
export function PastBar({ atMs }: { atMs: number }) {
  const words = t().fleetMap.past;
  const { timeZone } = preferences.value;
  const clock = timeIn(atMs, timeZone);
  const date = clock.toISOString().slice(0, 10);
  const minute = clock.getUTCHours() * 60 + clock.getUTCMinutes();
  const go = (ms: number) => setQuery({ time: secondText(Math.min(ms, Date.now())) });
  const goTo = (day: string, minutes: number) =>
    go(timeOfClock(Date.parse(`${day}T00:00:00Z`) + minutes * MINUTE_MS, timeZone));
  const isLoading = pastMs.value !== shownPastMs.value;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a bar of the map, and no part of a form
    <div class="past" role="group" aria-label={words.title}>
      <input
        type="date"
        aria-label={words.day}
        value={date}
        max={timeIn(Date.now(), timeZone).toISOString().slice(0, 10)}
        onChange={({ currentTarget: { value } }) => value !== '' && goTo(value, minute)}
      />
      <button
        type="button"
        class="icon"
        aria-label={words.hourBack}
        title={words.hourBack}
        onClick={() => go(atMs - HOUR_MS)}
      >
        <Icon name="previous" />
      </button>
      <input
        type="range"
        aria-label={words.minute}
        aria-valuetext={formats().time(atMs)}
        min={0}
        max={DAY_MINUTES - 1}
        step={1}
        value={minute}
        onInput={({ currentTarget: { valueAsNumber } }) => goTo(date, valueAsNumber)}
      />
      <button
        type="button"
        class="icon"
        aria-label={words.hourOn}
        title={words.hourOn}
        onClick={() => go(atMs + HOUR_MS)}
      >
        <Icon name="next" />
      </button>
      <output class={isLoading ? 'loading' : undefined}>{formats().dateTime(atMs)}</output>
      <button type="button" class="primary" onClick={() => setQuery({ time: null })}>
        {words.now}
      </button>
      {pastError.value !== null && <p class="error">{describeError(pastError.value)}</p>}
    </div>
  );
}
