import { route } from '../../router.ts';
import { t } from '../../words/words.ts';
import { screenFor } from '../map/panel-links.ts';
import { ruleWords } from '../rules/words.ts';

/** Tabs of the screens about notifications. */
export function Sections() {
  const words = ruleWords();
  const all = [
    ['/notifications', words.inbox],
    ['/incidents', t().pages.incidents],
    ['/rules', words.short],
    ['/deliveries', t().pages.deliveries],
  ] as const;
  return (
    <nav class="sections" aria-label={t().pages.notifications}>
      {all
        .filter(([path]) => screenFor(path) !== null)
        .map(([path, title]) => (
          <a key={path} href={path} aria-current={path === route.value.path ? 'page' : undefined}>
            {title}
          </a>
        ))}
    </nav>
  );
}
