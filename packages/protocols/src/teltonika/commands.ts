import type { CommandAbility, CommandOrder } from '@outrider/domain';

/** Maximum length of a GPRS command, by the wiki. */
const MAX_COMMAND_CHARACTERS = 160;
/** Least time between records while the vehicle moves, in the home network. */
const MOVING_PERIOD_PARAMETER = 10050;
const ENGINE_OUTPUT = 1;

/** Sent as text in Codec 12 (Teltonika's wiki, "SMS/GPRS commands"). */
export const TELTONIKA_COMMANDS: readonly CommandAbility[] = [
  { type: 'engine-block', output: ENGINE_OUTPUT, how: 'Codec 12: `setdigout 1`' },
  { type: 'engine-resume', how: 'Codec 12: `setdigout 0`' },
  { type: 'output-set', outputs: { min: 1, max: 4 }, how: 'Codec 12: `setdigout`; other outputs stay' },
  { type: 'position-request', how: 'Codec 12: `getgps`' },
  { type: 'interval-set', seconds: { min: 1, max: 86_400 }, how: 'Codec 12: `setparam 10050`' },
  { type: 'reboot', how: 'Codec 12: `cpureset`; the terminal does not answer before it restarts' },
  { type: 'text', maxCharacters: MAX_COMMAND_CHARACTERS, how: 'Codec 12' },
];

/** The text of a command, with the syntax of SMS/GPRS commands. */
export function commandText(order: CommandOrder): string {
  switch (order.type) {
    case 'engine-block':
      return outputText(ENGINE_OUTPUT, true);
    case 'engine-resume':
      return outputText(ENGINE_OUTPUT, false);
    case 'output-set':
      return outputText(order.parameters.output, order.parameters.on);
    case 'position-request':
      return 'getgps';
    case 'interval-set':
      return `setparam ${MOVING_PERIOD_PARAMETER}:${order.parameters.seconds}`;
    case 'reboot':
      return 'cpureset';
    case 'text':
      return order.parameters.text;
  }
}

/** A question mark leaves an output unchanged. */
function outputText(output: number, on: boolean): string {
  return `setdigout ${'?'.repeat(output - 1)}${on ? 1 : 0}`;
}

/** Whether the text reports that the terminal did not execute the command. */
export function isRefusal(text: string): boolean {
  return /^(?:warning|error|fail|unknown|bad syntax|arguments required|not )|invalid|error|disabled from cfg/i.test(
    text,
  );
}
