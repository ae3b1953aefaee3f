import { accessVariables } from '@outrider/backing';
import { readConfig } from '@outrider/runtime';
import { describe, expect, test } from 'vitest';
import { apiVariables, openIdOf } from './settings.ts';

const PROVIDER = {
  OIDC_ISSUER: 'https://accounts.example.com',
  OIDC_CLIENT_ID: 'outrider',
  OIDC_CLIENT_SECRET: 'a secret',
  PUBLIC_URL: 'https://fleet.example.com',
};

function openIdBy(env: Record<string, string>) {
  return openIdOf(readConfig({ ...accessVariables, ...apiVariables }, { ...PROVIDER, ...env }));
}

describe('what a provider may say of rights', () => {
  test('is nothing, names of rights, or values that grant them', () => {
    expect(openIdBy({})?.mapping).toMatchObject({ rightsClaim: null, rightsValues: null });
    expect(openIdBy({ OIDC_RIGHTS_CLAIM: 'may' })?.mapping).toMatchObject({ rightsClaim: 'may', rightsValues: null });
    const OIDC_RIGHTS_VALUES = 'team=a = share + video, mechanics=maintenance,,mechanics=edit-vehicles ';
    const { rightsValues } = openIdBy({ OIDC_RIGHTS_CLAIM: 'may', OIDC_RIGHTS_VALUES })?.mapping ?? {};
    expect([...(rightsValues ?? [])]).toEqual([
      ['team=a', ['share', 'video']],
      ['mechanics', ['maintenance', 'edit-vehicles']],
    ]);
  });

  test.each([
    ['mechanics=edit-vehicle', 'has "mechanics=edit-vehicle"'],
    ['a=share,mechanics', 'has "mechanics"'],
    ['=share', 'has "=share"'],
    ['mechanics=', 'has "mechanics="'],
    ['mechanics=share+', 'has "mechanics=share+"'],
  ])('is refused as %j, with the entry', (OIDC_RIGHTS_VALUES, message) => {
    expect(() => openIdBy({ OIDC_RIGHTS_CLAIM: 'may', OIDC_RIGHTS_VALUES })).toThrow(message);
  });

  test('is refused without the claim that has the values', () => {
    expect(() => openIdBy({ OIDC_RIGHTS_VALUES: 'a=share' })).toThrow('needs OIDC_RIGHTS_CLAIM');
  });
});
