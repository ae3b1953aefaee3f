/**
 * Settings of the C library's allocator (glibc), which reads them when a process starts. By default each of some 40
 * threads gets its own arena. Once a large block was freed, even blocks of up to 32 MiB are allocated in the arenas,
 * where they leave gaps that are not returned to the system. See decision 0089.
 */
export const ALLOCATOR_SETTINGS: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

/**
 * Re-executes the process with {@link ALLOCATOR_SETTINGS}, keeping its process id, if the command runs the service and
 * the environment has none of these settings. Does nothing on systems other than Linux.
 */
export function restartWithAllocatorSettings(command: string | undefined): void {
  const { platform, execve, execPath, execArgv, argv, env } = process;
  if (platform !== 'linux' || execve === undefined || (command !== 'start' && command !== 'demo')) return;
  if (Object.keys(ALLOCATOR_SETTINGS).some((name) => env[name] !== undefined)) return;
  // A channel to a parent process would be lost.
  if (process.channel !== undefined) return;
  const inherited = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  execve.call(process, execPath, [execPath, ...execArgv, ...argv.slice(1)], {
    ...Object.fromEntries(inherited),
    ...ALLOCATOR_SETTINGS,
  });
}
