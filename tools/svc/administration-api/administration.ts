import { setTimeout as pause } from 'node:timers/promises';
import { SvcError } from '../base/svc-error.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A client of the administration API. Paths are below `/admin/v1`. */
export interface Administration {
  /**
   * Returns the parsed response, undefined when it is empty.
   * @throws SvcError when the API rejects the request or is unavailable
   */
  call(method: Method, path: string, body?: object): Promise<unknown>;
  /** Sends a file, and returns the parsed response. Throws as {@link call}. */
  upload(method: Method, path: string, type: string, file: Buffer): Promise<unknown>;
  /** Sends a GET request, and returns the text of a response that is not JSON. Throws as {@link call}. */
  text(path: string, accept: string): Promise<string>;
}

/** The key of a person for the administration API. Undefined if it is not set: then the shared key is sent. */
export function readOperatorKey({ SVC_OPERATOR_KEY: key }: NodeJS.ProcessEnv): string | undefined {
  return key === '' ? undefined : key;
}

const REQUEST_TIMEOUT_MS = 10_000;
/** The CSV file of all movements of a day can be long. */
const TEXT_TIMEOUT_MS = 600_000;

/**
 * @param hint the advice in the error message when the API is unavailable
 * @param options.patience factor for the timeouts
 * @param options.notReadySeconds how long to retry after a 503, which a service returns until its event replay is
 * complete
 */
export function createAdministration(
  url: string,
  adminKey: string,
  hint: string,
  { patience = 1, notReadySeconds = 0 } = {},
): Administration {
  async function send(path: string, init: RequestInit, timeoutMs = REQUEST_TIMEOUT_MS): Promise<string> {
    const unavailable = (cause: unknown): never => {
      throw new SvcError(`the administration API at ${url} does not answer`, { hint, cause });
    };
    const headers = { 'x-admin-key': adminKey, ...init.headers };
    const deadline = performance.now() + notReadySeconds * 1000;
    for (;;) {
      const signal = AbortSignal.timeout(timeoutMs * patience);
      const response = await fetch(`${url}/admin/v1${path}`, { ...init, headers, signal }).catch(unavailable);
      const text = await response.text().catch(unavailable);
      if (response.ok) return text;
      if (response.status !== 503 || performance.now() >= deadline) throw createError(response, text);
      await pause(250);
    }
  }
  async function call(path: string, init: RequestInit): Promise<unknown> {
    const text = await send(path, init);
    if (text === '') return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch (cause) {
      const message = `the server at ${url} is not the administration API: its response is not JSON`;
      throw new SvcError(message, { hint, cause });
    }
  }
  return {
    call: (method, path, body) => {
      const json = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      return call(path, { method, ...json });
    },
    upload: (method, path, type, file) =>
      call(path, { method, headers: { 'content-type': type }, body: new Uint8Array(file) }),
    text: (path, accept) => send(path, { headers: { accept } }, TEXT_TIMEOUT_MS),
  };
}

/** Limits the length of a list, which is printed to a terminal. */
const MAX_PAGES = 200;

/**
 * All entries of a list that is returned in pages.
 * @param first the value of `after` that returns the first page
 */
export async function readList(api: Administration, list: string, first: string | number): Promise<unknown[]> {
  const entries: unknown[] = [];
  let after: string | number | undefined = first;
  for (let page = 0; page < MAX_PAGES && after !== undefined; page++) {
    const response = (await api.call('GET', `/${list}?after=${after}`)) as Record<string, unknown>;
    entries.push(...(response[list] as unknown[]));
    after = response['nextAfter'] as typeof after;
  }
  return entries;
}

function createError(response: Response, text: string): SvcError {
  if (response.status === 401)
    return new SvcError('the administration key is refused', {
      hint: 'it is not the key of this platform, was revoked or has expired: set SVC_OPERATOR_KEY',
    });
  const problems = readErrorMessages(text);
  if (problems.length > 0) return new SvcError(`refused (${response.status}): ${problems.join('; ')}`);
  return new SvcError(`the administration API answered ${response.status}`, {
    hint: `search the logs for request ${response.headers.get('x-request-id') ?? 'unknown'}`,
  });
}

function readErrorMessages(text: string): string[] {
  try {
    const { errors } = JSON.parse(text) as { errors?: { message?: unknown }[] };
    return (errors ?? []).map(({ message }) => String(message));
  } catch {
    return [];
  }
}
