export * from './access-variables.ts';
export * from './backing.ts';
export * from './checks.ts';
export { createDeadLetterOffice, type DeadLetterOffice } from './dead-letter-office.ts';
export * from './open.ts';
export * from './patient.ts';
export * from './tokens.ts';
export * from './variables.ts';
