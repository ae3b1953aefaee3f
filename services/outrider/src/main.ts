import { restartWithAllocatorSettings } from './allocator.ts';

// Before anything else is loaded: what the process has until then is loaded twice.
restartWithAllocatorSettings(process.argv[2]);
await import('./command-line.ts');
