import type { RunningService } from '@svc/service';

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Parsed JSON. Undefined if the body is empty. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the tests check its content
  readonly body: any;
}

/**
 * Returns a function that sends HTTP requests to a service, with these headers and a JSON body (an object, or its text),
 * and parses JSON responses.
 */
export function httpClient(service: RunningService, headers: Record<string, string> = {}) {
  return async (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    payload?: object | string,
  ): Promise<HttpResponse> => {
    const response = await service.app.inject({
      method,
      url,
      headers: typeof payload === 'string' ? { 'content-type': 'application/json', ...headers } : headers,
      ...(payload === undefined ? {} : { payload }),
    });
    const body: unknown = response.body === '' ? undefined : JSON.parse(response.body);
    return { status: response.statusCode, headers: response.headers, body };
  };
}
