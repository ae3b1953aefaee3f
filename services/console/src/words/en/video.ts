import { counted } from '../counted.ts';

/** Names of reasons in the API. */
type Reason =
  | 'terminal-offline'
  | 'no-recording'
  | 'refused'
  | 'busy'
  | 'no-answer'
  | 'stalled'
  | 'connection-lost'
  | 'bad-stream'
  | 'unsupported-codec'
  | 'unreachable'
  | 'address-not-allowed'
  | 'source-failed'
  | 'too-large'
  | 'no-space'
  | 'interrupted'
  | 'expired'
  | 'profile-deleted';

export const video = {
  order: 'Order video',
  orderOfThis: 'Order video of this',
  vehicle: 'Vehicle',
  allVehicles: 'All vehicles',
  allStates: 'All states',
  state: 'State',
  states: {
    new: 'Ordered',
    waiting: 'Waiting',
    requested: 'Requested from the terminal',
    downloading: 'Downloading',
    processing: 'Being stored',
    done: 'Ready',
    failed: 'Failed',
    cancelled: 'Cancelled',
  },
  reasons: {
    'terminal-offline': 'The terminal is offline. The video is requested as soon as it connects.',
    'no-recording': 'The terminal has no recording of this time.',
    refused: 'The terminal refused to play the recording.',
    busy: 'The terminal is busy with another video.',
    'no-answer': 'The terminal did not answer.',
    stalled: 'The terminal stopped sending before the end.',
    'connection-lost': 'The connection to the terminal was lost.',
    'bad-stream': 'The terminal sent video that cannot be read.',
    'unsupported-codec': 'The terminal sent a video format that is not supported.',
    unreachable: 'The camera could not be reached at its address.',
    'address-not-allowed': 'The address of the camera is not allowed. Check the video profile.',
    'source-failed': 'The camera or recorder reported an error.',
    'too-large': 'The video is larger than allowed. Order a shorter interval.',
    'no-space': 'There is no storage left for videos.',
    interrupted: 'The download was interrupted and will be retried.',
    expired: 'The video was not received in time. Order it again.',
    'profile-deleted': 'The video profile of the vehicle was deleted.',
  } satisfies Record<Reason, string>,
  channel: (number: number) => `Channel ${number}`,
  channels: 'Channels',
  deleted: 'The video was deleted.',
  nextAttempt: (time: string) => `Next attempt ${time}`,
  triedUntil: (time: string) => `Tried until ${time}`,
  keptUntil: (date: string) => `Kept until ${date}`,
  packetsLost: (count: number) => `${counted('en', count, { one: '# packet', other: '# packets' })} lost`,
  watch: 'Watch',
  download: 'Download',
  retry: 'Order again',
  cancelOrder: 'Cancel the order',
  change: 'Change the order',
  wasChanged: 'The order was changed.',
  channelOf: 'Channel',
  deleteTask: 'Delete the entry',
  deleteTaskQuestion: (name: string, time: string) =>
    `Delete the entry for ${name}, ${time}, from the list? If it has a video, the video is deleted as well. This cannot be undone.`,
  taskWasDeleted: 'The entry was deleted.',
  deleteVideo: 'Delete the video',
  deleteQuestion: (name: string, time: string) =>
    `Delete the video of ${name}, ${time}? It cannot be restored, and the terminal may have overwritten the recording.`,
  wasDeleted: 'The video was deleted.',
  wasCancelled: 'The order was cancelled.',
  ordered: (count: number) => `${counted('en', count, { one: '# video', other: '# videos' })} ordered`,
  nothing: 'No videos yet',
  nothingHint: 'Order a clip here, from a place on a track, or from an event.',
  nothingMatches: 'No video matches',
  noCameras: 'No vehicle has cameras yet',
  noCamerasHint: 'You can order video from vehicles that have a video profile.',
  noCamerasSteps: (button: string) => `Open a vehicle and choose “${button}” below its form to set up its cameras.`,
  choose: 'Choose a video, or order one',
  notFound: 'This video does not exist, or you may no longer see it.',
  start: 'Start',
  end: 'End',
  quality: 'Quality',
  qualities: { main: 'As recorded', sub: 'Small' },
  sound: 'With sound',
  longest: (duration: string) => `At most ${duration}`,
  noChannel: 'Choose a channel.',
  online: 'The terminal is online.',
  offline: (since: string) => `The terminal has been offline since ${since}. The video arrives once it connects.`,
  neverOnline: 'The terminal has not connected yet. The video arrives once it does.',
  timeline: 'Timeline: speed and videos already ordered',
  timelineHint: 'Click the timeline or the track to choose the time.',
  earlier: 'Earlier',
  later: 'Later',
  storage: 'Storage',
  storageUsed: (used: string, quota: string) => `${used} of ${quota}`,
  storageFiles: (count: number) => counted('en', count, { one: '# video', other: '# videos' }),
  storageFull: 'The oldest videos are deleted to make space.',
  keptDays: (days: number) => `Kept for ${counted('en', days, { one: '# day', other: '# days' })}`,
  play: 'Play all channels',
  pause: 'Pause',
  rate: 'Playback speed',
  time: 'Time',
  cannotPlay: 'This browser cannot play the video. Download it instead.',
  noTrack: 'No positions at this time',
  openTrack: 'Show in replay',
};
