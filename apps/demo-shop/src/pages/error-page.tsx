import { renderDocument } from './layout.js';

/** The page for an error. For server errors it contains the request id, which identifies the log line (C8). */
export function renderErrorPage(httpStatus: number, message: string, requestId: string): string {
  const title = httpStatus === 404 ? 'Not found' : httpStatus < 500 ? 'That did not work' : 'Please try again';
  return renderDocument({
    title,
    children: (
      <section class="card message">
        <h1>{title}</h1>
        <p role="alert">{message}</p>
        <p>
          <a href="/">Back to the shop</a>
        </p>
        {httpStatus >= 500 ? <p class="small">Reference for support: {requestId}</p> : null}
      </section>
    ),
  });
}
