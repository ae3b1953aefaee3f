import { expect, test, vi } from 'vitest';

vi.stubGlobal('navigator', { languages: ['en'] });
const { modelsFor } = await import('./protocols.ts');

const PROTOCOLS = [
  { name: 'teltonika', models: ['FMB920', 'FMB640'] },
  { name: 'gt06', models: [] },
  { name: 'other', models: ['X1'] },
];

test('the models are those of the protocol that the vehicle is bound to', () => {
  expect(modelsFor(PROTOCOLS, 'teltonika')).toEqual(['FMB920', 'FMB640']);
  expect(modelsFor(PROTOCOLS, 'gt06')).toEqual([]);
});

test('of a vehicle that is bound to none, all of them', () => {
  expect(modelsFor(PROTOCOLS, 'learn')).toEqual(['FMB920', 'FMB640', 'X1']);
  expect(modelsFor(PROTOCOLS)).toEqual(['FMB920', 'FMB640', 'X1']);
});
