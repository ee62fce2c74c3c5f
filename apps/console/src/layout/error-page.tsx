import type { DomainError } from '@svc/kernel';
import type { Texts } from '../languages/en/en.js';
import { fill } from '../languages/fill.js';
import type { Viewer } from '../viewer/viewer.js';
import { renderDocument } from './layout.js';

interface ErrorPage {
  readonly httpStatus: number;
  readonly error: DomainError;
  readonly texts: Texts;
  readonly viewer: Viewer | undefined;
  readonly requestId: string;
}

/** The page for an error. For server errors it contains the request id, which identifies the log line (C8). */
export function renderErrorPage({ httpStatus, error, texts, viewer, requestId }: ErrorPage): string {
  const { title, text } = describe(httpStatus, error, texts);
  return renderDocument({
    title,
    texts,
    viewer,
    children: (
      <section class="card">
        <h1>{title}</h1>
        <p role="alert">{text}</p>
        <p>
          <a href="/">{texts.errors.home}</a>
        </p>
        {httpStatus >= 500 ? <p class="small">{fill(texts.errors.reference, { id: requestId })}</p> : null}
      </section>
    ),
  });
}

function describe(httpStatus: number, error: DomainError, { errors }: Texts): { title: string; text: string } {
  if (httpStatus === 404) return { title: errors.notFoundTitle, text: errors.notFound };
  if (httpStatus === 403)
    return {
      title: errors.forbiddenTitle,
      text: error.message === errors.stale ? errors.stale : errors.forbidden,
    };
  if (httpStatus >= 500) return { title: errors.retryTitle, text: errors.retry };
  return { title: errors.failedTitle, text: error.fields.map(({ message }) => message).join(' ') || error.message };
}
