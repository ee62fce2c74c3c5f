type ErrorOutput = Readonly<Record<'table' | 'json', unknown>>;

/**
 * A failure that the caller can fix. ./svc prints this error as one line. Every other error is a defect, and ./svc
 * prints its stack.
 */
export class SvcError extends Error {
  readonly hint: string | undefined;
  readonly exitCode: number;
  /** Output of a command that failed: a table, or for --json all details. */
  readonly output: ErrorOutput | undefined;

  constructor(
    message: string,
    options: { hint?: string; exitCode?: number; cause?: unknown; output?: ErrorOutput } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'SvcError';
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? 1;
    this.output = options.output;
  }

  /** Message and hint in one line. */
  get line(): string {
    const text = this.hint === undefined ? this.message : `${this.message}; ${this.hint}`;
    return text.replaceAll(/\s*\n\s*/g, ' ');
  }
}

const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the disk is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};

/** Converts an error of the operating system, such as a full disk. Returns undefined for a defect of the program. */
function asSvcError(error: unknown, hint: string): SvcError | undefined {
  if (error instanceof SvcError) return error;
  if (!(error instanceof Error)) return undefined;
  const meaning = SYSTEM_ERRORS[(error as NodeJS.ErrnoException).code ?? ''];
  return meaning === undefined ? undefined : new SvcError(`${meaning} (${error.message})`, { hint, cause: error });
}

/** Prints an error of ./svc. Returns the exit code. */
export function reportError(error: unknown, dataDir: string): number {
  const known = asSvcError(error, `data and logs are in ${dataDir}`);
  console.error(known === undefined ? error : `svc: ${known.line}`);
  if (known === undefined) console.error(`svc: unexpected error; the logs are in ${dataDir}/log`);
  return known?.exitCode ?? 1;
}
