import { ownVariables } from '@outrider/backing';
import type { Variables } from '@outrider/runtime';
import { SERVICES } from './services.ts';

const OWN: Record<string, Variables> = Object.fromEntries(
  SERVICES.map((service) => [service.name, ownVariables(service)]),
);
/** What each service that runs alone reads. A gateway of its own takes what comes as datagrams. */
export const VARIABLES: Record<string, Variables> = { ...OWN, datagrams: OWN.gateway ?? {} };
/** What runs from another's image. */
export const IMAGE_OF: Record<string, string> = { recalculator: 'rules', datagrams: 'gateway' };
