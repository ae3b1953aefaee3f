import type { TerminalId } from '../ids.ts';
import type { CommandOrder } from './vehicle-command.ts';

/** Tracks of a recording to list or play. */
export type RecordedMedia = 'video-and-audio' | 'audio' | 'video';

/** Full-resolution (`main`) or reduced (`sub`) stream of a camera; `any` leaves the choice to the terminal. */
export type VideoStream = 'any' | 'main' | 'sub';

/** Storage of the terminal that holds a recording. */
export type VideoStorage = 'any' | 'main' | 'backup';

/** Command to a terminal that records video. Times are Unix milliseconds. */
export type MediaCommand =
  | {
      type: 'list-recordings';
      channel: number;
      startMs: number;
      endMs: number;
      media: RecordedMedia;
      stream: VideoStream;
    }
  | {
      type: 'play-recording';
      /** Server to which the terminal sends the pictures. Port 0: this transport is not offered. */
      server: { host: string; tcpPort: number; udpPort: number };
      channel: number;
      startMs: number;
      endMs: number;
      media: RecordedMedia;
      stream: VideoStream;
    }
  | {
      type: 'control-playback';
      channel: number;
      action: 'go-on' | 'pause' | 'end' | 'seek';
      /** Position to resume from, with `seek`; else null. */
      seekToMs: number | null;
    };

/** Command to a terminal that is connected now. */
export type TerminalCommand = MediaCommand | CommandOrder;

/** A time range that the terminal has recorded. */
export interface StoredRecording {
  channel: number;
  startMs: number;
  endMs: number;
  /** Alarms marked in the recording: 64 bits in hexadecimal. */
  alarmFlags: string;
  media: RecordedMedia;
  stream: VideoStream;
  storage: VideoStorage;
  sizeBytes: number;
}

/** Response of a terminal to a command. */
export type TerminalAnswer =
  | {
      type: 'acknowledged';
      result: 'done' | 'failed' | 'wrong' | 'unsupported';
      /** The response text, where the protocol has one. */
      text?: string;
    }
  | { type: 'recordings'; recordings: StoredRecording[] };

/** Outcome of a command. */
export type CommandOutcome =
  | { outcome: 'answered'; answer: TerminalAnswer }
  /** The terminal is not connected, or disconnected before it answered (then `maybeSent`). */
  | { outcome: 'offline'; maybeSent?: true }
  /** The command was sent, but not answered in time. */
  | { outcome: 'unanswered' }
  /** The terminal's protocol has no such command. */
  | { outcome: 'unsupported' }
  /** Too many commands are in progress. */
  | { outcome: 'overloaded' }
  /** The caller withdrew the command. */
  | { outcome: 'aborted' };

/** A command addressed to one terminal. */
export interface AddressedCommand {
  terminalId: TerminalId;
  command: TerminalCommand;
  timeoutMs: number;
}
