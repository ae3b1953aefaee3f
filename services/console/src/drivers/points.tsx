import '../style/eco.css';
import { formats } from '../format.ts';
import { ECO_POINTS, type EcoPoints } from './eco-driving.ts';
import { ecoWords } from './eco-words.ts';

/** Lists the causes of penalty points, each with its share of the total. */
export function PointList({ points }: { points: EcoPoints }) {
  const words = ecoWords();
  const all = ECO_POINTS.reduce((sum, name) => sum + points[name], 0);
  if (all === 0) return <p class="quiet">{words.noPoints}</p>;
  return (
    <dl class="points">
      {ECO_POINTS.map((name) => (
        <div key={name}>
          <dt>{words.kinds[name]}</dt>
          <dd>
            <meter min={0} max={all} value={points[name]} aria-hidden="true" />
            {formats().number(points[name], 1)}
          </dd>
        </div>
      ))}
    </dl>
  );
}
