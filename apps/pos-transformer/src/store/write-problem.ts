/** SQLite's primary result codes of failures that a person must end: https://www.sqlite.org/rescode.html */
const PROBLEMS: Readonly<Record<number, string>> = {
  8: 'the database file is read-only',
  10: 'the disk of the store’s computer has failed',
  13: 'the disk of the store’s computer is full',
  14: 'a file of the database cannot be opened',
};

/** Returns undefined for an error that is no failure of the disk, such as a violated constraint. */
export function describeWriteProblem(error: unknown): string | undefined {
  const { errcode } = (error ?? {}) as { errcode?: unknown };
  // The lower eight bits of an extended result code are its primary result code.
  return typeof errcode === 'number' ? PROBLEMS[errcode & 0xff] : undefined;
}
