import { type NewVideoProfile, NewVideoProfileFields, type Vehicle, type VideoProfile } from '@outrider/client';
import { Dialog } from '../../parts/dialog.tsx';
import { Edit, editStored, ifMatch } from '../../parts/forms/edit.ts';
import { CheckField, ChoiceField, EditForm, NumberField, TextField } from '../../parts/forms/edit-form.tsx';
import { Field } from '../../parts/forms/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loaded, useReading } from '../../parts/loading/reading.tsx';
import { api } from '../../session.ts';
import { joined } from '../../words/words.ts';
import { vehicleWords } from './words.ts';

interface Props {
  vehicle: Vehicle;
  title: string;
  onClose: () => void;
}

type Channel = VideoProfile['channels'][number];
type Draft = Pick<
  VideoProfile,
  | 'name'
  | 'protocol'
  | 'address'
  | 'channels'
  | 'quality'
  | 'audio'
  | 'maxFragmentSeconds'
  | 'maxParallelDownloads'
  | 'timeZone'
>;

const PATH = '/service/ovms/api/profiles/{profile_id}';
const DIRECTIONS = ['front', 'rear', 'left', 'right', 'cabin', 'driver', 'cargo', 'other'] as const;
const MOST_CHANNELS = 64;

/** The video terminal of a vehicle: how it is reached, and its cameras. */
export function VideoDialog({ vehicle, title, onClose }: Props) {
  const opened = useReading((ending) => openProfile(vehicle, ending), [vehicle]);
  return (
    <Dialog title={joined([vehicleWords().video, title], ': ')} onClose={onClose}>
      <Loaded of={opened}>{(profile) => <ProfileForm {...profile} onClose={onClose} />}</Loaded>
    </Dialog>
  );
}

/** The profile of a vehicle. The API can search profiles only by terminal. */
async function findProfile({ id, terminalId }: Vehicle, signal: AbortSignal): Promise<VideoProfile | null> {
  const query = terminalId === null ? { limit: 1000 } : { terminalId };
  for await (const items of api.pages((cursor) =>
    api.get('/service/ovms/api/profiles', { query: { ...query, ...(cursor && { cursor }) }, signal }),
  )) {
    const found = items.find(({ vehicleId }) => vehicleId === id);
    if (found) return found;
  }
  return null;
}

async function openProfile(vehicle: Vehicle, signal: AbortSignal) {
  const found = await findProfile(vehicle, signal);
  if (found === null) {
    const save = async (draft: Partial<Draft>) => {
      const { address, ...fields } = draft;
      const body: NewVideoProfile = { ...fields, vehicleId: vehicle.id, ...(address ? { address } : {}) };
      await api.post('/service/ovms/api/profiles', { body });
    };
    return { edit: new Edit<Draft>({ value: newProfile(), etag: null, save }), profile: null };
  }
  const path = { profile_id: found.id };
  const { edit } = await editStored<VideoProfile, Draft>({
    read: () => api.getTagged(PATH, { path }),
    draftOf,
    save: (fields, tag) => api.patch(PATH, { path, headers: ifMatch(tag), body: fields }),
  });
  return { edit, profile: found };
}

function newProfile(): Draft {
  const fields = NewVideoProfileFields;
  return {
    name: vehicleWords().video,
    protocol: 'jt1078',
    address: '',
    channels: [{ number: 1, name: vehicleWords().directions.front, direction: 'front' }],
    quality: 'main',
    audio: true,
    maxFragmentSeconds: fields.maxFragmentSeconds.default,
    maxParallelDownloads: fields.maxParallelDownloads.default,
    timeZone: fields.timeZone.default,
  };
}

function draftOf(profile: VideoProfile): Draft {
  const { name, protocol, address, channels, quality, audio } = profile;
  const { maxFragmentSeconds, maxParallelDownloads, timeZone } = profile;
  return { name, protocol, address, channels, quality, audio, maxFragmentSeconds, maxParallelDownloads, timeZone };
}

interface FormProps {
  edit: Edit<Draft>;
  profile: VideoProfile | null;
  onClose: () => void;
}

function ProfileForm({ edit, profile, onClose }: FormProps) {
  const vehicles = vehicleWords();
  const { protocol } = edit.draft.value;
  const { maxFragmentSeconds, maxParallelDownloads } = NewVideoProfileFields;
  const remove = (etag: string | null) =>
    api.delete(PATH, {
      path: { profile_id: profile?.id ?? '' },
      headers: ifMatch(etag),
    });
  const removal =
    profile === null
      ? {}
      : { removal: { question: vehicles.deleteVideo(profile.name), run: remove, done: vehicles.videoDeleted } };
  return (
    <EditForm edit={edit} labels={labels()} saved={vehicles.videoSaved} onSaved={onClose} {...removal}>
      {profile?.addressRefused && <p class="error">{vehicles.addressRefused}</p>}
      <TextField edit={edit} name="name" label={vehicles.fields.name} required maxLength={200} />
      <ChoiceField
        edit={edit}
        name="protocol"
        label={vehicles.source}
        options={[
          ['jt1078', vehicles.sources.jt1078],
          ['stream', vehicles.sources.stream],
        ]}
      />
      <TextField
        edit={edit}
        name="address"
        label={vehicles.address}
        required={protocol === 'stream'}
        hint={protocol === 'stream' ? vehicles.streamAddressHint : vehicles.terminalAddressHint}
      />
      <Channels edit={edit} />
      <ChoiceField
        edit={edit}
        name="quality"
        label={vehicles.quality}
        options={[
          ['main', vehicles.qualities.main],
          ['sub', vehicles.qualities.sub],
        ]}
      />
      <CheckField edit={edit} name="audio" label={vehicles.audio} />
      <NumberField
        edit={edit}
        name="maxFragmentSeconds"
        label={vehicles.maxFragmentSeconds}
        min={maxFragmentSeconds.minimum}
        max={maxFragmentSeconds.maximum}
        required
      />
      <NumberField
        edit={edit}
        name="maxParallelDownloads"
        label={vehicles.maxParallelDownloads}
        min={maxParallelDownloads.minimum}
        max={maxParallelDownloads.maximum}
        step={1}
        required
      />
      <TextField edit={edit} name="timeZone" label={vehicles.recorderZone} required />
    </EditForm>
  );
}

function labels(): Record<keyof Draft, string> {
  const { fields, source, address, channels, quality, audio, maxFragmentSeconds, maxParallelDownloads, recorderZone } =
    vehicleWords();
  return {
    name: fields.name,
    protocol: source,
    address,
    channels,
    quality,
    audio,
    maxFragmentSeconds,
    maxParallelDownloads,
    timeZone: recorderZone,
  };
}

function Channels({ edit }: { edit: Edit<Draft> }) {
  const vehicles = vehicleWords();
  const { channels } = edit.draft.value;
  const set = (at: number, change: Partial<Channel>) =>
    edit.set({ channels: channels.map((channel, nth) => (nth === at ? { ...channel, ...change } : channel)) });
  const add = () => {
    const number = Math.max(0, ...channels.map((channel) => channel.number)) + 1;
    edit.set({ channels: [...channels, { number, name: String(number), direction: 'other' }] });
  };
  return (
    <fieldset class="channels">
      <legend>{vehicles.channels}</legend>
      {channels.map(({ number, name, direction }, nth) => (
        <div key={nth} class="channel">
          <Field
            label={vehicles.channelNumber}
            type="number"
            min={1}
            max={255}
            required
            value={number}
            errors={edit.at(`/channels/${nth}/number`)}
            onInput={({ currentTarget: { valueAsNumber } }) => set(nth, { number: valueAsNumber })}
          />
          <Field
            label={vehicles.channelName}
            required
            maxLength={100}
            value={name}
            errors={edit.at(`/channels/${nth}/name`)}
            onInput={({ currentTarget: { value } }) => set(nth, { name: value })}
          />
          <select
            aria-label={vehicles.direction}
            value={direction}
            onChange={({ currentTarget: { value } }) => set(nth, { direction: value as Channel['direction'] })}
          >
            {DIRECTIONS.map((one) => (
              <option key={one} value={one} selected={one === direction}>
                {vehicles.directions[one]}
              </option>
            ))}
          </select>
          <button
            type="button"
            class="icon"
            aria-label={vehicles.removeChannel(name)}
            disabled={channels.length === 1}
            onClick={() => edit.set({ channels: channels.filter((_, at) => at !== nth) })}
          >
            <Icon name="trash" />
          </button>
        </div>
      ))}
      {edit.at('/channels').length > 0 && <p class="error">{edit.at('/channels').join('; ')}</p>}
      <button type="button" disabled={channels.length >= MOST_CHANNELS} onClick={add}>
        <Icon name="plus" /> {vehicles.addChannel}
      </button>
    </fieldset>
  );
}
