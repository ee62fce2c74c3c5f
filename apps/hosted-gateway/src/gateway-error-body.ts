import type { HostedErrorResponse, ResponseStatusText } from '@svc/contracts';
import type { ErrorBody } from '@svc/service';

/** Errors of the hosted gateway: `{status, errors: [{message}]}` (H1, C5). */
export const gatewayErrorBody: ErrorBody = (error) => {
  const messages = error.fields.length > 0 ? error.fields.map(({ message }) => message) : [error.message];
  const body: HostedErrorResponse = {
    status: statusOf(error.entry.httpStatus),
    errors: messages.map((message) => ({ message })),
  };
  return { contentType: 'application/json', body };
};

function statusOf(httpStatus: number): ResponseStatusText {
  if (httpStatus === 401) return 'Unauthorized';
  if (httpStatus === 404) return 'NotFound';
  return httpStatus >= 500 ? 'InternalServer' : 'BadRequest';
}
