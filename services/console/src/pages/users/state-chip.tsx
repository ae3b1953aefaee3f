import { userWords } from './words.ts';

export function StateChip({ isBlocked }: { isBlocked: boolean }) {
  return (
    <span class={isBlocked ? 'chip blocked' : 'chip moving'}>
      {isBlocked ? userWords().blocked : userWords().active}
    </span>
  );
}
