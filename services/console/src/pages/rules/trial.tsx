import type { NotificationRuleTrial, PublishedEvent } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { dateOf } from '../../days.ts';
import { fleet } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { trackLink } from '../../links.ts';
import { eventTime, mapLink } from '../../notifications.ts';
import { BarChart } from '../../parts/bar-chart.tsx';
import type { Edit } from '../../parts/forms/edit.ts';
import { Icon } from '../../parts/icon.tsx';
import { describeLive } from '../../sentences/sentences.ts';
import { api } from '../../session.ts';
import { language, t } from '../../words/words.ts';
import { everyDay, type RuleFields, trialOf } from './draft.ts';
import { ruleWords } from './words.ts';

const SHOWN = 50;

/** Notifications that the rule in the form would have sent in the last seven days. */
export function Trial({ edit, ruleId }: { edit: Edit<RuleFields>; ruleId: string | null }) {
  const words = ruleWords();
  const result = useSignal<{ trial: NotificationRuleTrial; timeZone: string } | null>(null);
  const tryOut = () =>
    edit.run(async () => {
      const fields = edit.draft.peek();
      const trial = await api.post('/api/v1/notification-rules/test', { body: trialOf(fields, ruleId) });
      result.value = { trial, timeZone: fields.timeZone };
    });
  return (
    <section class="body trial" aria-label={words.trial}>
      <button type="button" disabled={edit.isBusy.value} onClick={() => void tryOut()}>
        <Icon name="chart" /> {words.try}
      </button>
      <div aria-live="polite">{result.value !== null && <Result {...result.value} />}</div>
    </section>
  );
}

function Result({ trial, timeZone }: { trial: NotificationRuleTrial; timeZone: string }) {
  const words = ruleWords();
  const format = formats();
  const dayName = new Intl.DateTimeFormat(language.value, { weekday: 'short', day: 'numeric', timeZone: 'UTC' });
  const { from, to, firstEventAt, days, matched, notMatched, complete } = trial;
  const all = everyDay(days, dateOf(Date.parse(from), timeZone), dateOf(Date.parse(to), timeZone));
  const count = days.reduce((sum, day) => sum + day.count, 0);
  const isShort = firstEventAt !== null && Date.parse(firstEventAt) - Date.parse(from) > 3_600_000;
  return (
    <>
      <p class="figure">{words.trialCount(count)}</p>
      {firstEventAt === null && <p>{words.trialNoEvents}</p>}
      {isShort && <small>{words.trialSince(format.dateTime(firstEventAt))}</small>}
      {!complete && <small>{words.trialIncomplete}</small>}
      <small>{words.trialAge}</small>
      <BarChart
        label={words.trialPerDay}
        bars={all.map(({ date, count: value }) => ({
          label: dayName.format(Date.parse(`${date}T12:00:00Z`)),
          value,
          text: format.number(value),
        }))}
      />
      {matched.length > 0 && (
        <>
          {count > SHOWN && <small>{words.trialShown(Math.min(SHOWN, matched.length), count)}</small>}
          <ul class="facts-list">
            {matched.slice(0, SHOWN).map((event) => (
              <Event key={`${event.id}${event.phase}`} event={event} />
            ))}
          </ul>
        </>
      )}
      {notMatched.length > 0 && (
        <>
          <h3>{words.trialOthers}</h3>
          <dl class="facts">
            {notMatched.map(({ reason, count: others }) => (
              <div key={reason}>
                <dt>{words.mismatches[reason]}</dt>
                <dd>{format.number(others)}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </>
  );
}

function Event({ event }: { event: PublishedEvent }) {
  void fleet.version.value;
  const at = eventTime(event);
  return (
    <li>
      <div>
        <span>{describeLive(event)}</span>
        <small>
          <time dateTime={at}>{formats().dateTime(at)}</time>
        </small>
      </div>
      <span class="actions">
        <a class="button icon" href={mapLink(event)} aria-label={t().showOnMap} title={t().showOnMap}>
          <Icon name="map" />
        </a>
        <a
          class="button icon"
          href={trackLink({ vehicleId: event.vehicleId, atMs: Date.parse(at) })}
          aria-label={ruleWords().showOnTrack}
          title={ruleWords().showOnTrack}
        >
          <Icon name="track" />
        </a>
      </span>
    </li>
  );
}
