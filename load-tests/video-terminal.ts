import { parseArgs } from 'node:util';
import { startVideoTerminal, type VideoFaults } from '@outrider/simulator';

/*
 * A terminal with cameras as a program: JT/T 808 to a gateway, JT/T 1078 to wherever a playback is asked for. Its
 * cameras recorded every time of the week before: pictures that show floor(time / 40 ms) mod 100,000 in digits, and a
 * tone.
 *
 *     node load-tests/video-terminal.ts --phone 13900000001 --port 5015 --channels 1,2
 */

const { values } = parseArgs({
  options: {
    phone: { type: 'string', default: '13900000001' },
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '5015' },
    edition: { type: 'string', default: '2019' },
    channels: { type: 'string', default: '1,2' },
    /** 1: as it was recorded; unset: as fast as the connection takes it. */
    speed: { type: 'string' },
    'no-sound': { type: 'boolean', default: false },
    'clock-error-hours': { type: 'string', default: '0' },
    'lose-every': { type: 'string' },
    'swap-every': { type: 'string' },
    'truncate-every': { type: 'string' },
    'repeat-every': { type: 'string' },
    'cut-after': { type: 'string' },
    'stall-after': { type: 'string' },
    'faulty-playbacks': { type: 'string' },
    mute: { type: 'boolean', default: false },
    refuse: { type: 'boolean', default: false },
    'keep-open': { type: 'boolean', default: false },
  },
});

const faults: VideoFaults = {
  ...number('lose-every', 'loseEvery'),
  ...number('swap-every', 'swapEvery'),
  ...number('truncate-every', 'truncateEvery'),
  ...number('repeat-every', 'repeatEvery'),
  ...number('cut-after', 'cutAfterPackets'),
  ...number('stall-after', 'stallAfterPackets'),
  ...number('faulty-playbacks', 'playbacks'),
  mute: values.mute,
  refusesPlayback: values.refuse,
  keepsOpen: values['keep-open'],
};

const terminal = startVideoTerminal({
  phone: values.phone,
  host: values.host,
  port: whole('port', values.port),
  edition: values.edition === '2013' ? 2013 : 2019,
  channels: values.channels.split(',').map((channel) => whole('channels', channel)),
  ...(values.speed === undefined ? {} : { speed: Number(values.speed) }),
  sound: !values['no-sound'],
  clockErrorMs: Number(values['clock-error-hours']) * 3600_000,
  faults,
});

let said = '';
const progressTimer = setInterval(() => {
  const stats = JSON.stringify(terminal.stats());
  if (stats !== said) process.stdout.write(`${stats}\n`);
  said = stats;
}, 1000);

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    clearInterval(progressTimer);
    void terminal.stop();
  });

function number(option: keyof typeof values, fault: keyof VideoFaults): VideoFaults {
  const value = values[option];
  return typeof value === 'string' ? { [fault]: whole(option, value) } : {};
}

function whole(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new RangeError(`--${option} takes whole numbers, not ${text}`);
  return value;
}
