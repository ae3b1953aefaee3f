import type { Command, CommandTypes } from '@outrider/client';
import { expect, test } from 'vitest';
import { bodyOf, type CommandAbility, draftFor, isGuarded, secondsLeft, withCommand } from './model.ts';

const LIMITS: CommandTypes['limits'] = {
  maxSpeedKmh: 20,
  positionMaxAgeSeconds: 120,
  defaultExpirySeconds: 86_400,
  maxExpirySeconds: 604_800,
  maxOpen: 20,
};
const bounds = { minimum: null, maximum: null, maxLength: null, unit: null };
const OUTPUT: CommandAbility = {
  type: 'output-set',
  guarded: false,
  guardedOutput: 1,
  how: '`setdigout`',
  parameters: [
    { ...bounds, name: 'output', type: 'integer', minimum: 1, maximum: 2 },
    { ...bounds, name: 'on', type: 'boolean' },
  ],
};
const BLOCK: CommandAbility = { ...OUTPUT, type: 'engine-block', guarded: true, guardedOutput: null, parameters: [] };

const command = (id: string, more: Partial<Command> = {}): Command => ({
  id,
  vehicleId: 'v',
  type: 'reboot',
  parameters: {},
  state: 'queued',
  reason: null,
  answer: null,
  maxSpeedKmh: null,
  byRule: false,
  createdBy: null,
  ruleId: null,
  eventId: null,
  createdAt: '2026-01-15T12:00:00.000Z',
  changedAt: '2026-01-15T12:00:00.000Z',
  expiresAt: '2026-01-15T12:10:00.000Z',
  sentAt: null,
  finishedAt: null,
  ...more,
});

test('a new draft has the first output, on, and asks for numbers', () => {
  expect(draftFor(OUTPUT, LIMITS)).toEqual({
    type: 'output-set',
    values: { output: 1, on: true },
    isConfirmed: false,
    maxSpeedKmh: 20,
    expiresInSeconds: 86_400,
  });
  const interval = { ...OUTPUT, type: 'interval-set' as const, guardedOutput: null };
  const seconds = { ...bounds, name: 'seconds', type: 'integer' as const, minimum: 5, maximum: 3600, unit: 's' };
  expect(draftFor({ ...interval, parameters: [seconds] }, LIMITS).values).toEqual({ seconds: null });
});

test('an output that blocks the engine is guarded while it is switched on', () => {
  const draft = draftFor(OUTPUT, LIMITS);
  expect(isGuarded(OUTPUT, draft)).toBe(true);
  expect(isGuarded(OUTPUT, { ...draft, values: { output: 2, on: true } })).toBe(false);
  expect(isGuarded(OUTPUT, { ...draft, values: { output: 1, on: false } })).toBe(false);
  expect(isGuarded(BLOCK, draftFor(BLOCK, LIMITS))).toBe(true);
});

test('the API is sent the confirmation only of what is guarded, and no empty parameter', () => {
  const draft = { ...draftFor(BLOCK, LIMITS), isConfirmed: true, maxSpeedKmh: 10 };
  expect(bodyOf(BLOCK, draft)).toEqual({
    type: 'engine-block',
    parameters: {},
    expiresInSeconds: 86_400,
    confirm: true,
    maxSpeedKmh: 10,
  });
  const harmless = { ...draftFor(OUTPUT, LIMITS), values: { output: null, on: false }, isConfirmed: true };
  expect(bodyOf(OUTPUT, harmless)).toEqual({ type: 'output-set', parameters: { on: false }, expiresInSeconds: 86_400 });
});

test('only a command that waits has time left', () => {
  const nowMs = Date.parse('2026-01-15T12:09:30.500Z');
  expect(secondsLeft(command('a'), nowMs)).toBe(30);
  expect(secondsLeft(command('a'), nowMs + 3_600_000)).toBe(0);
  expect(secondsLeft(command('a', { state: 'sent' }), nowMs)).toBeNull();
});

test('a change takes the place of the command, a new one comes first, an older change is passed over', () => {
  const first = command('1');
  const later = command('2', { createdAt: '2026-01-15T12:01:00.000Z' });
  expect(withCommand([first], later).map(({ id }) => id)).toEqual(['2', '1']);
  expect(withCommand([later], first).map(({ id }) => id)).toEqual(['2', '1']);
  const sent = command('1', { state: 'sent', changedAt: '2026-01-15T12:02:00.000Z' });
  expect(withCommand([later, first], sent).map(({ state }) => state)).toEqual(['queued', 'sent']);
  expect(withCommand([sent], first)).toEqual([sent]);
  // The live API does not say who asked for it.
  const { createdBy: _, ruleId: __, eventId: ___, ...change } = sent;
  expect(withCommand([command('1', { createdBy: 'me' })], change)).toEqual([{ ...sent, createdBy: 'me' }]);
  expect(withCommand([], change)).toEqual([sent]);
});
