import type { Geozone, NewGeozone } from '@outrider/client';
import { formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { FilterBox } from '../../parts/lists/filter-box.tsx';
import { SearchField } from '../../parts/lists/search-field.tsx';
import { placed, VirtualList } from '../../parts/lists/virtual-list.tsx';
import { Message } from '../../parts/message.tsx';
import { navigate, route, setQuery, withQuery } from '../../router.ts';
import { user } from '../../session.ts';
import { language, t } from '../../words/words.ts';
import { categoriesOf, matches, mayDraw, NO_CATEGORY, WHOSE, whoseOf } from './whose.ts';
import { geofenceWords } from './words.ts';

const ROW_REM = 3.75;

/** Opens a geofence, or by its shape the form of a new one, or the import; null closes what is open. */
export function open(id: string | null): void {
  navigate(withQuery({ geofence: id }));
}

interface ListProps {
  all: readonly Geozone[];
  editedId: string | null;
  /** The last deleted geofence, which can be restored. */
  deleted: NewGeozone | null;
  onRestore: (body: NewGeozone) => void;
}

/** List of the geofences that match the search, with actions for all of them. */
export function GeofenceList({ all, editedId, deleted, onRestore }: ListProps) {
  const { query } = route.value;
  const category = query.get('category') || null;
  const whose = WHOSE.find((one) => one === query.get('whose')) ?? null;
  const filter = { search: (query.get('q') ?? '').trim().toLowerCase(), category, whose };
  const found = all.filter((geofence) => matches(geofence, filter, user.value));
  return (
    <section class="side" aria-label={t().pages.geofences}>
      <FilterBox kind="filters">
        <SearchField placeholder={t().name} value={route.value.query.get('q')} />
        <Narrowing all={all} category={category} whose={whose} />
        <Tools editedId={editedId} />
        {deleted !== null && (
          <div class="row wraps" role="status">
            <span>{geofenceWords().deletedNamed(deleted.properties.name)}</span>
            <button type="button" onClick={() => onRestore(deleted)}>
              {geofenceWords().undo}
            </button>
          </div>
        )}
      </FilterBox>
      {found.length === 0 ? (
        <Message
          icon="fence"
          title={all.length === 0 ? t().noGeofences : t().noGeofenceFound}
          {...(all.length === 0 ? { hint: t().noGeofencesHint } : {})}
        />
      ) : (
        <VirtualList
          label={t().pages.geofences}
          count={found.length}
          rowRem={ROW_REM}
          row={(index) => {
            const geofence = found[index] as Geozone;
            const place = placed(index, found.length, ROW_REM);
            return <Row key={geofence.id} geofence={geofence} isEdited={geofence.id === editedId} place={place} />;
          }}
        />
      )}
    </section>
  );
}

interface NarrowingProps {
  all: readonly Geozone[];
  category: string | null;
  whose: (typeof WHOSE)[number] | null;
}

/** Filters by category and by owner, each shown if there are several. */
function Narrowing({ all, category, whose }: NarrowingProps) {
  const categories = categoriesOf(all, language.value);
  return (
    <div class="row wraps narrowing">
      {(categories.length > 0 || category !== null) && (
        <select
          aria-label={geofenceWords().category}
          value={category ?? ''}
          onChange={(event) => setQuery({ category: event.currentTarget.value })}
        >
          <option value="">{geofenceWords().allCategories}</option>
          {categories.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
          <option value={NO_CATEGORY}>{geofenceWords().noCategory}</option>
        </select>
      )}
      {(whose !== null || all.some(({ properties }) => whoseOf(properties, user.value) !== 'own')) && (
        <select
          aria-label={geofenceWords().owner}
          value={whose ?? ''}
          onChange={(event) => setQuery({ whose: event.currentTarget.value })}
        >
          <option value="">{geofenceWords().allOwners}</option>
          {WHOSE.map((one) => (
            <option key={one} value={one}>
              {geofenceWords().whose[one]}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}

/** Buttons that create geofences by shape, and import and export files. */
function Tools({ editedId }: { editedId: string | null }) {
  return (
    <>
      {mayDraw(user.value) && (
        <div class="row wraps">
          <button type="button" aria-pressed={editedId === 'polygon'} onClick={() => open('polygon')}>
            <Icon name="fence" /> {t().newPolygon}
          </button>
          <button type="button" aria-pressed={editedId === 'circle'} onClick={() => open('circle')}>
            <Icon name="circle" /> {t().newCircle}
          </button>
          <button type="button" aria-pressed={editedId === 'line'} onClick={() => open('line')}>
            <Icon name="track" /> {geofenceWords().newLine}
          </button>
        </div>
      )}
      <div class="row wraps">
        {mayDraw(user.value) && (
          <button type="button" aria-pressed={editedId === 'import'} onClick={() => open('import')}>
            <Icon name="upload" /> {geofenceWords().import}
          </button>
        )}
        <a class="button" href="/api/v1/geozones/export?all=true" download="">
          <Icon name="download" /> {geofenceWords().export}
        </a>
        <a
          class="button"
          href="/api/v1/geozones/export?all=true&format=kml"
          download=""
          aria-label={geofenceWords().exportKml}
          title={geofenceWords().exportKml}
        >
          KML
        </a>
        <a
          class="button"
          href="/api/v1/geozones/export?all=true&format=csv"
          download=""
          aria-label={geofenceWords().exportCsv}
          title={geofenceWords().exportCsv}
        >
          CSV
        </a>
      </div>
    </>
  );
}

interface RowProps {
  geofence: Geozone;
  isEdited: boolean;
  place: ReturnType<typeof placed>;
}

function Row({ geofence: { id, properties }, isEdited, place }: RowProps) {
  return (
    <li class="vehicle" {...place} aria-current={isEdited ? 'true' : undefined}>
      <button type="button" onClick={() => open(id)}>
        <strong>
          {properties.color !== null && <i class="fence-color" style={{ background: properties.color }} />}
          <bdi>{properties.name}</bdi>
        </strong>
        <small class="end">{properties.speedLimitKmh === null ? '' : formats().speed(properties.speedLimitKmh)}</small>
        <small>
          {properties.category ?? t().shapes[properties.shape]} · {formats().area(properties.areaM2)}
          {whoseOf(properties, user.value) === 'shared' && ` · ${geofenceWords().shared}`}
        </small>
      </button>
    </li>
  );
}
