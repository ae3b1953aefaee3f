import type { OperatorStatus } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Failure, Message } from '../../parts/message.tsx';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { Meter } from '../users/quotas.tsx';
import { Trend } from './trend.tsx';
import { operatorWords } from './words.ts';

const EVERY_MS = 15_000;
type SeriesName = keyof OperatorStatus['history']['series'];

/** Health of the service, loaded regularly while it is shown. */
export function HealthTab() {
  const status = useSignal<OperatorStatus | null>(null);
  const error = useSignal<string | null>(null);
  useEffect(() => {
    const ending = new AbortController();
    const read = async () => {
      try {
        status.value = await api.get('/api/v1/operator/status', { signal: ending.signal });
        error.value = null;
      } catch (reason) {
        if (!ending.signal.aborted) error.value = describeError(reason);
      }
    };
    void read();
    const timer = setInterval(() => {
      if (!document.hidden) void read();
    }, EVERY_MS);
    return () => {
      clearInterval(timer);
      ending.abort();
    };
  }, []);
  const present = status.value;
  if (present === null)
    return error.value === null ? <Message title={t().loading} /> : <Message icon="warning" title={error.value} />;
  return (
    <>
      {error.value !== null && <Failure>{error.value}</Failure>}
      <Verdict status={present} />
      <div class="health">
        <section class="card" aria-labelledby="health-parts">
          <h2 id="health-parts">{operatorWords().parts}</h2>
          <Parts parts={present.parts} />
        </section>
        <section class="card" aria-labelledby="health-uses">
          <h2 id="health-uses">{operatorWords().usesTitle}</h2>
          <Uses uses={present.uses} />
        </section>
        <Trends history={present.history} />
      </div>
    </>
  );
}

function Verdict({ status: { status, parts, version, nodeVersion, startedAt } }: { status: OperatorStatus }) {
  const words = operatorWords();
  const failed = parts.filter((part) => part.status === 'failed').length;
  const warned = parts.some(({ warnings }) => warnings.length > 0);
  const upFor = formats().duration((Date.now() - Date.parse(startedAt)) / 1000);
  const state = status === 'failed' ? 'failed' : warned ? 'warned' : 'fine';
  return (
    <div class={`verdict ${state}`} role="status">
      <Icon name={state === 'fine' ? 'check' : 'warning'} />
      <div>
        <strong>{state === 'failed' ? words.failed(failed) : state === 'warned' ? words.warned : words.fine}</strong>
        <small>
          {words.version(version, nodeVersion)} · {words.upFor(upFor)}
        </small>
      </div>
    </div>
  );
}

function Parts({ parts }: { parts: OperatorStatus['parts'] }) {
  const words = operatorWords();
  return (
    <ul class="parts">
      {parts.map(({ name, status, warnings }) => {
        const known = (words.partNames as Record<string, string>)[name] ?? name;
        const isFine = status === 'ok' && warnings.length === 0;
        return (
          <li key={name}>
            <span class={`chip ${isFine ? 'moving' : status === 'ok' ? 'idling' : 'blocked'}`}>{known}</span>
            <span>{status === 'ok' ? words.works : words.worksNot}</span>
            {warnings.map((warning) => (
              <small key={warning}>{warning}</small>
            ))}
          </li>
        );
      })}
    </ul>
  );
}

function Uses({ uses }: { uses: OperatorStatus['uses'] }) {
  const words = operatorWords();
  return (
    <ul class="meters">
      {uses.map(({ name, used, limit }) => {
        const isBytes = name.endsWith('Bytes');
        const text = isBytes ? formats().bytes(used) : formats().number(used);
        return (
          <li key={name}>
            {used !== null && limit !== null ? (
              <Meter label={words.uses[name]} used={used} limit={limit} isBytes={isBytes} />
            ) : (
              <div class="meter-row">
                <span>{words.uses[name]}</span>
                <span>{used === null ? words.unknown : text}</span>
              </div>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Trends({ history: { at, series } }: Pick<OperatorStatus, 'history'>) {
  const words = operatorWords();
  const texts: Record<SeriesName, (value: number) => string> = {
    positionsPerSecond: (value) => formats().number(value, value < 10 ? 1 : 0),
    requestsPerSecond: (value) => formats().number(value, value < 10 ? 1 : 0),
    archiveDelaySeconds: (value) => formats().duration(value),
    terminals: (value) => formats().number(value),
    liveClients: (value) => formats().number(value),
    memoryBytes: (value) => formats().bytes(value),
    diskFreeBytes: (value) => formats().bytes(value),
  };
  return (
    <section class="card trends" aria-labelledby="health-trends">
      <h2 id="health-trends">{words.lastHour}</h2>
      <ul>
        {(Object.keys(texts) as SeriesName[]).map((name) => (
          <li key={name}>
            <Trend label={words.series[name]} at={at} values={series[name] ?? []} text={texts[name]} />
          </li>
        ))}
      </ul>
      <small>{words.ownProcess}</small>
    </section>
  );
}
