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
