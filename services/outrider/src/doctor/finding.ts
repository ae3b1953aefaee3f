/** Result of a check, in one line. */
export interface Finding {
  check: string;
  status: 'ok' | 'warning' | 'problem';
  /** What the check found. */
  detail: string;
  /** Advice; absent if all is well. */
  todo?: string;
}

export function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail };
}

/** The service works, but not well, or not for long. */
export function warning(check: string, detail: string, todo: string): Finding {
  return { check, status: 'warning', detail, todo };
}

/** The service does not start, or does not work. */
export function problem(check: string, detail: string, todo: string): Finding {
  return { check, status: 'problem', detail, todo };
}
