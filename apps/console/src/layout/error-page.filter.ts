import { type ArgumentsHost, Catch, type ExceptionFilter, Inject } from '@nestjs/common';
import { SERVICE_LOG, type ServiceLog, toDomainError } from '@svc/service';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { selectTexts } from '../languages/languages.js';
import type { Viewer } from '../viewer/viewer.js';
import { renderErrorPage } from './error-page.js';
import { redirect, sendPage } from './page-sender.js';

/** Responds to errors with a page. A person who is not signed in is sent to the sign-in, and comes back afterwards. */
@Catch()
export class ErrorPageFilter implements ExceptionFilter {
  constructor(@Inject(SERVICE_LOG) private readonly log: ServiceLog) {}

  async catch(exception: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest & { viewer?: Viewer }>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = toDomainError(exception);
    const { httpStatus } = error.entry;
    if (httpStatus >= 500)
      this.log.error({ err: exception, requestId: request.id, code: error.code }, 'request failed');
    const { viewer } = request;
    if (error.code === 'authentication.required') return redirect(reply, authenticationPath(request));
    const texts = viewer?.texts ?? selectTexts(request);
    await sendPage(reply, httpStatus, renderErrorPage({ httpStatus, error, texts, viewer, requestId: request.id }));
  }
}

/** Where a person sets up a second factor. */
export const SET_UP_PATH = '/account/second-factor';

/** Where a person confirms before a sensitive action. */
export const CONFIRM_PATH = '/account/confirm';

function authenticationPath(request: FastifyRequest & { viewer?: Viewer }): string {
  if (!request.viewer) return signInPath(request);
  return request.viewer.session.setUpRequired
    ? SET_UP_PATH
    : `${CONFIRM_PATH}?next=${encodeURIComponent(pageOf(request))}`;
}

/** The page that was opened, or on which the form was. A form cannot be repeated, so the person presses its button again. */
function pageOf({ method, url, headers }: FastifyRequest): string {
  if (method === 'GET') return url;
  if (!URL.canParse(headers.referer ?? '')) return '/';
  const { pathname, search } = new URL(headers.referer!);
  return pathname + search;
}

function signInPath({ method, url }: FastifyRequest): string {
  // A form cannot be repeated after the sign-in, so the person begins at the start page.
  return method === 'GET' && url !== '/' ? `/sign-in?next=${encodeURIComponent(url)}` : '/sign-in';
}
