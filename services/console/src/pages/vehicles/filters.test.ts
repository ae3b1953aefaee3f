import { expect, test } from 'vitest';
import { isFiltered, listQuery, sortingOf, sortText } from './filters.ts';

const address = (text: string) => new URLSearchParams(text);

test('the address narrows and sorts the list in the words of the API', () => {
  expect(listQuery(address('q=%20van&group=g1&owner=none&state=moving&vehicle=v1&sort=-plate'))).toEqual({
    q: 'van',
    groupId: 'g1',
    dealerId: 'none',
    state: 'moving',
    sort: '-plate',
  });
  expect(listQuery(address('q=&sort=colour'))).toEqual({ sort: 'name' });
});

test('the order goes into the address and back', () => {
  for (const sort of ['name', '-name', 'plate', '-terminalId']) {
    const text = sortText(sortingOf(address(`sort=${sort}`)));
    expect(text ?? 'name').toBe(sort);
  }
});

test('what is chosen or sorted is no filter', () => {
  expect(isFiltered(address('vehicle=v1&sort=plate'))).toBe(false);
  expect(isFiltered(address('protocol=gt06'))).toBe(true);
});
