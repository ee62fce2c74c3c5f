/** What the page of an error says beside its message: read by people, so whole sentences in plain words. */
export interface ErrorHelp {
  /** When this error appears, and what has or has not happened then. */
  readonly meaning: string;
  /** Each cause with the step that mends it, the likeliest first. At least one. */
  readonly steps: readonly (readonly [cause: string, step: string])[];
  /** Whether the same request helps if it is sent again, and after what. */
  readonly repeat: string;
  /** Calls and records in which it appears. */
  readonly where: string;
}
