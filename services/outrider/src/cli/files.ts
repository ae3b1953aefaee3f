import { closeSync, fchmodSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { type CliCommand, CommandError } from './command.ts';

/** How things come from files and go to them. */
export interface Transfer {
  /** Of the commands, such as `vehicles`. */
  name: string;
  path: string;
  mediaType: string;
  /** Of the files, as people call it. */
  format: string;
}

/** What an import answers. */
interface ImportReport {
  created: number;
  updated: number;
  unchanged: number;
}

export function transferCommands({ name, path, mediaType, format }: Transfer): CliCommand[] {
  return [
    {
      name: `${name} export`,
      summary: `write all ${name} as ${format}, to the file or to standard output`,
      operands: ['FILE?'],
      async run({ operands: { FILE: file }, client, terminal }) {
        const response = await (await client()).send('get', `${path}/export`);
        const text = await response.text();
        if (file === undefined) terminal.print(text.replace(/\n$/, ''));
        else writeFile(file, text);
      },
    },
    {
      name: `${name} import`,
      summary: `add and change ${name} by a file of ${format}: all of them, or none`,
      operands: ['FILE'],
      options: { 'dry-run': { summary: 'only report what it would do' } },
      async run({ operands: { FILE: file = '' }, options, isJson, client, terminal }) {
        const body = new Blob([read(file)], { type: mediaType });
        const isDry = options['dry-run'] === true;
        const response = await (await client()).send('post', `${path}/import`, {
          body,
          query: isDry ? { dryRun: 'true' } : {},
        });
        const report = (await response.json()) as ImportReport;
        const { created, updated, unchanged } = report;
        if (isJson) terminal.print(JSON.stringify(report, null, 2));
        else
          terminal.print(
            `${isDry ? 'would be' : 'done'}: ${created} added, ${updated} changed, ${unchanged} unchanged`,
          );
      },
    },
  ];
}

function read(file: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(readFileSync(file));
  } catch (error) {
    throw new CommandError(`${file} can't be read: ${(error as Error).message}`);
  }
}

/**
 * @param mode also of a file that was there; left out: that, or what the system gives
 * @throws {CommandError}
 */
export function writeFile(file: string, text: string, mode?: number): void {
  try {
    const opened = openSync(file, 'w', mode);
    try {
      if (mode !== undefined) fchmodSync(opened, mode);
      writeFileSync(opened, text);
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    throw new CommandError(`${file} can't be written: ${(error as Error).message}`);
  }
}
