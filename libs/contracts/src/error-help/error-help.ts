/** The explanation of an error on its page: whole sentences in plain English. */
export interface ErrorHelp {
  /** When this error occurs, and its effect. */
  readonly meaning: string;
  /** Each cause with the step that fixes it, the most likely cause first. At least one cause. */
  readonly steps: readonly (readonly [cause: string, step: string])[];
  /** Whether a repeat of the same request helps, and when. */
  readonly repeat: string;
  /** Calls that return the error, and records that contain it. */
  readonly where: string;
}
