/** What a check found, in one line. */
export interface Finding {
  check: string;
  status: 'ok' | 'warning' | 'problem';
  /** What is so. */
  detail: string;
  /** What to do about it; absent where all is well. */
  todo?: string;
}

export function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail };
}

/** It works, but not well, or not for long. */
export function warning(check: string, detail: string, todo: string): Finding {
  return { check, status: 'warning', detail, todo };
}

/** The service does not start, or does not work. */
export function problem(check: string, detail: string, todo: string): Finding {
  return { check, status: 'problem', detail, todo };
}
