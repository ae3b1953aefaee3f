import type { Driver } from '@outrider/client';
import { addDays, dateOf, dayStart } from '../../days.ts';
import { readDriverScore, type TripsScore } from '../../drivers/eco-driving.ts';
import { ecoWords } from '../../drivers/eco-words.ts';
import { PointList } from '../../drivers/points.tsx';
import { ScoreChip } from '../../drivers/score-chip.tsx';
import { driverWords } from '../../drivers/words.ts';
import { formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Loaded, useReading } from '../../parts/loading/reading.tsx';
import { Message } from '../../parts/message.tsx';
import { preferences } from '../../preferences.ts';
import { route, withQuery } from '../../router.ts';

const DAYS = [7, 30] as const;
/** A trip that begins meanwhile has a score of its own. */
const READ_EVERY_MS = 10_000;

/** How economically and carefully the driver drove lately: the score, and the causes of penalty points. */
export function ScoreView({ driver }: { driver: Driver }) {
  const { timeZone } = preferences.value;
  const words = ecoWords();
  const wanted = Number(route.value.query.get('days'));
  const days = DAYS.find((each) => each === wanted) ?? DAYS[0];
  const today = dateOf(Date.now(), timeZone);
  const from = dayStart(addDays(today, 1 - days), timeZone).toISOString();
  const to = dayStart(addDays(today, 1), timeZone).toISOString();
  const found = useReading<TripsScore>(
    (ending) => readDriverScore(driver.id, { from, to }, ending),
    [driver.id, from, to],
    READ_EVERY_MS,
  );
  return (
    <div class="body">
      <nav class="day-choice" aria-label={words.score}>
        {DAYS.map((each) => (
          <a
            key={each}
            class="button"
            href={withQuery({ days: each === DAYS[0] ? null : String(each) })}
            aria-current={each === days ? 'true' : undefined}
          >
            {words.lastDays(each)}
          </a>
        ))}
        <a class="button" href={`/reports?kind=eco-driving&driver=${driver.id}&from=${from}&to=${to}`}>
          <Icon name="chart" /> {driverWords().reports}
        </a>
      </nav>
      <Loaded of={found}>
        {(read) =>
          read.score === null ? (
            <Message icon="driver" title={words.noTrips} hint={driverWords().noShiftsHint} />
          ) : (
            <Score {...read} score={read.score} />
          )
        }
      </Loaded>
    </div>
  );
}

function Score({ score, trips, distanceM, points }: TripsScore & { score: number }) {
  const words = ecoWords();
  return (
    <>
      <p class="driver-score">
        <ScoreChip score={score} />
        <span>
          {words.hint}
          <br />
          <small>{[driverWords().tripCount(trips), formats().distance(distanceM)].join(' · ')}</small>
        </span>
      </p>
      <section>
        <h3>{words.points}</h3>
        <PointList points={points} />
      </section>
    </>
  );
}
