import { HttpStatus } from '@nestjs/common';
import { AdministrationRefusal } from './administration-api.js';
import type { PageMessage } from './operator-page.js';

/** The page after a form: what was done, or why the administration API refused it. Other errors are thrown. */
export async function describeResult(
  action: () => Promise<string>,
): Promise<{ readonly status: HttpStatus; readonly message: PageMessage }> {
  try {
    return { status: HttpStatus.OK, message: { kind: 'done', text: await action() } };
  } catch (error) {
    if (!(error instanceof AdministrationRefusal)) throw error;
    const text = error.message || `The request was refused (${error.statusCode}).`;
    return { status: HttpStatus.UNPROCESSABLE_ENTITY, message: { kind: 'problem', text } };
  }
}
