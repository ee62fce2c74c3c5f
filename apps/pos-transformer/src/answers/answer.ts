/** The Result envelope (T1, T2), and the sentences in it: a cashier reads them. */

export type Result = 'OK' | 'WARN' | 'STOP';

export interface Answer {
  readonly Result: Result;
  readonly Message: string;
}

/** Done. */
export function ok(message = ''): Answer {
  return { Result: 'OK', Message: message };
}

/** Accepted, and the till should show the message. */
export function warn(message: string): Answer {
  return { Result: 'WARN', Message: message };
}

/** Refused; nothing changed. */
export function stop(message: string): Answer {
  return { Result: 'STOP', Message: message };
}

/** One answer of what several checks say: the most serious result, with every sentence. */
export function combine(...answers: readonly (Answer | undefined)[]): Answer {
  const given = answers.filter((answer) => answer !== undefined);
  const worst = (['STOP', 'WARN', 'OK'] as const).find((result) => given.some(({ Result }) => Result === result));
  const sentences = given.map(({ Message }) => Message).filter((message) => message !== '');
  return { Result: worst ?? 'OK', Message: [...new Set(sentences)].join(' ') };
}

/** Cents as a cashier reads them: `R 1 234.50`. */
export function rands(cents: number): string {
  const size = Math.abs(cents);
  const whole = String(Math.floor(size / 100)).replace(/\B(?=(\d{3})+$)/g, ' ');
  return `${cents < 0 ? '-' : ''}R ${whole}.${String(size % 100).padStart(2, '0')}`;
}
