/**
 * The answer to a call of a till: the Result envelope of the specification (T1, T2). The till shows Message to the
 * cashier.
 */

export type Result = 'OK' | 'WARN' | 'STOP';

export interface Answer {
  readonly Result: Result;
  readonly Message: string;
}

/** The call was executed. */
export function ok(message = ''): Answer {
  return { Result: 'OK', Message: message };
}

/** The call was executed, and the cashier should read the message. */
export function warn(message: string): Answer {
  return { Result: 'WARN', Message: message };
}

/** The call was refused, and nothing changed. */
export function stop(message: string): Answer {
  return { Result: 'STOP', Message: message };
}

/** Merges the answers of several checks: the most serious result, with every message. */
export function mergeAnswers(...answers: readonly (Answer | undefined)[]): Answer {
  const present = answers.filter((answer) => answer !== undefined);
  const worst = (['STOP', 'WARN', 'OK'] as const).find((result) => present.some(({ Result }) => Result === result));
  const messages = present.map(({ Message }) => Message).filter((message) => message !== '');
  return { Result: worst ?? 'OK', Message: [...new Set(messages)].join(' ') };
}
