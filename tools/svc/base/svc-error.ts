/**
 * A failure that a person can do something about. It is printed as one line, without a stack; anything else that is
 * thrown is a defect of ours and is printed with its stack.
 */
export class SvcError extends Error {
  readonly hint: string | undefined;
  readonly exitCode: number;

  constructor(message: string, options: { hint?: string; exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'SvcError';
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? 1;
  }

  /** What failed and what to do about it, in one line. */
  get line(): string {
    const text = this.hint === undefined ? this.message : `${this.message}; ${this.hint}`;
    return text.replaceAll(/\s*\n\s*/g, ' ');
  }
}

const MACHINE_FAULTS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the disk is read-only',
  EACCES: 'this user may not do that',
  EPERM: 'this user may not do that',
};

/** A failure of the machine rather than of the program (a full disk, another user's file), as the line for it. */
export function asSvcError(error: unknown, hint: string): SvcError | undefined {
  if (error instanceof SvcError) return error;
  if (!(error instanceof Error)) return undefined;
  const meaning = MACHINE_FAULTS[(error as NodeJS.ErrnoException).code ?? ''];
  return meaning === undefined ? undefined : new SvcError(`${meaning} (${error.message})`, { hint, cause: error });
}
