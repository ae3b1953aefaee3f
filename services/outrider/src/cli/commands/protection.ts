import type { Client, ErasableHistory, Job } from '@outrider/client';
import { type CliCommand, CommandError, type Invocation, UsageError } from '../command.ts';
import { endedJob } from '../ended-job.ts';
import { writeFile } from '../files.ts';

const POLL_MS = 500;
const FOR_ITS_OWNER = 0o600;

/** Export and erasure of personal and vehicle data. */
export const protectionCommands: readonly CliCommand[] = [
  {
    name: 'vehicles erase-history',
    summary: 'show what erasing the history of a vehicle would delete; with --yes, erase it permanently',
    operands: ['ID'],
    options: {
      before: { value: 'TIME', summary: 'what was before it, as 2025-01-01 or with a time' },
      yes: { summary: 'erase it' },
    },
    run: eraseHistory,
  },
  {
    name: 'users retention',
    summary: 'show or set the number of days for which the fleet of a dealer or operator keeps history; none: no limit',
    operands: ['ID', 'DAYS?'],
    run: fleetRetention,
  },
  dataCommand('users', 'account'),
  dataCommand('drivers', 'driver'),
];

function dataCommand(name: 'users' | 'drivers', noun: string): CliCommand {
  return {
    name: `${name} data`,
    summary: `write all data stored about one ${noun} as JSON, to a file or to standard output`,
    operands: ['ID', 'FILE?'],
    async run({ operands: { ID: id = '', FILE: file }, client, terminal }) {
      const calls = await client();
      const path = name === 'users' ? '/api/v1/users/{id}/export' : '/api/v1/drivers/{id}/export';
      const job = await ended(calls, (await calls.post(path, { path: { id } })).id, terminal.signal);
      const made = await calls.send('get', '/api/v1/person-exports/{id}/file', { path: { id: job.id } });
      const text = await made.text();
      if (file === undefined) terminal.print(text.replace(/\n$/, ''));
      else writeFile(file, text, FOR_ITS_OWNER);
    },
  };
}

async function eraseHistory({ operands, options, isJson, client, terminal }: Invocation): Promise<void> {
  const beforeMs = Date.parse(String(options.before));
  if (options.before === undefined || Number.isNaN(beforeMs))
    throw new UsageError('--before must be a time, such as 2025-01-01 or 2025-01-01T00:00:00Z');
  const calls = await client();
  const isDry = options.yes !== true;
  const answer = await calls.send('post', '/api/v1/vehicles/{id}/history/erase', {
    path: { id: operands.ID ?? '' },
    query: { dryRun: isDry ? 'true' : 'false' },
    body: { before: new Date(beforeMs).toISOString() },
  });
  if (isDry) {
    const found = (await answer.json()) as ErasableHistory;
    if (isJson) terminal.print(JSON.stringify(found, null, 2));
    else {
      const { positions, events, videos, notifications } = found;
      terminal.print(
        `would be erased: ${positions} positions, ${events} events, ${videos} videos, ${notifications} notifications`,
      );
      terminal.note('add --yes to erase it for good');
    }
    return;
  }
  const job = await ended(calls, ((await answer.json()) as Job).id, terminal.signal);
  if (isJson) terminal.print(JSON.stringify(job, null, 2));
  else if (job.kind === 'erase-history' && job.result !== null) {
    const { archiveRows, videos, reports, notifications } = job.result;
    terminal.print(
      `erased: ${archiveRows} rows of the archive, ${videos} videos, ${reports} reports, ${notifications} notifications`,
    );
  }
}

async function fleetRetention({ operands: { ID: id = '', DAYS: days }, isJson, client, terminal }: Invocation) {
  const wanted = days === undefined || days === 'none' ? null : Number(days);
  if (wanted !== null && !Number.isInteger(wanted)) throw new UsageError('DAYS must be a number of days, or none');
  const path = { id };
  const calls = await client();
  if (days !== undefined) await calls.put('/api/v1/users/{id}/retention', { path, body: { retentionDays: wanted } });
  const { retentionDays } = await calls.get('/api/v1/users/{id}/retention', { path });
  if (isJson) terminal.print(JSON.stringify({ retentionDays }, null, 2));
  else terminal.print(retentionDays === null ? 'no limit' : `${retentionDays} days`);
}

/** @throws {CommandError} when the job fails or is cancelled, or the command is stopped before */
async function ended(client: Client, id: string, signal: AbortSignal): Promise<Job> {
  const look = () => client.get('/api/v1/jobs/{id}', { path: { id } });
  const job = await endedJob(look, POLL_MS, signal).catch((error) => {
    throw signal.aborted ? new CommandError(`job ${id} goes on without this command`) : error;
  });
  if (job.state !== 'done') throw new CommandError(job.error ?? `It is ${job.state}.`);
  return job;
}
