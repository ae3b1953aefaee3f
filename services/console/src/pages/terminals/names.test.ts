import { expect, test } from 'vitest';
import { helpPieces, identityOf, makerOf, shortId } from './names.ts';

test('a long id is shown by its end', () => {
  expect(shortId('356307042441013')).toBe('…441013');
  expect(shortId('van-12')).toBe('van-12');
});

test('the maker is the first word of a title', () => {
  expect(['Teltonika Codec 8, 8 Extended', 'OsmAnd, Traccar Client', 'JT/T 808-2013'].map(makerOf)).toEqual([
    'Teltonika',
    'OsmAnd',
    'JT/T',
  ]);
});

test('help has the host in its commands', () => {
  expect(helpPieces('By SMS: `SERVER,0,<address>,5023,0#` (IP).', 'gps.example.com')).toEqual([
    { text: 'By SMS: ', isCode: false },
    { text: 'SERVER,0,gps.example.com,5023,0#', isCode: true },
    { text: ' (IP).', isCode: false },
  ]);
});

test('an id is the one that was said, else the first that the bytes hold', () => {
  const gt06 = { protocol: 'gt06', title: 'GT06, Concox', port: 5023, terminalId: '359999000000018' };
  const unnamed = { protocol: 'egts', title: 'EGTS', port: 5162, terminalId: null };
  expect(identityOf({ terminalId: '7', guesses: [gt06] }, 'H02')).toEqual({ terminalId: '7', title: 'H02' });
  expect(identityOf({ terminalId: null, guesses: [unnamed, gt06] }, 'H02')).toEqual({
    terminalId: '359999000000018',
    title: 'GT06, Concox',
  });
  expect(identityOf({ terminalId: null, guesses: [unnamed] }, 'H02')).toBeNull();
});
