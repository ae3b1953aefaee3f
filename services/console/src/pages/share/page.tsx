import type { ShareLink } from '@outrider/client';
import { describeError } from '../../errors.ts';
import { fleet, loaded } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { confirmed } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Paged } from '../../parts/lists/paged.tsx';
import { type PagedList, usePages } from '../../parts/lists/pages.ts';
import { Message } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { api } from '../../session.ts';
import { joined, t } from '../../words/words.ts';

/** The user's own share links: what each shows, until when, and a button that revokes it. */
export function SharePage() {
  const links = usePages<ShareLink>(
    (cursor, ending) =>
      api.get('/api/v1/share-links', {
        query: { own: 'true', limit: 100, ...(cursor === undefined ? {} : { cursor }) },
        signal: ending,
      }),
    [],
  );
  const empty = (
    <Message icon="share" title={t().share.nothing} hint={t().share.nothingHint}>
      <a class="button" href="/">
        {t().toTheMap}
      </a>
    </Message>
  );
  return (
    <div class="page">
      <div class="heading">
        <h2>{t().share.title}</h2>
      </div>
      <Paged list={links} empty={empty}>
        {(items) => (
          <ul class="cards">
            {items.map((link) => (
              <LinkCard key={link.id} link={link} links={links} />
            ))}
          </ul>
        )}
      </Paged>
    </div>
  );
}

function LinkCard({ link, links }: { link: ShareLink; links: PagedList<ShareLink> }) {
  void fleet.version.value;
  void loaded.value;
  const { id, name, vehicleIds, track, createdAt, expiresAt } = link;
  const words = t().share;
  const format = formats();
  const names = joined(
    vehicleIds.map((each) => fleet.vehicles[fleet.indexOf(each)]?.name ?? '–'),
    ', ',
  );
  const title = name ?? (names === '' ? words.untitled : names);
  const revoke = async () => {
    if (!(await confirmed(joined([words.revoke, title], ': '), words.revokeQuestion, words.revoke))) return;
    try {
      await api.delete('/api/v1/share-links/{id}', { path: { id } });
      toast(words.revoked);
    } catch (error) {
      toast(describeError(error), 'error');
    }
    await links.reload();
  };
  return (
    <li>
      <div>
        <strong>
          <bdi>{title}</bdi>
        </strong>
        <span>
          {vehicleIds.length === 0
            ? words.showsNothing
            : track === null
              ? `${words.position}: ${names}`
              : `${words.track}: ${names}, ${format.interval(Date.parse(track.from), Date.parse(track.to))}`}
        </span>
        <small>
          {[words.expires(format.dateTime(expiresAt)), words.madeAt(format.dateTime(createdAt))].join(' · ')}
        </small>
      </div>
      <button type="button" aria-label={`${words.revoke}: ${title}`} onClick={revoke}>
        <Icon name="trash" /> {words.revoke}
      </button>
    </li>
  );
}
