import { HttpStatus } from '@nestjs/common';
import { AdministrationRefusal } from './administration-api.js';
import type { PageMessage } from './operator-page.js';

/** The page after a form. */
export interface FormResult {
  readonly status?: HttpStatus;
  readonly message?: PageMessage;
  /** Secrets and links that the form created, with their names. They are shown once. */
  readonly created?: readonly (readonly [name: string, value: string])[];
}

/** Runs the action of a form: the text of its success, or why the administration API refused it. Other errors are thrown. */
export async function describeResult(
  action: () => Promise<string>,
): Promise<Required<Pick<FormResult, 'status' | 'message'>>> {
  try {
    return { status: HttpStatus.OK, message: { kind: 'done', text: await action() } };
  } catch (error) {
    if (!(error instanceof AdministrationRefusal)) throw error;
    const text = error.message || `The request was refused (${error.statusCode}).`;
    return { status: HttpStatus.UNPROCESSABLE_ENTITY, message: { kind: 'problem', text } };
  }
}
