import { restartWithAllocatorSettings } from './allocator.ts';

// Before anything else is loaded, because everything loaded until then is loaded again.
restartWithAllocatorSettings(process.argv[2]);
await import('./command-line.ts');
