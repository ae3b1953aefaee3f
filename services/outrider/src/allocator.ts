/**
 * Settings of the C library's allocator (glibc), which reads them when a process starts. By default each of some 40
 * threads gets an arena of its own, and once it has freed a large block, blocks of up to 32 MiB come out of the arenas
 * too, where they leave gaps that the system does not get back. See decision 0089.
 */
export const ALLOCATOR_SETTINGS: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

/**
 * Has the process start anew with {@link ALLOCATOR_SETTINGS}, as the same process, where the command runs the service
 * and the environment has none of them. Does nothing on other systems than Linux.
 */
export function restartWithAllocatorSettings(command: string | undefined): void {
  const { platform, execve, execPath, execArgv, argv, env } = process;
  if (platform !== 'linux' || execve === undefined || (command !== 'start' && command !== 'demo')) return;
  if (Object.keys(ALLOCATOR_SETTINGS).some((name) => env[name] !== undefined)) return;
  // A channel to a parent process would not outlive it.
  if (process.channel !== undefined) return;
  const inherited = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  execve.call(process, execPath, [execPath, ...execArgv, ...argv.slice(1)], {
    ...Object.fromEntries(inherited),
    ...ALLOCATOR_SETTINGS,
  });
}
