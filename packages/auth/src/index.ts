export { openKeys, type SigningKeys } from './keys.ts';
export * from './tokens.ts';
