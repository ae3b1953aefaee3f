import '../style/eco.css';
import { formats } from '../format.ts';
import { ecoWords } from './eco-words.ts';

/** A score from 0 to 100, coloured from red to green. */
export function ScoreChip({ score }: { score: number }) {
  const level = score >= 80 ? 'good' : score >= 50 ? 'fair' : 'poor';
  const text = formats().number(score);
  return (
    <span
      class={`score ${level}`}
      role="img"
      aria-label={`${ecoWords().score} ${text}`}
      title={`${ecoWords().score}: ${ecoWords().hint}`}
    >
      {text}
    </span>
  );
}
