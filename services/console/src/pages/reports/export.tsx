import type { ReportKind } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { Icon } from '../../parts/icon.tsx';
import { JobProgress } from '../../parts/loading/progress.tsx';
import { toast } from '../../parts/toast.tsx';
import { download, make, pending } from './download.ts';
import type { Look, Question } from './state.ts';
import { reportWords } from './words.ts';

const NAMES: Readonly<Record<string, string>> = {
  pdf: 'PDF',
  xlsx: 'Excel',
  csv: 'CSV',
  ndjson: 'NDJSON',
  parquet: 'Parquet',
  arrow: 'Arrow',
  geojson: 'GeoJSON',
  gpx: 'GPX',
  kml: 'KML',
};
/** The most common formats come first. */
const FIRST = ['pdf', 'xlsx', 'csv'];

interface Props {
  kind: ReportKind;
  question: Question;
  look: Look;
  zone: string;
  /** True: all rows are shown, and the file is downloaded at once. False: a long report is created as a job. */
  isSmall: boolean;
}

/** Menu of file formats. A long report shows its progress, and appears under files later. */
export function Export({ kind, question, look, zone, isSmall }: Props) {
  const id = useId();
  const isBusy = useSignal(false);
  const formats = [...FIRST, ...kind.formats.filter((format) => !FIRST.includes(format))].filter((format) =>
    kind.formats.includes(format),
  );
  const take = async (format: string) => {
    document.getElementById(id)?.hidePopover();
    isBusy.value = true;
    try {
      if (isSmall) await download(question, look, kind, format, zone);
      else await make(question, look, kind, format, zone);
    } catch (error) {
      toast(describeError(error), 'error');
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <>
      <button type="button" popovertarget={id} disabled={isBusy.value} class="export">
        <Icon name="download" /> {reportWords().download}
      </button>
      <div id={id} popover="auto" class="menu formats">
        {formats.map((format) => (
          <button key={format} type="button" onClick={() => void take(format)}>
            {NAMES[format] ?? format}
          </button>
        ))}
        <small>{isSmall ? reportWords().allColumns : reportWords().asJob}</small>
      </div>
      {pending.value.map((job) => (
        <JobProgress key={job.id} job={job} />
      ))}
    </>
  );
}
