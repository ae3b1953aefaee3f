import type { Driver } from '@outrider/client';

export const LICENCES = ['valid', 'expires-soon', 'expired', 'unknown'] as const;
export type Licence = (typeof LICENCES)[number];

export interface DriverFilter {
  /** In lower case. */
  search: string;
  groupId: string | null;
  licence: Licence | null;
}

/** Parses the filter in the address. */
export function driverFilterOf(query: URLSearchParams): DriverFilter {
  const licence = query.get('licence');
  return {
    search: (query.get('q') ?? '').trim().toLowerCase(),
    groupId: query.get('group'),
    licence: LICENCES.find((known) => known === licence) ?? null,
  };
}

export function isFiltered({ search, groupId, licence }: DriverFilter): boolean {
  return search !== '' || groupId !== null || licence !== null;
}

/** Whether a driver passes the filter. The search covers name, codes, phone and licence number. */
export function passesDriver(driver: Driver, { search, groupId, licence }: DriverFilter): boolean {
  if (groupId !== null && !driver.groupIds.includes(groupId)) return false;
  if (licence !== null && driver.licence !== licence) return false;
  if (search === '') return true;
  const bare = bareCode(search);
  return (
    [driver.name, driver.phone, driver.licenceNumber].some((text) => text?.toLowerCase().includes(search)) ||
    (bare !== '' && driver.codes.some((code) => code.toLowerCase().includes(bare)))
  );
}

/** Removes the spaces, colons and dashes with which codes are often written. */
function bareCode(text: string): string {
  return text.replace(/[\s:-]/g, '').toLowerCase();
}

/** The codes in a text, one per line or separated by commas. */
export function codesIn(text: string): string[] {
  return [
    ...new Set(
      text
        .split(/[\n,;]/)
        .map((code) => code.trim())
        .filter((code) => code !== ''),
    ),
  ];
}
