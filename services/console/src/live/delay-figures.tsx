import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formats } from '../format.ts';
import type { live as words } from '../words/en/live.ts';
import { pageWords } from '../words/page-words.ts';
import { type LiveDelay, liveDelay, type RecentDelays, STAGES } from './delay.ts';
import '../style/live.css';

const EVERY_MS = 1000;
const MOST = 0.99;
const liveWords = pageWords(import.meta.glob<typeof words>('../words/*/live.ts', { import: 'live' }));

/** How old positions are when the map shows them, and where the time goes. */
export function DelayFigures() {
  const nowMs = useSignal(performance.now());
  useEffect(() => {
    const timer = setInterval(() => {
      nowMs.value = performance.now();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [nowMs]);
  return <Figures delay={liveDelay} nowMs={nowMs.value} />;
}

function Figures({ delay, nowMs }: { delay: LiveDelay; nowMs: number }) {
  const words = liveWords();
  const total = delay.total.percentile(MOST, nowMs);
  if (total === null) return <p>{words.none}</p>;
  const most = (delays: RecentDelays) => formats().milliseconds(delays.percentile(MOST, nowMs)?.ms ?? 0);
  return (
    <section class="delay">
      <h2>{words.title}</h2>
      <small>{words.of(total.count)}</small>
      <strong>{formats().milliseconds(total.ms)}</strong>
      <dl>
        {STAGES.map((stage) => (
          <div key={stage}>
            <dt>{words.stages[stage]}</dt>
            <dd>{most(delay.stages[stage])}</dd>
          </div>
        ))}
        <div>
          <dt>{words.median}</dt>
          <dd>{formats().milliseconds(delay.total.percentile(0.5, nowMs)?.ms ?? 0)}</dd>
        </div>
      </dl>
      <small>{words.hint}</small>
    </section>
  );
}
