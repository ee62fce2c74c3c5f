import type { RunningService } from '@svc/service';

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Parsed JSON, undefined when the body is empty. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test says what it expects of it
  readonly body: any;
}

/** Calls a service over HTTP with the same headers each time; JSON in both directions. */
export function httpClient(service: RunningService, headers: Record<string, string> = {}) {
  return async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object): Promise<HttpResponse> => {
    const answer = await service.app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });
    const body: unknown = answer.body === '' ? undefined : JSON.parse(answer.body);
    return { status: answer.statusCode, headers: answer.headers, body };
  };
}
