import type { Command } from '@outrider/client';
import { formats } from '../format.ts';
import { commandWords } from './command-words.ts';

/** Describes a command with its parameters. */
export function commandText({ type, parameters }: Pick<Command, 'type' | 'parameters'>): string {
  const words = commandWords();
  const { output, on, seconds, text } = parameters as Record<string, unknown>;
  if (type === 'output-set') return on === true ? words.outputOn(`${output}`) : words.outputOff(`${output}`);
  if (type === 'interval-set') return words.interval(formats().duration(Number(seconds)));
  return type === 'text' ? `${words.types.text}: ${text}` : words.types[type];
}

/** Reason for the outcome of a command; null if its state says everything. */
export function outcomeText({ reason, answer }: Pick<Command, 'reason' | 'answer'>): string | null {
  const words = commandWords();
  const parts = [
    reason === null ? null : (words.reasons[reason] ?? reason),
    answer === null ? null : `${words.answer}: ${answer}`,
  ];
  return parts.filter((part) => part !== null).join(' ') || null;
}
